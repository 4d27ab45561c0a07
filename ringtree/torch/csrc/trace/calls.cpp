// See calls.h.
#include "calls.h"

#include <algorithm>

namespace ringtree_torch {

void TracedCalls::enter_step(int64_t step, bool timed) {
  const std::lock_guard<std::mutex> lock(mutex_);
  step_ = step;
  timed_ = timed;
}

bool TracedCalls::is_full() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return calls_.size() >= capacity_;
}

BegunCall TracedCalls::begin(TracedCall call, TraceClocks& clocks) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const TraceClocks::Reading reading = clocks.read();
  call.begin = reading.now;
  call.ran_begin = reading.ran;
  call.number = num_calls_++;
  call.step = step_;
  call.timed = timed_ && call.device == c10::DeviceType::CPU;  // the host can't time a GPU's
  calls_.push_back(call);
  return {call, reading.own};
}

void TracedCalls::issued(int64_t number, int64_t now) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (TracedCall* call = find(number)) call->issued = now;
}

void TracedCalls::complete(int64_t number, int64_t now, int64_t ran) {
  const std::lock_guard<std::mutex> lock(mutex_);
  TracedCall* call = find(number);
  if (call == nullptr) return;
  call->end = now;
  call->ran_end = ran;
}

std::vector<TracedCall> TracedCalls::take(int64_t first_step, size_t most) {
  const auto is_open = [&](const TracedCall& call) {
    const bool goes_on = call.issued == TracedCall::kNever || (call.timed && call.end == TracedCall::kNever);
    return goes_on && call.step >= first_step;
  };
  std::vector<TracedCall> taken, kept;
  const std::lock_guard<std::mutex> lock(mutex_);
  size_t num_open = static_cast<size_t>(std::count_if(calls_.begin(), calls_.end(), is_open));
  for (const TracedCall& call : calls_) {
    const bool stays = is_open(call) && num_open-- <= most;
    (stays ? kept : taken).push_back(call);
  }
  calls_.swap(kept);
  return taken;
}

int64_t TracedCalls::num_calls() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return num_calls_;
}

bool TracedCalls::awaits_an_end() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return !calls_.empty() && calls_.back().timed && calls_.back().end == TracedCall::kNever;
}

TracedCall* TracedCalls::find(int64_t number) {
  const auto found = std::lower_bound(calls_.begin(), calls_.end(), number,
                                      [](const TracedCall& call, int64_t wanted) { return call.number < wanted; });
  return found == calls_.end() || found->number != number ? nullptr : &*found;
}

}  // namespace ringtree_torch
