// The events of a simulation, earliest first: a radix heap, which needs that time never runs backwards. An event goes
// into the bucket of the highest bit in which its time differs from the present; each moves to lower buckets at most 64
// times, and memory is walked in order, where a binary heap jumps about. Not thread-safe, not for times in the past.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ringtree {

struct SimulatedEvent {
  int64_t at = 0;
  uint32_t what = 0;   // the simulation's business
  uint32_t stamp = 0;  // likewise
};

class EventQueue {
 public:
  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  int64_t now() const { return now_; }

  /// `event.at` >= now().
  void push(const SimulatedEvent& event) {
    buckets_[bucket(event.at)].push_back(event);
    ++size_;
  }

  /// The earliest; of those at one time the one that was pushed first. Moves now() on. Not of an empty queue.
  SimulatedEvent pop() {
    if (next_ == buckets_[0].size()) refill();
    --size_;
    return buckets_[0][next_++];
  }
  /// The event that comes `ahead` after the next one, if it is at now(): what is worth fetching into the caches.
  const SimulatedEvent* upcoming(size_t ahead) const {
    return next_ + ahead < buckets_[0].size() ? &buckets_[0][next_ + ahead] : nullptr;
  }
  /// Whether the next one is at now().
  bool more_now() const { return next_ < buckets_[0].size(); }

 private:
  size_t bucket(int64_t at) const {
    return static_cast<size_t>(64 - std::countl_zero(static_cast<uint64_t>(at) ^ static_cast<uint64_t>(now_)));
  }

  void refill() {
    buckets_[0].clear();
    next_ = 0;
    size_t lowest = 1;
    while (buckets_[lowest].empty()) ++lowest;
    std::vector<SimulatedEvent>& from = buckets_[lowest];
    now_ = std::min_element(from.begin(), from.end(), [](const SimulatedEvent& a, const SimulatedEvent& b) {
             return a.at < b.at;
           })->at;
    for (const SimulatedEvent& event : from) buckets_[bucket(event.at)].push_back(event);
    from.clear();
  }

  std::array<std::vector<SimulatedEvent>, 65> buckets_;
  size_t size_ = 0, next_ = 0;
  int64_t now_ = 0;
};

}  // namespace ringtree
