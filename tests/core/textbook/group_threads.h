// Helpers of this folder's tests: ranks as threads, each with a group, and data whose sums are exact. Not for tests
// that kill ranks: test_death.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/algorithms/registry.h"
#include "core/bootstrap/thread_store.h"
#include "core/textbook/group.h"
#include "tests/core/bootstrap/rank_threads.h"

namespace ringtree::textbook::testing {

using namespace ringtree::testing;  // NOLINT(google-build-using-namespace): the helpers of the layer below

inline constexpr double kTestTimeoutSeconds = 60;

/// Runs `body` on `num_ranks` threads, each with its group, which ends with the body. What each threw, "" if nothing.
inline std::vector<std::string> run_groups(int num_ranks, Style style, const std::function<void(Group&)>& body,
                                           double timeout_s = kTestTimeoutSeconds) {
  ThreadStore store;
  return run_ranks(num_ranks, [&](int rank) {
    Group group(store, rank, num_ranks, style, timeout_s, "test");
    body(group);
  });
}

inline void expect_all_well(const std::vector<std::string>& outcomes, const std::string& what = "") {
  for (size_t rank = 0; rank < outcomes.size(); ++rank) EXPECT_EQ(outcomes[rank], "") << what << ", rank " << rank;
}

/// What `rank` contributes to element `index` of call `call`: any bits, as integers wrap.
inline int64_t contribution(int call, int rank, size_t index) {
  uint64_t word = static_cast<uint64_t>(call + 1) * 0x9e3779b97f4a7c15u + (static_cast<uint64_t>(rank) << 40) + index;
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
  return static_cast<int64_t>(word ^ (word >> 27));
}

/// The plain loop.
inline int64_t sum(int call, int num_ranks, size_t index) {
  uint64_t total = 0;
  for (int rank = 0; rank < num_ranks; ++rank) total += static_cast<uint64_t>(contribution(call, rank, index));
  return static_cast<int64_t>(total);
}

/// One sum of int64 through a prepared call, checked element by element; out of place the input must stay as it is.
inline void run_checked(Group& group, PreparedCall& prepared, int call, bool in_place) {
  const int n = group.world_size(), rank = group.rank();
  const size_t count = prepared.count;
  std::vector<int64_t> input(count), output(count, -1);
  for (size_t i = 0; i < count; ++i) input[i] = contribution(call, rank, i);
  group.run(prepared, input.data(), in_place ? input.data() : output.data());
  const std::vector<int64_t>& result = in_place ? input : output;
  for (size_t i = 0; i < count; ++i) {
    if (result[i] != sum(call, n, i))
      throw std::runtime_error("element " + std::to_string(i) + " of " + std::to_string(count) + " is wrong");
    if (!in_place && input[i] != contribution(call, rank, i)) throw std::runtime_error("the input was changed");
  }
}

inline void sum_checked(Group& group, const Schedule& schedule, size_t count, int call, bool in_place) {
  const auto prepared = group.prepare(schedule, count, Dtype::kInt64, ReduceOp::sum);
  run_checked(group, *prepared, call, in_place);
}

inline Schedule by_name(const std::string& algorithm, int num_ranks) {
  return make_schedule(algorithm, Collective::all_reduce, num_ranks);
}

}  // namespace ringtree::textbook::testing
