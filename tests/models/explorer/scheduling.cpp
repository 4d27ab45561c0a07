// Who goes next in an execution, and how it begins and ends. See run.h, which says why these choices are enough.
#include <algorithm>
#include <stdexcept>

#include "tests/models/explorer/run.h"

namespace ringtree::explorer {
namespace {

constexpr size_t kStackBytes = 256 * 1024;
constexpr size_t kMaxMessages = 64;  // of one location, as bits of Thread::tried

Run* current_run = nullptr;

}  // namespace

Run& Run::current() {
  if (!current_run) throw std::logic_error("explored memory is used outside explore()");
  return *current_run;
}

Run::Run(const Options& options, Path& path) : options_(options), path_(path) {}

void Run::clear() {
  memory_.clear();
  shadow_.clear();
  trace_.clear();
  threads_.clear();
  regions_.clear();
  located_.clear();
  at_end_ = nullptr;
  running_ = kNobody;
  steps_ = 0;
  abandoning_ = ended_ = false;
  fault_ = Fault::none;
  what_.clear();
}

void Run::thread(std::string name, std::function<void()> body) {
  if (threads_.size() == kMaxThreads) throw std::logic_error("more threads than kMaxThreads");
  threads_.emplace_back();
  Thread& thread = threads_.back();
  thread.name = std::move(name);
  thread.body = std::move(body);
  ++thread.views.current.clock.at[Clock::ordinary(threads_.size() - 1)];  // a time that nobody else has seen
  if (fibers_.size() < threads_.size()) fibers_.push_back(std::make_unique<Fiber>(kStackBytes));
}

void Run::name(const void* memory, size_t bytes, std::string name) {
  regions_.push_back({static_cast<const std::byte*>(memory), bytes, std::move(name)});
}

Run::End Run::once(const std::function<void(Program&)>& make) {
  current_run = this;
  clear();
  End end = End::faulty;
  try {
    make(*this);
    hand_over();
    if (fault_ == Fault::none) end = judge();
  } catch (const std::exception& error) {
    fail(Fault::program, error.what());
  }
  abandon_threads();
  if (end == End::complete && at_end_) {
    ended_ = true;
    at_end_();
    if (fault_ != Fault::none) end = End::faulty;
  }
  current_run = nullptr;
  return end;
}

void Run::enter(void* run) { static_cast<Run*>(run)->run_thread(); }

void Run::run_thread() {
  try {
    self().body();
    store_late();
  } catch (const Abandoned&) {  // NOLINT(bugprone-empty-catch): the unwinding was all
  } catch (const std::exception& error) {
    note_fault(Fault::program, error.what());
  }
  self().state = State::finished;
  if (is_over()) {
    switch_from_to(running_, kNobody);
  } else {
    hand_over();
  }
}

// Those that stand in the middle of something are unwound, so that what they own is freed.
void Run::abandon_threads() {
  abandoning_ = true;
  for (size_t i = 0; i < threads_.size(); ++i)
    if (threads_[i].started && threads_[i].state != State::finished) switch_from_to(kNobody, i);
  abandoning_ = false;
  running_ = kNobody;
}

void Run::switch_from_to(size_t from, size_t to) {
  running_ = to;
  if (to != kNobody && !threads_[to].started) {
    threads_[to].started = true;
    fiber(to).prepare(&Run::enter, this);
  }
  fiber(from).switch_to(fiber(to));
  if (from != kNobody && is_over()) throw Abandoned{};
}

bool Run::is_independent_of_others(const Operation& operation) const {
  if (options_.fences_others || options_.without_reduction) return false;
  return (operation.kind == Kind::store || operation.kind == Kind::fence) &&
         operation.order != std::memory_order_seq_cst;
}

bool Run::are_dependent(size_t thread_a, const Operation& a, size_t thread_b, const Operation& b) const {
  if (a.kind == Kind::fence_of_other && a.target == thread_b) return true;
  if (b.kind == Kind::fence_of_other && b.target == thread_a) return true;
  const auto is_futex = [](const Operation& o) { return o.kind == Kind::sleep || o.kind == Kind::wake; };
  if (is_futex(a) && is_futex(b)) return a.location == b.location;
  if (a.order != std::memory_order_seq_cst || b.order != std::memory_order_seq_cst) return false;
  const auto is_fence = [](const Operation& o) { return o.kind == Kind::fence || o.kind == Kind::fence_of_other; };
  return is_fence(a) || is_fence(b) || a.location == b.location;
}

bool Run::sees_something_new(const Thread& thread) const {
  return std::any_of(thread.readings.begin(), thread.readings.end(),
                     [&](const Reading& reading) { return memory_.has_newer(reading.location, reading.message); });
}

void Run::options_of(const Thread& thread, std::vector<MessageId>& out) const {
  const Operation& operation = thread.operation;
  switch (operation.kind) {
    case Kind::load:
      memory_.readable(thread.views, operation.location, operation.order, out);
      break;
    case Kind::store:  // after which message
    case Kind::update:
      memory_.updatable(thread.views, operation.location, operation.order, out);
      break;
    case Kind::compare:
      memory_.readable(thread.views, operation.location, operation.order, out);
      std::erase_if(out, [&](MessageId message) {
        return memory_.message(operation.location, message).value == operation.expected &&
               memory_.is_taken(operation.location, message);
      });
      break;
    case Kind::sleep: {
      ThreadViews views = thread.views;
      memory_.lock_futex(views, operation.location);
      memory_.readable(views, operation.location, std::memory_order_relaxed, out);
      break;
    }
    case Kind::fence:
    case Kind::fence_of_other:
    case Kind::wake:
      out.assign(1, 0);
  }
  if (out.size() > kMaxMessages) throw std::logic_error("more stores to one location than the explorer can tell apart");
}

MessageId Run::decide(const Operation& operation) {
  if (!in_thread()) throw std::logic_error("only loads and stores work outside the threads");
  if (++steps_ > options_.max_steps) fail(Fault::endless, "more than max_steps operations");
  Thread& thread = self();
  thread.operation = operation;
  thread.tried = 0;
  if (is_independent_of_others(operation)) {
    options_of(thread, scratch_);
    return scratch_[scratch_.size() == 1 ? 0 : path_.pick(scratch_.size(), operation.location)];
  }
  thread.state = State::at_operation;
  hand_over();
  return self().chosen;
}

void Run::hand_over() {
  const size_t from = running_;
  const size_t to = pick_next();
  if (to != from) {
    switch_from_to(from, to);
  } else {
    running_ = to;
  }
}

// The thread that goes on, with its choice made; kNobody at the end of the execution.
size_t Run::pick_next() {
  alternatives_.clear();
  for (size_t i = 0; i < threads_.size(); ++i) {
    if (threads_[i].state == State::runnable) return i;  // up to its next operation it disturbs nobody
  }
  const auto add_alternatives_of = [&](size_t i) {
    if (threads_[i].state != State::at_operation) return;
    options_of(threads_[i], scratch_);
    for (const MessageId choice : scratch_)
      if ((threads_[i].tried >> choice & 1) == 0) alternatives_.push_back({i, choice});
  };
  if (running_ != kNobody) add_alternatives_of(running_);  // first: saves switching
  for (size_t i = 0; i < threads_.size(); ++i)
    if (i != running_) add_alternatives_of(i);
  if (alternatives_.empty()) return kNobody;
  const size_t index = alternatives_.size() == 1 ? 0 : path_.pick(alternatives_.size(), what_is_next());
  take(alternatives_, index);
  return alternatives_[index].thread;
}

// So that a program which does not repeat itself is noticed.
size_t Run::what_is_next() const {
  size_t what = 0;
  for (const Alternative& alternative : alternatives_) {
    const Operation& operation = threads_[alternative.thread].operation;
    what = 31 * what + alternative.thread;
    what = 31 * what + static_cast<size_t>(operation.kind);
    what = 31 * what + operation.location;
  }
  return what;
}

void Run::take(const std::vector<Alternative>& alternatives, size_t index) {
  const auto [taker, choice] = alternatives[index];
  for (size_t i = 0; i < index && !options_.without_reduction; ++i)
    threads_[alternatives[i].thread].tried |= uint64_t{1} << alternatives[i].choice;
  Thread& thread = threads_[taker];
  for (size_t i = 0; i < threads_.size(); ++i)
    if (i != taker && threads_[i].state == State::at_operation &&
        are_dependent(taker, thread.operation, i, threads_[i].operation))
      threads_[i].tried = 0;
  thread.chosen = choice;
  thread.state = State::runnable;
}

// Nobody can go on.
Run::End Run::judge() {
  bool all_finished = true;
  for (const Thread& thread : threads_) {
    all_finished = all_finished && thread.state == State::finished;
    // All that it could do was tried in other executions.
    if (thread.state == State::at_operation) return End::redundant;
    // It gave up too early: other executions have it wait for what is new.
    if (thread.state == State::waiting && sees_something_new(thread)) return End::redundant;
  }
  if (all_finished) return End::complete;
  std::string waiting;
  for (const Thread& thread : threads_)
    if (thread.state != State::finished)
      waiting += (waiting.empty() ? "" : ", ") + thread.name +
                 (thread.state == State::asleep ? " sleeps for ever" : " waits for ever");
  fail(Fault::deadlock, waiting);
  return End::faulty;
}

}  // namespace ringtree::explorer
