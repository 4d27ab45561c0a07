// What auto runs without a profile, with the constants that are built in and the algorithms' real costs, where
// measurements say what is fastest: docs/tune.md, "Without a profile". A wrong choice cost 15 % and more there.
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
                                           Measured{4, 1 << 20, "two_shot"}));

}  // namespace
}  // namespace ringtree::testing
