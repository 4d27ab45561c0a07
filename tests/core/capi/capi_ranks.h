// Helpers of this folder's tests: ranks as threads that meet through the C API, results as exceptions, and a caller
// that takes the engine's Calls through the C functions, so that the engine's own checks serve here as well.
#pragma once

#include <ringtree.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/core/bootstrap/rank_threads.h"
#include "tests/core/engine/exact_data.h"

namespace ringtree::testing {

/// The settings of healthy tests: a deadline that none meets, and room for 16 ranks.
inline rtConfig_t test_config(double timeout_s = 60) {
  rtConfig_t config = RT_CONFIG_INITIALIZER;
  config.timeout_s = timeout_s;
  config.memory_cap_bytes = size_t{4} << 30;
  return config;
}

/// Throws the result and this thread's last error unless it is rtSuccess.
inline void ok(rtResult_t result) {
  if (result != rtSuccess)
    throw std::runtime_error("result " + std::to_string(result) + ": " + rtGetLastError(nullptr));
}

inline void require_true(bool condition, const std::string& what) {
  if (!condition) throw std::runtime_error(what);
}

/// Throws unless `result` is the wanted one and this thread's last error contains `text`.
inline void expect_refused(rtResult_t result, rtResult_t wanted, const std::string& text) {
  const std::string error = rtGetLastError(nullptr);
  require_true(result == wanted,
               "result " + std::to_string(result) + " instead of " + std::to_string(wanted) + ": " + error);
  require_true(contains(error, text), "\"" + text + "\" is missing in: " + error);
}

inline rtUniqueId new_id() {
  rtUniqueId id;
  ok(rtGetUniqueId(&id));
  return id;
}

/// A communicator for as long as the object lives.
class Comm {
 public:
  Comm(int num_ranks, const rtUniqueId& id, int rank, const rtConfig_t& config = test_config()) {
    ok(rtCommInitRankConfig(&comm_, num_ranks, id, rank, &config));
  }
  explicit Comm(rtComm_t taken) : comm_(taken) {}
  ~Comm() { rtCommDestroy(comm_); }
  Comm(const Comm&) = delete;
  Comm& operator=(const Comm&) = delete;
  operator rtComm_t() const { return comm_; }
  int rank() const {
    int rank = -1;
    ok(rtCommUserRank(comm_, &rank));
    return rank;
  }
  int world_size() const {
    int count = -1;
    ok(rtCommCount(comm_, &count));
    return count;
  }

 private:
  rtComm_t comm_ = nullptr;
};

using CommBody = std::function<void(Comm& comm)>;

/// Runs `body` on `num_ranks` threads, each with its communicator. What each threw, "" if nothing.
inline std::vector<std::string> run_comms(int num_ranks, const CommBody& body,
                                          const rtConfig_t& config = test_config()) {
  const rtUniqueId id = new_id();
  return run_ranks(num_ranks, [&](int rank) {
    Comm comm(num_ranks, id, rank, config);
    body(comm);
  });
}

/// An in-place sum of ones, which must give the number of ranks.
inline rtResult_t sum_of_ones(rtComm_t comm, size_t count = 100) {
  std::vector<float> data(count, 1.0f);
  int size = 0;
  ok(rtCommCount(comm, &size));
  const rtResult_t result = rtAllReduce(data.data(), data.data(), count, rtFloat32, rtSum, comm);
  if (result == rtSuccess)
    for (float value : data) require_true(value == static_cast<float>(size), "a wrong sum");
  return result;
}

/// Calls that the engine's tests describe, made through the C functions.
class ThroughC {
 public:
  explicit ThroughC(Comm& comm) : comm_(comm) {}
  int rank() const { return comm_.rank(); }
  int world_size() const { return comm_.world_size(); }
  void run(const Call& call) const { ok(submit(call)); }
  /// The function's result; inside a group the call is only gathered.
  rtResult_t submit(const Call& call) const;

 private:
  rtResult_t submit_uneven(const Call& call) const;
  Comm& comm_;
};

inline rtResult_t ThroughC::submit(const Call& a) const {
  const auto type = static_cast<rtDataType_t>(a.dtype);
  const auto op = static_cast<rtRedOp_t>(a.op);
  if (!a.counts.empty()) return submit_uneven(a);
  switch (a.collective) {
    case Collective::all_reduce:
      return rtAllReduce(a.input, a.output, a.count, type, op, comm_);
    case Collective::reduce:
      return rtReduce(a.input, a.output, a.count, type, op, a.root, comm_);
    case Collective::broadcast:
      return rtBroadcast(a.input, a.output, a.count, type, a.root, comm_);
    case Collective::reduce_scatter:
      return rtReduceScatter(a.input, a.output, a.count, type, op, comm_);
    case Collective::all_gather:
      return rtAllGather(a.input, a.output, a.count, type, comm_);
    case Collective::gather:
      return rtGather(a.input, a.output, a.count, type, a.root, comm_);
    case Collective::scatter:
      return rtScatter(a.input, a.output, a.count, type, a.root, comm_);
    case Collective::all_to_all:
      return rtAlltoAll(a.input, a.output, a.count, type, comm_);
  }
  throw std::runtime_error("the C API lacks this collective");
}

inline rtResult_t ThroughC::submit_uneven(const Call& a) const {
  const auto type = static_cast<rtDataType_t>(a.dtype);
  const auto op = static_cast<rtRedOp_t>(a.op);
  // Copies, so that what the library keeps of an array that has gone would be found.
  const size_t n = static_cast<size_t>(world_size());
  const std::vector<size_t> counts(a.counts.begin(), a.counts.begin() + static_cast<std::ptrdiff_t>(n));
  const std::vector<size_t> rest(a.counts.begin() + static_cast<std::ptrdiff_t>(n), a.counts.end());
  switch (a.collective) {
    case Collective::reduce_scatter:
      return rtReduceScatterV(a.input, a.output, counts.data(), type, op, comm_);
    case Collective::all_gather:
      return rtAllGatherV(a.input, a.output, counts.data(), type, comm_);
    case Collective::gather:
      return rtGatherV(a.input, a.output, counts.data(), type, a.root, comm_);
    case Collective::scatter:
      return rtScatterV(a.input, a.output, counts.data(), type, a.root, comm_);
    case Collective::all_to_all:
      return rtAlltoAllV(a.input, counts.data(), a.output, rest.data(), type, comm_);
    default:
      throw std::runtime_error("this collective has no uneven blocks");
  }
}

}  // namespace ringtree::testing
