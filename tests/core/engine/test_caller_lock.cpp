// When a call lets go of the lock that its caller holds (caller_lock.h): before it waits for anybody, and only then.
// The GIL itself: tests/python/comm/test_python_lock.py.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "core/transport/shared_buffer.h"
#include "tests/core/engine/rank_threads.h"

namespace ringtree::testing {
namespace {

/// Says how often it was let go, to other threads, too.
class CountedLock final : public CallerLock {
 public:
  void let_go() override { times_.fetch_add(1, std::memory_order_release); }
  int times() const { return times_.load(std::memory_order_acquire); }
  void await() const {
    const Deadline deadline = patience();
    while (times() == 0) {
      if (deadline.passed()) throw std::runtime_error("the lock was kept");
      std::this_thread::yield();
    }
  }

 private:
  std::atomic<int> times_{0};
};

Call broadcast_of(std::vector<float>& data, const AlgorithmRef& algorithm = by("tree")) {
  Call call = with(call_of(Collective::broadcast, data.size()), algorithm);
  call.input = call.output = data.data();
  return call;
}

void require(bool holds, const char* otherwise) {
  if (!holds) throw std::runtime_error(otherwise);
}

TEST(CallerLock, is_let_go_by_a_first_call_and_kept_by_one_that_need_not_wait) {
  expect_all_well(run_communicators(1, test_settings(), [](Communicator& communicator) {
    std::vector<float> data(2, 1.0f);
    CountedLock first, second;
    communicator.run(broadcast_of(data), &first);
    require(first.times() > 0, "kept while a plan was made");
    for (int i = 0; i < 100; ++i) communicator.run(broadcast_of(data), &second);
    require(second.times() == 0, "let go though there was nothing to wait for");
  }));
}

TEST(CallerLock, is_let_go_before_a_message_is_waited_for) {
  for (const Protocol protocol : {Protocol::simple, Protocol::ll, Protocol::ll128}) {
    CountedLock receivers, roots;
    expect_all_well(run_communicators(2, test_settings(), [&](Communicator& communicator) {
      std::vector<float> data(2, communicator.rank() == 0 ? 5.0f : 0.0f);
      const Call call = broadcast_of(data, by("tree", protocol));
      communicator.run(call);
      if (communicator.rank() == 0) {
        receivers.await();
        communicator.run(call, &roots);
      } else {
        communicator.run(call, &receivers);
      }
      require(data[1] == 5.0f, "a wrong broadcast");
    }));
    EXPECT_EQ(receivers.times(), 1) << protocol_name(protocol);
    EXPECT_EQ(roots.times(), 0) << protocol_name(protocol) << ": there was room for what it sent";
  }
}

// A socket may have no room for a while. LL sends the data themselves, so the root waits for nobody.
TEST(CallerLock, is_let_go_before_peers_are_told_of_a_buffer) {
  enum Phase { kOrdinary, kNew, kKnown, kFreed, kAfter, kNumPhases };
  CountedLock receivers[kNumPhases], roots[kNumPhases];
  expect_all_well(run_communicators(2, test_settings(), [&](Communicator& communicator) {
    std::vector<float> data(2, 1.0f);
    Call call = broadcast_of(data, by("tree", Protocol::ll));
    communicator.run(call);
    std::shared_ptr<Segment> buffer;
    for (int phase = 0; phase < kNumPhases; ++phase) {
      if (communicator.rank() != 0) {
        communicator.run(call, &receivers[phase]);
        continue;
      }
      receivers[phase].await();
      if (phase == kNew) buffer = allocate_shared(data.size() * sizeof(float));
      if (phase == kFreed) buffer.reset();
      call.output = buffer ? static_cast<void*>(buffer->data()) : data.data();
      call.input = call.output;
      communicator.run(call, &roots[phase]);
    }
  }));
  EXPECT_EQ(roots[kOrdinary].times(), 0);
  EXPECT_GT(roots[kNew].times(), 0) << "kept while a buffer was announced";
  EXPECT_EQ(roots[kKnown].times(), 0);
  EXPECT_GT(roots[kFreed].times(), 0) << "kept while a buffer was taken back";
  EXPECT_EQ(roots[kAfter].times(), 0);
}

TEST(CallerLock, is_let_go_while_a_call_waits_for_those_that_were_started) {
  CountedLock lock;
  expect_all_well(run_communicators(2, test_settings(), [&](Communicator& communicator) {
    std::vector<float> data(2, 1.0f);
    const Call call = broadcast_of(data);
    communicator.run(call);
    if (communicator.rank() == 0) {
      lock.await();
      communicator.run(call);
      communicator.run(call);
    } else {
      const auto work = communicator.start(call);
      communicator.run(call, &lock);
      work->wait();
    }
  }));
}

TEST(CallerLock, is_let_go_before_a_failure_is_told) {
  const auto errors = run_communicators(2, test_settings(), [](Communicator& communicator) {
    std::vector<float> data(3, 1.0f);
    communicator.run(broadcast_of(data));
    if (communicator.rank() == 0) communicator.abort("enough");
    CountedLock lock;
    try {
      communicator.run(broadcast_of(data), &lock);
    } catch (const WorldError&) {
      require(lock.times() > 0, "kept while the peers were told");
      throw;
    }
  });
  for (const std::string& error : errors) EXPECT_TRUE(contains(error, "enough")) << error;
}

}  // namespace
}  // namespace ringtree::testing
