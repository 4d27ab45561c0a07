// What auto runs without a profile, with the constants that are built in and the algorithms' real costs, against
// all_reduce on an Intel Xeon of 2 virtual cores, 2026-11-26 (docs/tune.md, "Without a profile"): nothing was faster by
// more than 1 % there. What a ring instead took longer at 2 ranks: 20 % at 4 KB, 5 % at 16 KB; recursive_doubling
// instead of the ring 13 % at 1 MB, and at 64 KB all were alike. 4 ranks, 1 MB: a ring took 21 % longer than two_shot.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "core/builtin/algorithm_table.h"
#include "core/model/estimate.h"

namespace ringtree::testing {
namespace {

struct Measured {
  int num_ranks;
  size_t num_bytes;
  std::string fastest;
};

class ChoiceTest : public ::testing::TestWithParam<Measured> {};

TEST_P(ChoiceTest, is_what_was_measured_to_be_fastest_on_two_cores) {
  const Measured& measured = GetParam();
  Machine machine = default_machine();
  machine.num_cores = 2;
  const auto candidates = built_in_table().candidates(Collective::all_reduce, HostGroups::single(measured.num_ranks));
  const Choice choice = choose(candidates, measured.num_ranks, measured.num_bytes, machine);
  EXPECT_EQ(candidates.at(choice.index).name, measured.fastest) << choice.reason;
}

INSTANTIATE_TEST_SUITE_P(RanksAndSizes, ChoiceTest,
                         ::testing::Values(Measured{2, 4 << 10, "recursive_doubling"},
                                           Measured{2, 16 << 10, "recursive_doubling"}, Measured{2, 64 << 10, "ring"},
                                           Measured{2, 1 << 20, "ring"}, Measured{4, 1 << 20, "two_shot"}));

}  // namespace
}  // namespace ringtree::testing
