// Messages with tags through the C functions, and the settings that came with them: timeouts of calls, and interrupts.
// What the mailbox does is tested in tests/core/engine/test_mailbox*.cpp.
#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "tests/core/capi/capi_ranks.h"

namespace ringtree::testing {
namespace {

/// What is told of one message.
struct Told {
  std::promise<void> promise;
  rtResult_t result = rtInProgress;
  int source = -7;
  std::string error;

  static void done(void* context, rtResult_t result, int source, const char* error) {
    auto* const told = static_cast<Told*>(context);
    told->result = result;
    told->source = source;
    told->error = error;
    told->promise.set_value();  // a second time it would throw
  }
  void wait() {
    if (promise.get_future().wait_for(std::chrono::duration<double>(2 * kPatienceSeconds)) != std::future_status::ready)
      throw std::runtime_error("a message never ended");
  }
};

TEST(Messages, arrive_with_their_tags_and_sources) {
  expect_all_well(run_comms(3, [](Comm& comm) {
    const int rank = comm.rank(), n = comm.world_size();
    std::vector<int> words(static_cast<size_t>(2 * n), -1);
    std::vector<int> mine{100 * rank, 100 * rank + 1};
    std::vector<Told> received(static_cast<size_t>(2 * n)), sent(static_cast<size_t>(2 * n));
    for (int peer = 0; peer < n; ++peer)
      for (int tag = 1; tag >= 0; --tag) {
        const size_t i = static_cast<size_t>(2 * peer + tag);
        ok(rtPostRecv(&words[i], sizeof(int), peer, tag, 0, Told::done, &received[i], comm));
        ok(rtPostSend(&mine[static_cast<size_t>(tag)], sizeof(int), peer, tag, 0, Told::done, &sent[i], comm));
      }
    for (size_t i = 0; i < words.size(); ++i) {
      received[i].wait();
      sent[i].wait();
      const int peer = static_cast<int>(i) / 2;
      require_true(received[i].result == rtSuccess && received[i].source == peer && received[i].error.empty(), "told");
      require_true(sent[i].result == rtSuccess && sent[i].source == rank, "told of a send");
      require_true(words[i] == 100 * peer + static_cast<int>(i) % 2, "a wrong word");
    }
  }));
}

TEST(Messages, from_any_source_say_whose_they_are) {
  expect_all_well(run_comms(3, [](Comm& comm) {
    int word = comm.rank();
    Told told[2];
    if (comm.rank() != 0) {
      ok(rtPostSend(&word, sizeof word, 0, -5, 0, Told::done, told, comm));
      return told[0].wait();
    }
    int words[2] = {};
    for (int i = 0; i < 2; ++i)
      ok(rtPostRecv(&words[i], sizeof(int), RT_ANY_SOURCE, -5, 0, Told::done, &told[i], comm));
    for (int i = 0; i < 2; ++i) {
      told[i].wait();
      require_true(told[i].source == words[i], "a wrong source");
    }
    require_true(words[0] + words[1] == 3, "a wrong word");
  }));
}

TEST(Messages, that_fail_are_told_with_result_and_text) {
  expect_all_well(run_comms(2, [](Comm& comm) {
    int words[2] = {};
    Told told, other;
    const size_t size = comm.rank() == 0 ? 4 : 8;
    if (comm.rank() == 0) ok(rtPostSend(words, size, 1, 3, 0, Told::done, &told, comm));
    if (comm.rank() == 1) ok(rtPostRecv(words, size, 0, 3, 0, Told::done, &told, comm));
    ok(rtPostRecv(words, size, 1 - comm.rank(), 4, 0, Told::done, &other, comm));
    other.wait();
    require_true(other.result == rtMismatch && other.source == 1 - comm.rank(), other.error);
    require_true(contains(other.error, "sent 4 bytes with tag 3 to the recv of 8 bytes"), other.error);
    rtResult_t state = rtSuccess;
    ok(rtCommGetAsyncError(comm, &state));
    require_true(state == rtMismatch, "the asynchronous error");
    require_true(contains(rtGetLastError(comm), "with tag 3"), rtGetLastError(comm));
    told.wait();
  }));
}

TEST(Messages, have_the_timeout_that_they_say_or_the_communicators) {
  for (const bool say : {true, false})
    expect_all_well(run_comms(1, [&](Comm& comm) {
      ok(rtCommSetTimeout(comm, say ? 0 : 0.05));
      char byte = 0;
      Told told;
      ok(rtPostRecv(&byte, 1, RT_ANY_SOURCE, 0, say ? 0.05 : 0, Told::done, &told, comm));
      told.wait();
      require_true(told.result == rtTimeout && contains(told.error, "after 0.05 s"), told.error);
    }));
}

TEST(Messages, refuse_what_cannot_be) {
  expect_all_well(run_comms(1, [](Comm& comm) {
    char byte = 0;
    Told told;
    expect_refused(rtPostSend(&byte, 1, 0, 0, 0, nullptr, nullptr, comm), rtInvalidArgument, "done is NULL");
    expect_refused(rtPostSend(&byte, 1, 0, 0, 0, Told::done, &told, nullptr), rtInvalidArgument,
                   "communicator is NULL");
    expect_refused(rtPostSend(&byte, 1, 0, 0, -1, Told::done, &told, comm), rtInvalidArgument, "timeout_s must be");
    expect_refused(rtPostSend(&byte, 1, RT_ANY_SOURCE, 0, 0, Told::done, &told, comm), rtInvalidUsage, "not a rank");
    expect_refused(rtPostRecv(nullptr, 1, 0, 0, 0, Told::done, &told, comm), rtInvalidUsage, "needs a buffer");
    ok(rtGroupStart());
    expect_refused(rtPostRecv(&byte, 1, 0, 0, 0, Told::done, &told, comm), rtInvalidUsage, "is not for groups");
    ok(rtGroupEnd());
    ok(rtPostRecv(&byte, 1, 0, 0, 0, Told::done, &told, comm));
    expect_refused(rtBarrier(comm), rtInvalidUsage, "exchanges messages");
    ok(rtCommFinalize(comm));
    told.wait();
    require_true(told.result == rtInvalidUsage && contains(told.error, "was closed before the recv"), told.error);
    expect_refused(rtPostRecv(&byte, 1, 0, 0, 0, Told::done, &told, comm), rtInvalidUsage, "was closed");
  }));
}

TEST(Timeouts, hold_for_calls_and_transfers_until_they_are_set_anew) {
  for (const bool transfer : {false, true}) {
    std::atomic<int> num_done{0};
    expect_all_well(run_comms(2, [&](Comm& comm) {
      expect_refused(rtCommSetTimeout(comm, -1), rtInvalidArgument, "timeout_s must be");
      ok(rtCommSetTimeout(comm, 0.05));
      ok(rtCommSetTimeout(comm, 0));
      ok(rtBarrier(comm));
      if (comm.rank() == 0) {
        int word = 0;
        ok(rtCommSetTimeout(comm, 0.05));
        expect_refused(transfer ? rtRecv(&word, 1, rtInt32, 1, comm) : rtBarrier(comm), rtTimeout, "after 0.05 s");
      }
      num_done.fetch_add(1);
      while (num_done.load() < 2) std::this_thread::yield();
    }));
  }
}

TEST(Timeouts, are_those_of_the_parts_as_well) {
  std::atomic<int> num_done{0};
  expect_all_well(run_comms(2, [&](Comm& comm) {
    if (comm.rank() == 0) ok(rtCommSetTimeout(comm, 0.5));
    rtComm_t made = nullptr;
    ok(rtCommSplit(comm, 0, 0, &made));
    const Comm part(made);
    ok(rtBarrier(part));
    if (comm.rank() == 0) expect_refused(rtBarrier(part), rtTimeout, "after 0.5 s");
    num_done.fetch_add(1);
    while (num_done.load() < 2) std::this_thread::yield();
  }));
}

thread_local bool interrupt_this_thread = false;

extern "C" int is_interrupted(void) { return interrupt_this_thread ? 1 : 0; }

TEST(Interrupts, end_the_communicator_and_say_so) {
  rtConfig_t config = test_config();
  config.interrupted = is_interrupted;
  std::atomic<int> num_done{0};
  expect_all_well(run_comms(
      2,
      [&](Comm& comm) {
        ok(rtBarrier(comm));
        interrupt_this_thread = comm.rank() == 0;
        if (comm.rank() == 0) expect_refused(rtBarrier(comm), rtSystemError, "rank 0 (pid ");
        if (comm.rank() == 0) require_true(contains(rtGetLastError(comm), "was interrupted"), rtGetLastError(comm));
        rtResult_t state = rtSuccess;
        while (state == rtSuccess) ok(rtCommGetAsyncError(comm, &state));
        require_true(state == (comm.rank() == 0 ? rtSystemError : rtRemoteError), std::to_string(state));
        num_done.fetch_add(1);
        while (num_done.load() < 2) std::this_thread::yield();
      },
      config));
}

}  // namespace
}  // namespace ringtree::testing
