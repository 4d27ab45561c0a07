// Which result each failure has, on all ranks, and where its text is found: this thread's last error, the
// communicator's, the asynchronous one. Ranks as threads.
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

#include "tests/core/capi/capi_ranks.h"

namespace ringtree::testing {
namespace {

/// All ranks have their communicator when this is done: else one of them could hear of a failure while it makes it.
void meet(rtComm_t comm) { ok(rtBarrier(comm)); }

/// That the communicator says the same for ever.
void expect_ended(rtComm_t comm, rtResult_t wanted, const std::string& text) {
  rtResult_t state = rtSuccess;
  ok(rtCommGetAsyncError(comm, &state));
  require_true(state == wanted, "the asynchronous error is " + std::to_string(state));
  require_true(contains(rtGetLastError(comm), text), std::string("the communicator says ") + rtGetLastError(comm));
  expect_refused(rtBarrier(comm), wanted, text);
}

TEST(Failures, of_ranks_in_different_calls_are_mismatches) {
  expect_all_well(run_comms(3, [](Comm& comm) {
    meet(comm);
    std::vector<float> data(10);
    const size_t count = comm.rank() == 1 ? 9 : 10;
    const std::string text = "count=9";  // who said what
    expect_refused(rtAllReduce(data.data(), data.data(), count, rtFloat32, rtSum, comm), rtMismatch, text);
    expect_ended(comm, rtMismatch, text);
  }));
}

TEST(Failures, of_a_rank_that_left_are_remote) {
  expect_all_well(run_comms(2, [](Comm& comm) {
    meet(comm);
    if (comm.rank() == 1) return;
    rtResult_t result = rtSuccess;
    while (result == rtSuccess) result = rtBarrier(comm);
    expect_refused(result, rtRemoteError, "rank 1 (pid ");
    expect_ended(comm, rtRemoteError, "rank 1 (pid ");
  }));
}

TEST(Failures, of_a_rank_that_does_not_come_are_timeouts) {
  std::atomic<int> num_done{0};
  expect_all_well(run_comms(
      2,
      [&](Comm& comm) {
        meet(comm);
        if (comm.rank() == 0) {
          expect_refused(rtBarrier(comm), rtTimeout, "rank 1 (pid ");
          expect_ended(comm, rtTimeout, "rank 1 (pid ");
        } else {
          // Told of it without a call of its own.
          rtResult_t state = rtSuccess;
          while (state == rtSuccess) {
            ok(rtCommGetAsyncError(comm, &state));
            std::this_thread::yield();
          }
          expect_ended(comm, rtTimeout, "rank 1 (pid ");
        }
        num_done.fetch_add(1);
        while (num_done.load() < 2) std::this_thread::yield();  // nobody leaves before the other has looked
      },
      test_config(0.2)));
}

TEST(Failures, by_abort_end_the_calls_of_other_threads_on_all_ranks) {
  std::atomic<int> num_done{0};
  expect_all_well(run_comms(3, [&](Comm& comm) {
    meet(comm);
    std::thread watchdog;
    // Ranks 0 and 1 wait for rank 2, which calls nothing: its other thread ends them.
    if (comm.rank() == 2) watchdog = std::thread([&] { rtCommAbort(comm, "the loss is NaN"); });
    if (comm.rank() == 2) {
      watchdog.join();
    } else {
      expect_refused(rtBarrier(comm), rtSystemError, "the loss is NaN");
    }
    expect_ended(comm, rtSystemError, "rank 2 (pid ");
    expect_ended(comm, rtSystemError, "the loss is NaN");
    num_done.fetch_add(1);
    while (num_done.load() < 3) std::this_thread::yield();
  }));
}

TEST(Failures, of_requests_are_told_when_they_are_awaited) {
  expect_all_well(run_comms(2, [](Comm& comm) {
    meet(comm);
    std::vector<float> data(10);
    const size_t count = 9 + static_cast<size_t>(comm.rank());
    rtRequest_t request = nullptr;
    ok(rtGroupStart());
    ok(rtAllReduce(data.data(), data.data(), count, rtFloat32, rtSum, comm));
    ok(rtGroupEndAsync(&request));
    expect_refused(rtWait(&request, 0), rtMismatch, "count=9");
    require_true(request == nullptr, "it was not freed");
    expect_ended(comm, rtMismatch, "count=9");
  }));
}

TEST(Failures, of_the_caller_harm_nobody) {
  expect_all_well(run_comms(2, [](Comm& comm) {
    float data = 1, other = 1;
    const size_t counts[] = {1, 1};
    expect_refused(rtAllReduce(&data, &data, 1, rtFloat32, rtSum, nullptr), rtInvalidArgument, "communicator is NULL");
    expect_refused(rtAllReduce(nullptr, &data, 1, rtFloat32, rtSum, comm), rtInvalidUsage, "needs an input");
    expect_refused(rtAllReduce(&data, &data, 1, rtMaxDataType, rtSum, comm), rtInvalidArgument, "unknown datatype");
    expect_refused(rtAllReduce(&data, &data, 1, rtFloat32, rtMaxRedOp, comm), rtInvalidArgument, "unknown op");
    expect_refused(rtAllReduce(&data, &data, 1, rtFloat8E8m0fnu, rtSum, comm), rtInvalidUsage, "float8_e8m0fnu");
    expect_refused(rtBroadcast(&data, &data, 1, rtFloat32, 2, comm), rtInvalidUsage, "root 2 is not a rank");
    expect_refused(rtAllGatherV(&data, &data, nullptr, rtFloat32, comm), rtInvalidArgument, "counts is NULL");
    expect_refused(rtAlltoAllV(&data, counts, &other, nullptr, rtFloat32, comm), rtInvalidArgument,
                   "output_counts is NULL");
    expect_refused(rtSend(&data, 1, rtFloat32, 2, comm), rtInvalidUsage, "rank 2 is not a rank");
    expect_refused(rtSend(&data, 1, rtFloat32, comm.rank(), comm), rtInvalidUsage, "itself");
    expect_refused(rtCommCount(comm, nullptr), rtInvalidArgument, "count is NULL");
    rtResult_t state = rtInternalError;
    ok(rtCommGetAsyncError(comm, &state));
    require_true(state == rtSuccess, "the communicator ended");
    require_true(contains(rtGetLastError(comm), "count is NULL"), rtGetLastError(comm));  // the newest
    ok(sum_of_ones(comm));
  }));
}

TEST(LastError, is_each_threads_own) {
  EXPECT_EQ(rtMemFree(reinterpret_cast<void*>(64)), rtInvalidArgument);
  EXPECT_TRUE(contains(rtGetLastError(nullptr), "not from rtMemAlloc()"));
  std::thread([] { EXPECT_STREQ(rtGetLastError(nullptr), ""); }).join();
  EXPECT_EQ(rtMemFree(nullptr), rtSuccess);  // a success does not take it back
  EXPECT_TRUE(contains(rtGetLastError(nullptr), "not from rtMemAlloc()"));
}

TEST(ErrorStrings, differ_for_every_result) {
  std::set<std::string> texts;
  for (const rtResult_t result : {rtSuccess, rtSystemError, rtInternalError, rtInvalidArgument, rtInvalidUsage,
                                  rtRemoteError, rtInProgress, rtTimeout, rtMismatch, rtMaxResult})
    texts.insert(rtGetErrorString(result));
  EXPECT_EQ(texts.size(), 10U);
  EXPECT_EQ(texts.count("unknown result"), 1U);
}

}  // namespace
}  // namespace ringtree::testing
