// See group.h.
#include "core/engine/group.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "core/base/clock.h"
#include "core/engine/failure.h"

namespace ringtree {
namespace {

// Runs several things, all of them, and keeps what the first threw that failed.
class FirstError {
 public:
  template <class Body>
  void run(Body&& body) {
    try {
      body();
    } catch (...) {
      keep(std::current_exception());
    }
  }
  void keep(std::exception_ptr error) {
    if (!first_) first_ = std::move(error);
  }
  void raise() const {
    if (first_) std::rethrow_exception(first_);
  }

 private:
  std::exception_ptr first_;
};

[[noreturn]] void raise_unfinished(double timeout_s) {
  char text[96];
  std::snprintf(text, sizeof text, "the group was not complete after %g s; it is still under way", timeout_s);
  throw TimeoutError(text);
}

// What a work ended with, null if well. Throws what wait() throws if it has not ended.
std::exception_ptr end_of(const Work& work, double timeout_s, InterruptCheck interrupted) {
  try {
    work.wait(timeout_s, interrupted);
  } catch (...) {
    if (!work.test()) throw;
  }
  // Whatever was thrown above may have been about the wait; now that the work has ended this is about the call.
  try {
    work.wait();
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

}  // namespace

bool GroupWork::test() const {
  return std::all_of(begun_.begin(), begun_.end(),
                     [](const Begun& begun) { return !begun.work || begun.work->test(); });
}

void GroupWork::wait(double timeout_s, InterruptCheck interrupted) const {
  const Deadline deadline = timeout_s > 0 ? Deadline::after_seconds(timeout_s) : Deadline{};
  FirstError first;
  for (const Begun& begun : begun_) {
    if (!begun.work) {
      first.keep(begun.error);
      continue;
    }
    // Never 0 seconds, which would be no limit.
    const double left_s = timeout_s > 0 ? static_cast<double>(std::max<int64_t>(deadline.left_ns(), 1)) * 1e-9 : 0;
    try {
      if (std::exception_ptr error = end_of(*begun.work, left_s, interrupted)) first.keep(std::move(error));
    } catch (const TimeoutError&) {
      raise_unfinished(timeout_s);
    }
  }
  first.raise();
}

Group::Part& Group::part_of(Communicator& communicator) {
  for (Part& part : parts_)
    if (part.communicator == &communicator) return part;
  parts_.push_back({&communicator, {}, 0, {}});
  return parts_.back();
}

void Group::add(Communicator& communicator, const Call& call) { part_of(communicator).calls.emplace_back(call); }

void Group::add(Communicator& communicator, const Transfer& transfer, double timeout_s) {
  Part& part = part_of(communicator);
  part.transfers.push_back(transfer);
  part.transfers_timeout_s = std::max(part.transfers_timeout_s, timeout_s);
}

void Group::run_here(const Part& part) {
  FirstError first;
  if (!part.transfers.empty())
    first.run([&] { part.communicator->transfer(part.transfers, part.transfers_timeout_s); });
  for (const KeptCall& call : part.calls) first.run([&] { part.communicator->run(call.get()); });
  first.raise();
}

void Group::run() {
  const std::vector<Part> parts = std::exchange(parts_, {});
  if (parts.empty()) return;
  if (parts.size() == 1) return run_here(parts.front());  // on this thread: no hand-over
  const GroupWork work = start(parts);
  try {
    work.wait(0, parts.front().communicator->interrupt_check());
  } catch (const Interrupted& interrupted) {  // the calls use the buffers until they have ended
    for (const Part& part : parts) part.communicator->abort(interrupted.what());
    FirstError ends;
    ends.run([&] { work.wait(); });
    throw;
  }
}

GroupWork Group::start() { return start(std::exchange(parts_, {})); }

GroupWork Group::start(const std::vector<Part>& parts) {
  GroupWork work;
  size_t num_calls = 0;
  for (const Part& part : parts) num_calls += part.calls.size() + 1;
  work.begun_.reserve(num_calls);  // so that nothing is lost once it is under way
  const auto begin = [&work](auto&& starts) {
    GroupWork::Begun begun;
    try {
      begun.work = starts();
    } catch (...) {  // others may be under way: whoever waits for those is told of this as well
      begun.error = std::current_exception();
    }
    work.begun_.push_back(std::move(begun));
  };
  for (const Part& part : parts) {
    if (!part.transfers.empty())
      begin([&] { return part.communicator->start(part.transfers, part.transfers_timeout_s); });
    for (const KeptCall& call : part.calls) begin([&] { return part.communicator->start(call.get()); });
  }
  return work;
}

}  // namespace ringtree
