// How long one core takes to hand a cache line to another: two pinned threads bounce a line between them.
//
// For: telling near from far placements around each measurement (the host may move virtual cores at any time) and as
// the floor under every message. Not for: bandwidth (copy_rate.h), or for deciding what is near.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace ringtree {

/// Two threads, one a core, that sleep between measurements: a measurement then costs two wake-ups, not two thread
/// creations. Threads may share an object; their measurements come one after the other.
class HandoffProbe {
 public:
  /// Starts the threads. A core that cannot be used is not an error here: measure() then finds nothing.
  /// `patience_s`: how long a measurement waits beyond its duration for cores that others have taken, seconds.
  /// UsageError: patience that is not within [0, 60]. WorldError: no thread left.
  HandoffProbe(int core_a, int core_b, double patience_s = 0.05);
  ~HandoffProbe();
  HandoffProbe(const HandoffProbe&) = delete;
  HandoffProbe& operator=(const HandoffProbe&) = delete;

  /// Bounces the line for `seconds`, at least for three chunks of round trips, and returns the time of one way in the
  /// best chunk, seconds. The best, because whatever disturbs makes it longer and nothing makes it shorter. Nothing: a
  /// core could not be used, both are the same, or one did not answer; returns at the latest after `seconds` +
  /// patience. UsageError: `seconds` that is not within [0, 60].
  std::optional<double> measure(double seconds);

 private:
  // The line that travels: alone in 128 bytes, because x86 fetches lines in pairs. Counts hand-offs.
  struct alignas(128) Line {
    std::atomic<uint64_t> turn{0};
  };
  struct Request {
    uint64_t number = 0;    // of the measurement; a thread that has done this one sleeps
    int64_t length_ns = 0;  // of bouncing, from the first answer on
    int64_t until_ns = 0;   // then everybody gives up
  };

  void serve(int side);
  bool wait_for_request(int side, Request& request);
  void lead(const Request& request);
  void follow(const Request& request);
  void stop_threads();

  const int cores_[2];
  const int64_t patience_ns_;
  const std::unique_ptr<Line> line_;

  std::mutex callers_;  // held through a measurement: one at a time
  std::mutex mutex_;    // protects everything below
  std::condition_variable requested_, answered_;
  Request request_;
  uint64_t done_[2] = {0, 0};  // the last request that each thread has finished; it then leaves line_ alone
  bool failed_[2] = {false, false};
  int num_started_ = 0;    // threads that know whether they could be pinned
  bool unusable_ = false;  // for ever: a thread could not be pinned
  double best_s_ = 0;      // of the last request; 0: not one chunk was completed
  bool stop_ = false;

  std::thread threads_[2];
};

}  // namespace ringtree
