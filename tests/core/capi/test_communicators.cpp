// Making, splitting, shrinking and ending communicators through the C functions. Ranks as threads.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "tests/core/capi/capi_ranks.h"

namespace ringtree::testing {
namespace {

/// The ranks' numbers in the first communicator, in the order of the ranks of `comm`.
std::vector<int32_t> members_of(const Comm& comm, int32_t number) {
  std::vector<int32_t> members(static_cast<size_t>(comm.world_size()), -1);
  ok(rtAllGather(&number, members.data(), 1, rtInt32, comm));
  return members;
}

TEST(Init, tells_rank_and_count) {
  for (int n : {1, 2, 5})
    expect_all_well(run_comms(n, [n](Comm& comm) {
      require_true(comm.world_size() == n, "a wrong count");
      const std::vector<int32_t> members = members_of(comm, comm.rank());
      for (int rank = 0; rank < n; ++rank) require_true(members[static_cast<size_t>(rank)] == rank, "a wrong rank");
    }));
}

TEST(Init, without_a_config_has_the_defaults) {
  const rtUniqueId id = new_id();
  expect_all_well(run_ranks(2, [&](int rank) {
    rtComm_t made = nullptr;
    ok(rtCommInitRank(&made, 2, id, rank));
    const Comm comm(made);
    ok(sum_of_ones(comm));
  }));
}

// Nobody waits for a rank that leaves at once, and nobody still needs it either: rank 0, whose store all have met in.
TEST(Init, lets_every_rank_leave_at_once) {
  constexpr int kRounds = kSanitized ? 10 : 40;
  for (int round = 0; round < kRounds; ++round) expect_all_well(run_comms(3, [](Comm&) {}));
}

TEST(Init, refuses_what_cannot_be) {
  const rtUniqueId id = new_id();
  rtComm_t comm = reinterpret_cast<rtComm_t>(&comm);
  expect_refused(rtCommInitRank(nullptr, 1, id, 0), rtInvalidArgument, "comm is NULL");
  for (const auto& [nranks, rank] : {std::pair{0, 0}, {2, 2}, {2, -1}})
    expect_refused(rtCommInitRank(&comm, nranks, id, rank), rtInvalidArgument, "is not within a world of");
  EXPECT_EQ(comm, nullptr);
  rtUniqueId wrong = {};
  expect_refused(rtCommInitRank(&comm, 1, wrong, 0), rtInvalidArgument, "rtGetUniqueId()");
  std::fill(std::begin(wrong.internal), std::end(wrong.internal), 'x');  // not even an end
  expect_refused(rtCommInitRank(&comm, 1, wrong, 0), rtInvalidArgument, "rtGetUniqueId()");
  wrong = id;
  wrong.internal[20] = '\0';
  expect_refused(rtCommInitRank(&comm, 1, wrong, 0), rtInvalidArgument, "did not arrive whole");
  EXPECT_EQ(rtGetUniqueId(nullptr), rtInvalidArgument);
}

TEST(Init, refuses_an_id_that_is_in_use) {
  const rtUniqueId id = new_id();
  const Comm first(1, id, 0);
  rtComm_t second = nullptr;
  expect_refused(rtCommInitRank(&second, 1, id, 0), rtInvalidUsage, "another job on this host uses id");
}

TEST(Init, of_ranks_that_do_not_come_times_out) {
  const rtConfig_t config = test_config(0.05);
  rtComm_t comm = nullptr;
  EXPECT_EQ(rtCommInitRankConfig(&comm, 2, new_id(), 0, &config), rtTimeout);
  EXPECT_EQ(rtCommInitRankConfig(&comm, 2, new_id(), 1, &config), rtTimeout);
  EXPECT_EQ(comm, nullptr);
}

TEST(Init, with_different_settings_is_a_mismatch_on_all_ranks) {
  const rtUniqueId id = new_id();
  expect_all_well(run_ranks(2, [&](int rank) {
    rtConfig_t config = test_config();
    config.num_channels = 1 + rank;
    rtComm_t comm = nullptr;
    expect_refused(rtCommInitRankConfig(&comm, 2, id, rank, &config), rtMismatch, "2 channels");
  }));
}

TEST(Config, is_checked) {
  rtComm_t comm = nullptr;
  const auto init = [&](const rtConfig_t& config) { return rtCommInitRankConfig(&comm, 1, new_id(), 0, &config); };
  rtConfig_t config = {};  // not by the initializer
  expect_refused(init(config), rtInvalidArgument, "RT_CONFIG_INITIALIZER");
  config = test_config();
  config.timeout_s = -1;
  expect_refused(init(config), rtInvalidArgument, "timeout_s must be within");
  config = test_config();
  config.num_channels = -1;
  expect_refused(init(config), rtInvalidUsage, "channels must be within");
  config = test_config();
  config.rules_path = "/nowhere/rules.txt";
  expect_refused(init(config), rtInvalidArgument, "/nowhere/rules.txt cannot be read");
  config.rules_path = "/";  // can be opened, but not read
  expect_refused(init(config), rtInvalidArgument, "cannot be read");
  EXPECT_EQ(comm, nullptr);
}

TEST(Config, what_is_reserved_must_be_0) {
  rtConfig_t config = test_config();
  config.reserved = 1;
  rtComm_t comm = nullptr;
  expect_refused(rtCommInitRankConfig(&comm, 1, new_id(), 0, &config), rtInvalidArgument, "reserved");
}

// A caller that was compiled with a later header, whose struct is longer.
TEST(Config, of_a_later_version_is_taken_if_it_asks_for_nothing_new) {
  struct Later {
    rtConfig_t config = test_config();
    uint64_t new_field = 0;  // no padding behind it: all that the library does not know must be 0
  } later;
  later.config.size = sizeof later;
  rtComm_t comm = nullptr;
  ok(rtCommInitRankConfig(&comm, 1, new_id(), 0, &later.config));
  ok(rtCommDestroy(comm));
  later.new_field = 1;
  expect_refused(rtCommInitRankConfig(&comm, 1, new_id(), 0, &later.config), rtInvalidArgument, "does not have");
}

// One that was compiled with an earlier header: the fields that it does not have are not read.
TEST(Config, of_an_earlier_version_has_the_defaults_for_what_it_lacks) {
  rtConfig_t config = test_config();
  config.size = offsetof(rtConfig_t, num_channels);
  config.num_channels = -1;
  config.rules_path = "/nowhere";
  rtComm_t comm = nullptr;
  ok(rtCommInitRankConfig(&comm, 1, new_id(), 0, &config));
  ok(rtCommDestroy(comm));
}

// Rules in a file of this test's own, for as long as the object lives.
class RulesFile {
 public:
  explicit RulesFile(const std::string& rules) : path_(::testing::TempDir() + "ringtree-rules-" + random_hex(8)) {
    std::ofstream(path_) << rules;
  }
  ~RulesFile() { std::remove(path_.c_str()); }
  RulesFile(const RulesFile&) = delete;
  RulesFile& operator=(const RulesFile&) = delete;
  const char* path() const { return path_.c_str(); }

