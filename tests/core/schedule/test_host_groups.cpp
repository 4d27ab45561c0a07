// HostGroups: any mapping of ranks to hosts, its questions answered, wrong mappings refused.
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/schedule/host_groups.h"

namespace ringtree {
namespace {

using Ranks = std::vector<int>;

TEST(HostGroups, AnswersForAnyMapping) {
  const HostGroups hosts({0, 1, 0, 2, 1, 1});
  EXPECT_EQ(hosts.num_ranks(), 6);
  EXPECT_EQ(hosts.num_hosts(), 3);
  EXPECT_EQ(hosts.ranks_of(0), (Ranks{0, 2}));
  EXPECT_EQ(hosts.ranks_of(1), (Ranks{1, 4, 5}));
  EXPECT_EQ(hosts.ranks_of(2), (Ranks{3}));
  EXPECT_EQ(hosts.smallest(), 1);
  EXPECT_EQ(hosts.largest(), 3);
  const Ranks host_of = {0, 1, 0, 2, 1, 1}, local = {0, 0, 1, 0, 1, 2};
  for (int rank = 0; rank < 6; ++rank) {
    EXPECT_EQ(hosts.host_of(rank), host_of[static_cast<size_t>(rank)]);
    EXPECT_EQ(hosts.local_index(rank), local[static_cast<size_t>(rank)]);
  }
}

TEST(HostGroups, SingleAndBlocks) {
  EXPECT_EQ(HostGroups::single(3), HostGroups({0, 0, 0}));
  EXPECT_EQ(HostGroups::blocks(4, 2), HostGroups({0, 0, 1, 1}));
  EXPECT_EQ(HostGroups::blocks(5, 2), HostGroups({0, 0, 1, 1, 2}));
  EXPECT_EQ(HostGroups::blocks(2, 7), HostGroups::single(2));
}

TEST(HostGroups, EqualTextsAreEqualGroupings) {
  EXPECT_EQ(HostGroups({0, 1, 0}).text(), "0,1,0");
  EXPECT_NE(HostGroups({0, 1, 0}), HostGroups({0, 0, 1}));
  EXPECT_LT(HostGroups({0, 0, 1}), HostGroups({0, 1, 0}));
}

TEST(HostGroups, DescribesBlocksShortly) {
  EXPECT_EQ(HostGroups::blocks(8, 4).describe(), "2x4");
  EXPECT_EQ(HostGroups::single(3).describe(), "1x3");
  EXPECT_EQ(HostGroups({0, 1, 0, 1}).describe(), "2 hosts of 2, 2 ranks");
  EXPECT_EQ(HostGroups({0, 0, 1}).describe(), "2 hosts of 2, 1 ranks");
}

std::string refusal(Ranks host_of_rank) {
  try {
    HostGroups hosts(std::move(host_of_rank));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(HostGroups, RefusesWhatIsNoMapping) {
  EXPECT_NE(refusal({}).find("at least one rank"), std::string::npos);
  EXPECT_NE(refusal({0, 2, 1}).find("rank 1 is on host 2"), std::string::npos);
  EXPECT_NE(refusal({1, 0}).find("must be one of 0..0"), std::string::npos);
  EXPECT_NE(refusal({0, -1}).find("rank 1 is on host -1"), std::string::npos);
  EXPECT_THROW(HostGroups::single(0), UsageError);
  EXPECT_THROW(HostGroups::blocks(4, 0), UsageError);
  EXPECT_THROW(require_all_ranks(HostGroups::single(3), 4), UsageError);
  EXPECT_NO_THROW(require_all_ranks(HostGroups::single(3), 3));
}

}  // namespace
}  // namespace ringtree
