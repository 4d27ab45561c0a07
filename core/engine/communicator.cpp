// See communicator.h.
#include "core/engine/communicator.h"

#include <bit>

#include "core/base/fork_count.h"
#include "core/bootstrap/unix_socket.h"
#include "core/reduce/kernels.h"
#include "core/transport/fence.h"

namespace ringtree {

Communicator::Communicator(Store& store, int rank, int world_size, const Settings& settings, AlgorithmTable table,
                           const std::string& prefix)
    : settings_(settings),
      table_(std::move(table)),
      prefix_(prefix),
      store_(&store),
      fork_count_(fork_count()),
      shared_(world_size),
      links_(settings) {
  selection_.num_ranks = world_size;
  selection_.num_channels = settings.num_channels;
  selection_.emulation = settings.emulation;
  selection_.shared_buffers = settings.shared_buffers;
  selection_.deterministic = settings.deterministic;
  auto on_link = [this](Session& session, int peer, std::string_view payload, int fd) {
    switch (payload.empty() ? LinkMessage::links : static_cast<LinkMessage>(payload[0])) {
      case LinkMessage::buffer:
        return shared_.on_announcement(session, peer, payload, fd);
      case LinkMessage::links_of_remote:
        return links_.on_remote_announcement(session, peer, payload);
      case LinkMessage::accept:
        return LinkDirectory::on_accept(session, peer, payload);
      case LinkMessage::meeting:
        return on_meeting(session, payload);
      default:
        return links_.on_announcement(session, peer, payload, fd);
    }
  };
  std::string profile;
  session_ = std::make_unique<Session>(store, rank, world_size, settings, prefix, on_link,
                                       [&] { profile = agree_at_start(store, rank); });
  selection_.hosts = settings.emulation ? HostGroups::blocks(world_size, settings.emulation->ranks_per_host)
                                        : HostGroups(session_->mesh().hosts());
  // Only now, when every rank has it: if it is wrong, each says so itself, and none takes the store from the others.
  selection_.profile = Profile::parse(profile);
  selection_.machine = default_machine();
  selection_.machine.num_cores = count_cores(rank);
  selection_.ranks_per_core = ranks_per_core();
  selection_.own_cores = selection_.ranks_per_core <= 1;
  bool all_can_be_fenced = true;  // every rank reads the same pages, so every rank finds the same
  for (int peer = 0; peer < world_size; ++peer) all_can_be_fenced &= session_->page(peer).can_be_fenced;
  policy_ = settings_.emulation    ? WaitPolicy::emulated()
            : selection_.own_cores ? WaitPolicy::own_cores(!all_can_be_fenced)
            : session_->port()     ? WaitPolicy::shared_cores_on_hosts()
                                   : WaitPolicy::shared_cores();
  budget_ = SpinBudget(policy_);
  links_.attach(*session_, shared_, policy_.fenced);
  transfers_ = std::make_unique<PointToPoint>(TransferWay::Parts{*session_, links_, shared_, settings_});
}

Communicator::~Communicator() {
  close();
  // In a child made by fork() the mailbox's thread, which may wait for its condition variable, is the parent's.
  if (fork_count() != fork_count_) {
    [[maybe_unused]] Mailbox* const leaked = mailbox_.release();
  }
}

// Returns rank 0's profile, which counts on all ranks: it is a file, and not every rank need see the same one. The
// token names this communicator where the store is no longer there (shrink()).
std::string Communicator::agree_at_start(Store& store, int rank) {
  const auto agree = [&](const char* what, const std::string& mine) {
    const std::string key = prefix_ + "/" + what;
    if (rank != 0) return store.get(key, Deadline::after_seconds(settings_.timeout_s));
    store.set(key, mine);
    return mine;
  };
  std::string profile = agree("profile", settings_.profile);
  token_ = agree("token", rank == 0 ? random_hex(16) : "");
  return profile;
}

void Communicator::close() {
  const bool ours = fork_count() == fork_count_;  // in a child made by fork() only its copies are closed
  if (ours && !queue_.is_own_thread()) queue_.drain(nullptr);
  // One thread at a time, so that the second does not take the first for a call.
  std::unique_lock closing(closing_mutex_, std::defer_lock);
  if (ours) {
    Mailbox* const open = refuse_messages();
    closing.lock();
    if (open && open->close()) in_call_.store(false, std::memory_order_release);  // pairs with the load in enter()
  }
  // Pairs with enter(): either the call sees that the communicator is closed, or we see that it is in a call.
  closed_.store(true, std::memory_order_seq_cst);
  if (!policy_.fenced) fence_everybody();
  const bool idle = !in_call_.exchange(true, std::memory_order_seq_cst) || !ours;  // a child has no other threads
  if (!idle) session_->fail(FailureKind::peer, session_->describe(rank()) + " closed its communicator during a call");
  session_->close(!idle);
  if (!idle) return;  // the call's own links keep their descriptors until the communicator goes
  links_.close_descriptors();
  in_call_.store(false, std::memory_order_release);
}

// Says that a call is under way. Where links are not fenced neither is this: an exchange would wait until what the call
// before published has become visible, which takes longer than a small call. Two threads that call at the very same
// moment are then not always told that they must not.
void Communicator::enter() {
  // acquire, pairs with the release in leave(): whatever thread calls next sees what that call left in the plans.
  if (in_call_.load(std::memory_order_acquire) && !closed_.load(std::memory_order_relaxed)) refuse_call();
  if (policy_.fenced) {
    in_call_.store(true, std::memory_order_seq_cst);  // before the look at closed_; pairs with close()
  } else {
    in_call_.store(true, std::memory_order_relaxed);  // close() fences all threads
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  if (!closed_.load(std::memory_order_seq_cst)) return;
  in_call_.store(false, std::memory_order_relaxed);
  throw UsageError("this communicator was closed; make a new one");
}

// Of the ranks that run on one kernel with `rank`: hosts may be network namespaces of one machine. Every rank reads the
// same pages, so every rank counts alike: nothing needs to be agreed.
int Communicator::count_cores(int rank) const {
  std::array<uint64_t, kCpuMaskWords> all{};
  for (int other = 0; other < world_size(); ++other)
    for (size_t i = 0; i < kCpuMaskWords && on_one_kernel(rank, other); ++i)
      all[i] |= session_->page(other).cpu_mask[i];
  int count = 0;
  for (uint64_t word : all) count += std::popcount(word);
  return std::max(1, count);
}

bool Communicator::on_one_kernel(int a, int b) const {
  return session_->mesh().peer(a).boot_id == session_->mesh().peer(b).boot_id;
}

// Of the kernel on which most ranks share their cores.
double Communicator::ranks_per_core() const {
  double most = 0;
  for (int rank = 0; rank < world_size(); ++rank) {
    int num_ranks = 0;
    for (int other = 0; other < world_size(); ++other) num_ranks += on_one_kernel(rank, other) ? 1 : 0;
    most = std::max(most, static_cast<double>(num_ranks) / count_cores(rank));
  }
  return most;
}

void Communicator::check_fork() const {
  if (fork_count() != fork_count_)
    throw UsageError("this communicator was made before fork(); a child must make its own");
}

// What was started comes first; a task of the queue is such a one itself.
template <class Body>
void Communicator::run_alone(const Body& body) {
  check_fork();
  if (!queue_.idle() && !queue_.is_own_thread()) queue_.drain(interrupted_);
  enter();
  struct Leave {
    std::atomic<bool>& flag;
    ~Leave() { flag.store(false, std::memory_order_release); }  // pairs with the load in enter()
  } leave{in_call_};
  body();
}

template <class Body>
void Communicator::run_exclusively(const Body& body) {
  run_alone([&] {
    if (session_->failed()) session_->raise_failure();
    body();
  });
}

void Communicator::start_trace(size_t capacity) {
  run_exclusively([&] { trace_ = std::make_unique<TraceLog>(capacity); });
}

Trace Communicator::take_trace() {
  Trace trace;
  run_alone([&] {
    if (!trace_) throw UsageError("nothing is traced: start_trace() comes first");
    trace = trace_->take(rank());
    trace_.reset();
  });
  return trace;
}

void Communicator::call(const CallArguments& arguments, const AlgorithmRef& algorithm) {
  run_exclusively([&] { call_checked(arguments, algorithm); });
}

void Communicator::transfer(std::span<const Transfer> transfers, double timeout_s) {
  if (!(timeout_s >= 0)) throw UsageError("timeout must be 0 (the communicator's) or above");
  run_exclusively([&] {
    transfers_->run(transfers, {policy_, budget_, timeout_s > 0 ? timeout_s : settings_.timeout_s, interrupt_here()});
  });
}

std::shared_ptr<Work> Communicator::start(const CallArguments& arguments, const AlgorithmRef& algorithm) {
  check_fork();
  std::vector<uint64_t> counts(arguments.counts.begin(), arguments.counts.end());
  return queue_.add([this, arguments, algorithm, counts = std::move(counts)] {
    CallArguments own = arguments;
    own.counts = counts;
    call(own, algorithm);
  });
}

std::shared_ptr<Work> Communicator::start(std::vector<Transfer> transfers, double timeout_s) {
  check_fork();
  return queue_.add([this, transfers = std::move(transfers), timeout_s] { transfer(transfers, timeout_s); });
}

void Communicator::abort(const std::string& reason) {
  check_fork();
  session_->fail(FailureKind::error, session_->describe(rank()) + " aborted the communicator: " + reason);
}

void Communicator::call_checked(const CallArguments& arguments, const AlgorithmRef& algorithm) {
  if (!(arguments.timeout_s >= 0)) throw UsageError("timeout must be 0 (the communicator's) or above");
  if (arguments.op == ReduceOp::premul_sum && scale_kernel(arguments.dtype, arguments.op) &&
      reduces(arguments.collective) && !factor_fits(arguments.dtype, arguments.factor))
    throw UsageError("the factor " + std::to_string(arguments.factor) + " is no " + dtype_name(arguments.dtype));
  const CallKind kind = arguments.kind();
  PreparedCall* call = prepared_.find(kind, algorithm);
  // Made before the others are told, so that a call that cannot be harms nobody.
  std::unique_ptr<PreparedCall> fresh;
  if (!call) {
    fresh = prepare(kind, algorithm);
    call = fresh.get();
  }
  check_buffers(arguments, *call);
  last_ = nullptr;
  const uint64_t sequence = call->description.sequence = ++sequence_;
  history_ = CallDescription::history(history_, call->kind_hash);
  CallWatch watch(*session_, call->description, call->words,
                  arguments.timeout_s > 0 ? arguments.timeout_s : settings_.timeout_s, interrupt_here());
  if (fresh) {
    watch.show();  // whoever makes a plan may wait for peers before the call begins
    complete(*call, watch);
    call = prepared_.add(std::move(fresh));
  }
  run(arguments, *call, watch);
  // release, pairs with the acquire in Session::first_missing(): from now on we are not needed for this call.
  session_->own_page().completed.store(sequence, std::memory_order_release);
  last_ = call;
}

void Communicator::complete(PreparedCall& call, CallWatch& watch) {
  if (!call.plan) make_plan(call, watch);
  if (!settings_.emulation) bind_whole_steps(call.bound, *call.plan);
}

void Communicator::make_plan(PreparedCall& call, CallWatch& watch) {
  const uint64_t key = call.description.plan_key;
  const Configuration& configuration = call.configuration;
  try {
    const Program program = call.schedule->program(rank());
    links_.begin_plan(*call.schedule, program, key, family_of(call), configuration.protocol, configuration.channels,
                      [&watch] { return watch.inspect(); });
    plans_[key] = compile_plan(call.schedule, program, key, configuration.protocol, configuration.channels,
                               settings_.emulation.has_value(), links_);
    call.plan = plans_[key].get();
    call.plan->pipelined = call.pipelined;
  } catch (const std::exception& error) {  // the others have begun the call and would wait for us
    session_->fail(FailureKind::error, session_->describe(rank()) + " could not begin " + call.description.to_string() +
                                           ": " + error.what());
    throw;
  }
}

void Communicator::run(const CallArguments& arguments, PreparedCall& call, CallWatch& watch) {
  const void* const input = call.scale ? scaled_input(arguments, call) : arguments.input;
  call.bound.input = static_cast<const std::byte*>(input);
  call.bound.output = static_cast<std::byte*>(arguments.output);
  call.bound.fingerprint = CallDescription::fingerprint(history_, call.description.sequence);
  call.bound.in_place = reinterpret_cast<uintptr_t>(input) - call.input.offset ==
                        reinterpret_cast<uintptr_t>(arguments.output) - call.output.offset;  // either may be null
  // Out of place a large output would first be fetched only to be overwritten; in place it was just read, and what the
  // configuration says was found so. Without an input (who receives a broadcast) there is no difference between the
  // two.
  if (!call.asked.streaming && !call.bound.in_place && call.input.length > 0)
    call.bound.stream_output = call.configuration.streaming || streams_by_default(call.output.length);
  else
    call.bound.stream_output = call.configuration.streaming;
  call.bound.shared_input = shared_.find(*session_, input, call.input.length);
  call.bound.shared_output = shared_.find(*session_, arguments.output, call.output.length);
  if (settings_.emulation) use_exact_timers();
  const Inlets inlets = session_->inlets();
  const bool emulated = settings_.emulation.has_value();
  RunResult result;
  if (trace_) {
    trace_->begin_call(call.description, *call.plan, call.bound.cut);
    result = run_plan_traced(*call.plan, call.bound, policy_, budget_, inlets, emulated, watch, *trace_);
  } else {
    result = run_plan(*call.plan, call.bound, policy_, budget_, inlets, emulated, watch);
  }
  if (result.status == RunStatus::mismatch) watch.report_mismatch(result.peer);
  if (result.status != RunStatus::done) session_->raise_failure();
  if (call.finish) call.finish(arguments.output, call.output.length / call.bound.item_bytes, world_size());
}

// The input multiplied by this rank's factor: in the output where it fits there, from where it is then summed in place.
const void* Communicator::scaled_input(const CallArguments& arguments, const PreparedCall& call) {
  void* target = arguments.output;
  if (call.input.offset != call.output.offset || call.input.length != call.output.length) {
    if (scaled_.size() < call.input.length) scaled_.resize(call.input.length);  // a larger call than any before
    target = scaled_.data();
  }
  call.scale(target, arguments.input, call.input.length / call.bound.item_bytes, arguments.factor);
  return target;
}

LastCall Communicator::last_call() const {
  LastCall last;
  if (!last_) return last;
  last.description = last_->description;
  last.reason = last_->reason;
  last.configuration = last_->configuration;
  last.configuration.streaming = last_->bound.stream_output;
  last.cut = last_->bound.cut;
  last.num_channels = last_->plan->num_channels;
  last.num_lanes = static_cast<int>(last_->plan->lanes.size()) / last.num_channels;
  last.num_chunks = last_->schedule->shape().num_chunks;
  return last;
}

}  // namespace ringtree
