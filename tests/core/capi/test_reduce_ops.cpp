// Every op by its name in C against a loop, and ops with a factor: made, used, destroyed, refused.
#include <gtest/gtest.h>

#include <numeric>

#include "tests/core/capi/capi_ranks.h"

namespace ringtree::testing {
namespace {

constexpr int kRanks = 3;
constexpr size_t kCount = 300;

/// Small numbers with zeros among them, so that no op overflows and truth has both values.
int32_t item(int rank, size_t i) { return static_cast<int32_t>(random_word(7, rank, i) % 4); }

using Fold = int64_t (*)(int64_t a, int64_t b);
struct NamedOp {
  const char* name;
  rtRedOp_t op;
  Fold fold;
};
const NamedOp kOps[] = {
    {"sum", rtSum, [](int64_t a, int64_t b) { return a + b; }},
    {"prod", rtProd, [](int64_t a, int64_t b) { return a * b; }},
    {"min", rtMin, [](int64_t a, int64_t b) { return std::min(a, b); }},
    {"max", rtMax, [](int64_t a, int64_t b) { return std::max(a, b); }},
    {"band", rtBand, [](int64_t a, int64_t b) { return a & b; }},
    {"bor", rtBor, [](int64_t a, int64_t b) { return a | b; }},
    {"bxor", rtBxor, [](int64_t a, int64_t b) { return a ^ b; }},
    {"land", rtLand, [](int64_t a, int64_t b) -> int64_t { return a != 0 && b != 0; }},
    {"lor", rtLor, [](int64_t a, int64_t b) -> int64_t { return a != 0 || b != 0; }},
    {"lxor", rtLxor, [](int64_t a, int64_t b) -> int64_t { return (a != 0) != (b != 0); }},
};

TEST(ReduceOps, by_name_compute_what_they_are_called) {
  expect_all_well(run_comms(kRanks, [](Comm& comm) {
    std::vector<int32_t> input(kCount), output(kCount);
    for (size_t i = 0; i < kCount; ++i) input[i] = item(comm.rank(), i);
    for (const NamedOp& each : kOps) {
      ok(rtAllReduce(input.data(), output.data(), kCount, rtInt32, each.op, comm));
      for (size_t i = 0; i < kCount; ++i) {
        int64_t wanted = item(0, i);
        for (int rank = 1; rank < kRanks; ++rank) wanted = each.fold(wanted, item(rank, i));
        require_true(output[i] == wanted, std::string(each.name) + " is wrong at " + std::to_string(i));
      }
    }
  }));
}

TEST(ReduceOps, avg_divides_the_sum) {
  expect_all_well(run_comms(kRanks, [](Comm& comm) {
    std::vector<float> data(kCount, static_cast<float>(3 * comm.rank()));
    ok(rtAllReduce(data.data(), data.data(), kCount, rtFloat32, rtAvg, comm));
    for (float value : data) require_true(value == 3.0f, "a wrong mean");
  }));
}

TEST(ReduceOps, with_a_factor_sum_what_each_rank_multiplied) {
  expect_all_well(run_comms(kRanks, [](Comm& comm) {
    rtRedOp_t op = rtSum, other = rtSum;
    ok(rtRedOpCreatePreMulSum(&op, 0.25 * (comm.rank() + 1), comm));
    ok(rtRedOpCreatePreMulSum(&other, -1, comm));
    require_true(op != other, "two ops of one number");
    for (bool in_group : {false, true}) {
      std::vector<float> input(kCount, 8.0f), output(kCount);
      if (in_group) ok(rtGroupStart());
      ok(rtAllReduce(input.data(), output.data(), kCount, rtFloat32, op, comm));
      if (in_group) ok(rtGroupEnd());
      for (float value : output) require_true(value == 2.0f + 4.0f + 6.0f, "a wrong sum");
      for (float value : input) require_true(value == 8.0f, "the input was changed");
    }
    std::vector<int32_t> data(kCount, 5);
    ok(rtAllReduce(data.data(), data.data(), kCount, rtInt32, other, comm));
    for (int32_t value : data) require_true(value == -15, "a wrong sum");
    expect_refused(rtAllReduce(data.data(), data.data(), kCount, rtInt32, op, comm), rtInvalidUsage, "factor");
  }));
}

TEST(ReduceOps, that_were_destroyed_or_never_made_are_refused) {
  expect_all_well(run_comms(1, [](Comm& comm) {
    float data = 1;
    rtRedOp_t op = rtSum;
    const auto call_with = [&](rtRedOp_t asked) { return rtAllReduce(&data, &data, 1, rtFloat32, asked, comm); };
    ok(rtRedOpCreatePreMulSum(&op, 2, comm));
    ok(call_with(op));
    ok(rtRedOpDestroy(op, comm));
    expect_refused(call_with(op), rtInvalidArgument, "unknown op");
    expect_refused(rtRedOpDestroy(op, comm), rtInvalidArgument, "unknown op");
    expect_refused(rtRedOpDestroy(rtSum, comm), rtInvalidArgument, "unknown op");
    expect_refused(rtRedOpCreatePreMulSum(nullptr, 1, comm), rtInvalidArgument, "op is NULL");
    rtRedOp_t again = rtSum;
    ok(rtRedOpCreatePreMulSum(&again, 3, comm));  // a place that is free is used again
    require_true(again == op, "the number of a destroyed op was not used again");
    require_true(data == 2.0f, "what was refused changed the data");
  }));
}

}  // namespace
}  // namespace ringtree::testing
