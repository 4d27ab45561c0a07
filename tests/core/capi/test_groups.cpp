// Groups through the C functions: transfers that only work at once, nesting, several communicators, calls that are
// refused, and calls in the background. Ranks as threads.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/core/capi/capi_ranks.h"

namespace ringtree::testing {
namespace {

constexpr size_t kLarge = kSanitized ? 20'000 : 200'000;  // of int64: more than the slots of a link hold

std::vector<int64_t> message(int from, int to, size_t length) {
  std::vector<int64_t> words(length);
  for (size_t i = 0; i < length; ++i) words[i] = exact_item<int64_t>(99, from * 100 + to, i);
  return words;
}

TEST(Groups, let_everybody_send_to_everybody) {
  constexpr int kRanks = 3;
  expect_all_well(run_comms(kRanks, [](Comm& comm) {
    for (size_t length : {size_t{0}, size_t{5}, kLarge}) {
      std::vector<std::vector<int64_t>> sent, received;
      for (int peer = 0; peer < kRanks; ++peer) {
        sent.push_back(message(comm.rank(), peer, length));
        received.emplace_back(length);
      }
      ok(rtGroupStart());
      for (int peer = 0; peer < kRanks; ++peer) {  // also to itself
        const auto at = static_cast<size_t>(peer);
        ok(rtSend(sent[at].data(), length, rtInt64, peer, comm));
        ok(rtRecv(received[at].data(), length, rtInt64, peer, comm));
      }
      ok(rtGroupEnd());
      for (int peer = 0; peer < kRanks; ++peer)
        require_true(received[static_cast<size_t>(peer)] == message(peer, comm.rank(), length), "a wrong message");
    }
  }));
}

TEST(Groups, are_not_needed_for_one_direction) {
  expect_all_well(run_comms(2, [](Comm& comm) {
    std::vector<int64_t> words = message(0, 1, kLarge);
    if (comm.rank() == 0) return ok(rtSend(words.data(), kLarge, rtInt64, 1, comm));
    std::vector<int64_t> got(kLarge);
    ok(rtRecv(got.data(), kLarge, rtInt64, 0, comm));
    require_true(got == words, "a wrong message");
  }));
}

TEST(Groups, run_transfers_before_collectives_whatever_was_called_first) {
  expect_all_well(run_comms(2, [](Comm& comm) {
    std::vector<int64_t> words = message(0, 1, kLarge), got(kLarge);
    std::vector<float> data(1'000, 1.0f);
    const auto sum = [&] { ok(rtAllReduce(data.data(), data.data(), data.size(), rtFloat32, rtSum, comm)); };
    ok(rtGroupStart());
    if (comm.rank() == 0) {
      ok(rtSend(words.data(), kLarge, rtInt64, 1, comm));
      sum();
    } else {
      sum();
      ok(rtRecv(got.data(), kLarge, rtInt64, 0, comm));
    }
    ok(rtGroupEnd());
    require_true(data[0] == 2.0f, "a wrong sum");
    if (comm.rank() == 1) require_true(got == words, "a wrong message");
  }));
}

TEST(Groups, may_be_nested_and_the_outermost_counts) {
  expect_all_well(run_comms(2, [](Comm& comm) {
    std::vector<float> data(10, 1.0f);
    const auto sum = [&] { ok(rtAllReduce(data.data(), data.data(), data.size(), rtFloat32, rtSum, comm)); };
    ok(rtGroupStart());
    sum();
    ok(rtGroupStart());
    sum();
    ok(rtGroupEnd());
    require_true(data[0] == 1.0f, "it ran at the end of the inner group");
    sum();
    ok(rtGroupEnd());
    require_true(data[0] == 8.0f, "not three doublings in order");
  }));
}

TEST(Groups, run_several_communicators_at_the_same_time) {
  const rtUniqueId ids[] = {new_id(), new_id()};
  expect_all_well(run_ranks(2, [&](int rank) {
    Comm first(2, ids[0], rank), second(2, ids[1], rank);
    std::vector<float> a(5'000, 1.0f), b(5'000, 2.0f);
    const auto sum = [](std::vector<float>& data, rtComm_t comm) {
      ok(rtAllReduce(data.data(), data.data(), data.size(), rtFloat32, rtSum, comm));
    };
    ok(rtGroupStart());
    // In opposite orders: one after the other they would wait for each other for ever.
    if (rank == 0) sum(a, first);
    sum(b, second);
    if (rank == 1) sum(a, first);
    ok(rtGroupEnd());
    require_true(a[0] == 2.0f && b[0] == 4.0f, "a wrong sum");
  }));
}

TEST(Groups, let_one_thread_call_for_several_ranks) {
  constexpr int kRanks = 3;
  const rtUniqueId id = new_id();
  rtComm_t comms[kRanks] = {};
  const rtConfig_t config = test_config();
  expect_all_well(
      run_ranks(kRanks, [&](int rank) { ok(rtCommInitRankConfig(&comms[rank], kRanks, id, rank, &config)); }));
  std::vector<std::vector<float>> data(kRanks, std::vector<float>(3'000, 1.0f));
  ok(rtGroupStart());
  for (int rank = 0; rank < kRanks; ++rank) {
    std::vector<float>& mine = data[static_cast<size_t>(rank)];
    ok(rtAllReduce(mine.data(), mine.data(), mine.size(), rtFloat32, rtSum, comms[rank]));
    ok(rtAllReduce(mine.data(), mine.data(), mine.size(), rtFloat32, rtSum, comms[rank]));
  }
  ok(rtGroupEnd());
  for (const auto& mine : data) EXPECT_EQ(mine, std::vector<float>(3'000, 9.0f));
  for (rtComm_t comm : comms) EXPECT_EQ(rtCommDestroy(comm), rtSuccess);
}

TEST(Groups, copy_counts_when_they_are_called) {
  constexpr int kRanks = 2;
  expect_all_well(run_comms(kRanks, [](Comm& comm) {
    const auto mine = static_cast<float>(comm.rank());
    std::vector<float> input(comm.rank() == 0 ? 3 : 1, mine), output(4);
    std::vector<size_t> counts{3, 1};
    ok(rtGroupStart());
    ok(rtAllGatherV(input.data(), output.data(), counts.data(), rtFloat32, comm));
    counts.assign(2, 1'000'000);
    ok(rtGroupEnd());
    require_true(output == std::vector<float>({0, 0, 0, 1}), "wrong blocks");
  }));
}

TEST(Groups, run_nothing_if_a_call_was_refused) {
  expect_all_well(run_comms(2, [](Comm& comm) {
    std::vector<float> data(10, 1.0f);
    const auto sum = [&](rtComm_t with) {
      return rtAllReduce(data.data(), data.data(), data.size(), rtFloat32, rtSum, with);
    };
    ok(rtGroupStart());
    ok(sum(comm));
    expect_refused(sum(nullptr), rtInvalidArgument, "the communicator is NULL");
    ok(sum(comm));
    expect_refused(rtGroupEnd(), rtInvalidArgument, "the group was not run");
    require_true(contains(rtGetLastError(nullptr), "the communicator is NULL"), "the reason is missing");
    require_true(data[0] == 1.0f, "something ran");
    ok(sum_of_ones(comm));  // outside of a group, and nobody was harmed
  }));
}

TEST(Groups, run_all_where_one_fails_and_tell_the_first_failure) {
  expect_all_well(run_comms(2, [](Comm& comm) {
    std::vector<float> data(10, 1.0f);
    const auto sum = [&](float* input) { return rtAllReduce(input, data.data(), data.size(), rtFloat32, rtSum, comm); };
    for (bool background : {false, true}) {
      std::fill(data.begin(), data.end(), 1.0f);
      ok(rtGroupStart());
      ok(sum(data.data()));
      ok(sum(nullptr));  // found when it runs
      ok(sum(data.data()));
      rtRequest_t request = nullptr;
      if (background) ok(rtGroupEndAsync(&request));
      expect_refused(background ? rtWait(&request, 0) : rtGroupEnd(), rtInvalidUsage, "needs an input");
      require_true(data[0] == 4.0f, "not both of the right calls ran");
    }
  }));
}

TEST(Groups, must_have_been_opened) {
  rtRequest_t request = nullptr;
  EXPECT_EQ(rtGroupEnd(), rtInvalidUsage);
  EXPECT_TRUE(contains(rtGetLastError(nullptr), "call rtGroupStart() first"));
  EXPECT_EQ(rtGroupEndAsync(&request), rtInvalidUsage);
  EXPECT_EQ(rtGroupStart(), rtSuccess);
  EXPECT_EQ(rtGroupEnd(), rtSuccess);  // an empty one
}

TEST(Groups, are_each_threads_own) {
  expect_all_well(run_comms(1, [](Comm& comm) {
    ok(rtGroupStart());
    std::string outcome;
    std::thread([&] { outcome = outcome_of([&] { ok(sum_of_ones(comm)); }); }).join();
    ok(rtGroupEnd());
    require_true(outcome.empty(), outcome);
  }));
}

TEST(Groups, are_not_for_making_and_ending_communicators) {
  expect_all_well(run_comms(1, [](Comm& comm) {
    rtComm_t other = nullptr;
    ok(rtGroupStart());
    expect_refused(rtCommInitRank(&other, 1, new_id(), 0), rtInvalidUsage, "not for groups");
    expect_refused(rtCommSplit(comm, 0, 0, &other), rtInvalidUsage, "not for groups");
    expect_refused(rtCommShrink(comm, &other), rtInvalidUsage, "not for groups");
    expect_refused(rtCommFinalize(comm), rtInvalidUsage, "not for groups");
    expect_refused(rtCommDestroy(comm), rtInvalidUsage, "not for groups");
    ok(rtGroupEnd());  // which they do not spoil
    ok(sum_of_ones(comm));
  }));
}

TEST(Requests, are_done_without_their_caller) {
  expect_all_well(run_comms(2, [](Comm& comm) {
    std::vector<int64_t> sent = message(comm.rank(), 1 - comm.rank(), kLarge), got(kLarge);
    rtRequest_t request = nullptr;
    ok(rtGroupStart());
    ok(rtSend(sent.data(), kLarge, rtInt64, 1 - comm.rank(), comm));
    ok(rtRecv(got.data(), kLarge, rtInt64, 1 - comm.rank(), comm));
    ok(rtGroupEndAsync(&request));
    int done = 0;
    while (true) {
      ok(rtTest(&request, &done));
      if (done) break;
      std::this_thread::yield();
    }
    require_true(request == nullptr, "a request that is done was not freed");
    require_true(got == message(1 - comm.rank(), comm.rank(), kLarge), "a wrong message");
    ok(rtTest(&request, &done));
    require_true(done == 1, "no request is not done");
    ok(rtWait(&request, 0));
  }));
}

TEST(Requests, that_wait_too_long_go_on) {
  std::atomic<bool> waited{false};
  expect_all_well(run_comms(2, [&](Comm& comm) {
    std::vector<float> data(10, 1.0f);
    if (comm.rank() == 1)
      while (!waited.load()) std::this_thread::yield();
    rtRequest_t request = nullptr;
    ok(rtGroupStart());
    ok(rtAllReduce(data.data(), data.data(), data.size(), rtFloat32, rtSum, comm));
    ok(rtGroupEndAsync(&request));
    if (comm.rank() == 0) {
      int done = 1;
      ok(rtTest(&request, &done));
      require_true(done == 0, "done without its peer");
      expect_refused(rtWait(&request, 0.01), rtInProgress, "still under way");
      require_true(request != nullptr, "a request under way was freed");
      waited.store(true);
    }
    ok(rtWait(&request, 0));
    require_true(request == nullptr && data[0] == 2.0f, "not done");
  }));
}

TEST(Requests, are_awaited_by_later_calls_and_by_the_end) {
  expect_all_well(run_comms(2, [](Comm& comm) {
    std::vector<float> data(kLarge, 1.0f);
    rtRequest_t first = nullptr, last = nullptr;
    const auto start = [&](rtRequest_t& request) {
      ok(rtGroupStart());
      ok(rtAllReduce(data.data(), data.data(), data.size(), rtFloat32, rtSum, comm));
      ok(rtGroupEndAsync(&request));
    };
    start(first);
    ok(sum_of_ones(comm));
    require_true(data.back() == 2.0f, "a later call overtook it");
    start(last);
    ok(rtCommFinalize(comm));
    require_true(data.back() == 4.0f, "the communicator did not wait for it");
    ok(rtWait(&first, 0));
    ok(rtWait(&last, 0));
    expect_refused(sum_of_ones(comm), rtInvalidUsage, "closed");
  }));
}

TEST(Requests, have_rules) {
  expect_all_well(run_comms(1, [](Comm&) {
    rtRequest_t request = nullptr;
    int done = 0;
    expect_refused(rtWait(&request, -1), rtInvalidArgument, "timeout_s");
    expect_refused(rtWait(nullptr, 0), rtInvalidArgument, "request is NULL");
    expect_refused(rtTest(nullptr, &done), rtInvalidArgument, "request is NULL");
    expect_refused(rtTest(&request, nullptr), rtInvalidArgument, "done is NULL");
    ok(rtGroupStart());
    expect_refused(rtGroupEndAsync(nullptr), rtInvalidArgument, "request is NULL");
    ok(rtGroupStart());
    expect_refused(rtGroupEndAsync(&request), rtInvalidUsage, "only the outermost");
    ok(rtGroupEnd());
    ok(rtGroupEndAsync(&request));
    ok(rtWait(&request, 0));
  }));
}

}  // namespace
}  // namespace ringtree::testing