 private:
  std::string path_;
};

TEST(Config, rules_are_rank_0s) {
  const RulesFile wrong("all_reduce 2 own private\n");
  for (int who_has_them : {0, 1}) {
    const rtUniqueId id = new_id();
    expect_all_well(run_ranks(2, [&](int rank) {
      rtConfig_t config = test_config();
      if (rank == who_has_them) config.rules_path = wrong.path();
      rtComm_t made = nullptr;
      const rtResult_t result = rtCommInitRankConfig(&made, 2, id, rank, &config);
      if (who_has_them == 0) return expect_refused(result, rtInvalidUsage, "profile, line 1");
      ok(result);  // rank 1's are not even read
      const Comm comm(made);
      ok(sum_of_ones(comm));
    }));
  }
}

TEST(Config, rules_decide_what_runs) {
  std::string rules;
  for (const char* cores : {"own", "shared"})
    rules += std::string("all_reduce 2 ") + cores + " private rest not_there simple 0 ordinary 1\n";
  const RulesFile file(rules);
  rtConfig_t config = test_config();
  config.rules_path = file.path();
  // That the algorithm of the rule does not exist shows that it is asked for.
  for (const std::string& outcome : run_comms(2, [](Comm& comm) { ok(sum_of_ones(comm)); }, config))
    EXPECT_TRUE(contains(outcome, "not_there")) << outcome;
}

TEST(Split, groups_by_color_in_the_order_of_key_then_rank) {
  expect_all_well(run_comms(5, [](Comm& comm) {
    const int rank = comm.rank();
    rtComm_t made = nullptr;
    ok(rtCommSplit(comm, rank % 2, -rank, &made));
    const Comm part(made);
    require_true(members_of(part, rank) == (rank % 2 == 0 ? std::vector<int32_t>{4, 2, 0} : std::vector<int32_t>{3, 1}),
                 "wrong members");
    ok(rtCommSplit(part, rank == 2 ? RT_SPLIT_NOCOLOR : 0, 0, &made));  // a part of a part
    require_true((made == nullptr) == (rank == 2), "the wrong rank was left out");
    const Comm rest(made);
    if (made) ok(sum_of_ones(rest));
    ok(sum_of_ones(comm));
  }));
}

TEST(Split, off_communicators_live_on_without_their_parent) {
  const rtUniqueId id = new_id();
  expect_all_well(run_ranks(2, [&](int rank) {
    rtComm_t made = nullptr;
    {
      const Comm first(2, id, rank);
      ok(rtCommSplit(first, 0, 0, &made));
    }
    const Comm part(made);
    ok(sum_of_ones(part));
    ok(rtCommSplit(part, 0, 0, &made));
    const Comm second(made);
    ok(sum_of_ones(second));
  }));
}

TEST(Shrink, makes_a_communicator_of_who_is_left) {
  for (int leaver : {0, 2})
    expect_all_well(run_comms(3, [leaver](Comm& comm) {
      const int rank = comm.rank();
      ok(sum_of_ones(comm));
      if (rank == leaver) return;
      rtResult_t result = rtSuccess;
      while (result == rtSuccess) result = sum_of_ones(comm);
      expect_refused(result, rtRemoteError, "left the communicator");
      rtComm_t made = nullptr;
      ok(rtCommShrink(comm, &made));
      const Comm survivors(made);
      std::vector<int32_t> wanted{0, 1, 2};
      std::erase(wanted, leaver);
      require_true(members_of(survivors, rank) == wanted, "wrong survivors");
      // What comes from it needs nothing of the first one, whose rank 0 may be the one that left.
      ok(rtCommSplit(survivors, 0, 0, &made));
      const Comm part(made);
      ok(sum_of_ones(part));
      expect_refused(sum_of_ones(comm), rtRemoteError, "left the communicator");
    }));
}

TEST(Destroy, makes_a_handle_answer_so_for_ever) {
  const rtUniqueId id = new_id();
  rtComm_t comm = nullptr, other = nullptr;
  rtResult_t state = rtSuccess;
  int number = 0;
  EXPECT_EQ(rtCommDestroy(nullptr), rtSuccess);
  ok(rtCommInitRank(&comm, 1, id, 0));
  ok(rtCommDestroy(comm));
  for (const rtResult_t result :
       {rtCommDestroy(comm), rtCommFinalize(comm), rtCommAbort(comm, nullptr), rtCommSplit(comm, 0, 0, &other),
        rtCommShrink(comm, &other), rtCommCount(comm, &number), rtCommUserRank(comm, &number),
        rtCommGetAsyncError(comm, &state), rtBarrier(comm), rtSend(&number, 1, rtInt32, 0, comm)})
    EXPECT_EQ(result, rtInvalidArgument);
  EXPECT_TRUE(contains(rtGetLastError(comm), "was destroyed"));
  ok(rtCommInitRank(&other, 1, id, 0));  // the id is free again
  EXPECT_NE(other, comm);
  ok(rtCommDestroy(other));
}

TEST(Destroy, comes_after_finalize_as_well) {
  expect_all_well(run_comms(2, [](Comm& comm) {
    ok(sum_of_ones(comm));
    ok(rtCommFinalize(comm));
    ok(rtCommFinalize(comm));
    expect_refused(rtBarrier(comm), rtInvalidUsage, "closed");
    rtResult_t state = rtInternalError;
    ok(rtCommGetAsyncError(comm, &state));
    require_true(state == rtSuccess, "leaving in order is not a failure");
  }));
}

}  // namespace
}  // namespace ringtree::testing
