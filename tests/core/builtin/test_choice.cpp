// What auto runs without a profile, with the constants that are built in and the algorithms' real costs, against what
// was measured on 2 virtual cores (docs/tune.md, "Without a profile").
// 2 ranks, Intel Xeon, 2026-11-26: nothing was faster by more than 1 %. What a ring instead took longer: 20 % at 4 KB,
// 5 % at 16 KB; recursive_doubling instead of the ring 13 % at 1 MB, and at 64 KB all were alike.
// 4 and 8 ranks, AMD EPYC, 2026-11-27: instead of the ring tree took 23 % longer with 4 ranks at 4 MB, two_shot 38 %
// with 8 at 1 MB; one_shot instead of naive 19 % with 8 at 16 KB.
// 3 and 4 ranks, AMD EPYC (Zen 4), 2026-11-28 (docs/decisions/0039-slots-that-go-one-way.md): with 3 one_shot took 14
// to 127 % longer at 16 KB, tree 25 to 237 % at 64 KB; with 4 one_shot 21 to 87 % at 16 KB. 4 ranks, 1 MB: near cores
// two_shot took 8 and 15 % longer than the ring (on the other EPYC 4 and 10 %), far ones the ring three times as long.
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

TEST_P(ChoiceTest, is_what_was_measured_to_be_fastest_or_least_bad_on_two_cores) {
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
                                           Measured{2, 1 << 20, "ring"}, Measured{3, 16 << 10, "recursive_doubling"},
                                           Measured{3, 64 << 10, "recursive_doubling"}, Measured{4, 16 << 10, "naive"},
                                           Measured{4, 1 << 20, "two_shot"}, Measured{4, 4 << 20, "ring"},
                                           Measured{8, 16 << 10, "naive"}, Measured{8, 256 << 10, "two_shot"},
                                           Measured{8, 1 << 20, "ring"}));

}  // namespace
}  // namespace ringtree::testing
