// Pinned threads: on their core, deaf to signals, and the caller stays where it was.
#include <gtest/gtest.h>
#include <signal.h>

#include <climits>

#include "core/base/helper_thread.h"
#include "core/probe/pinned_thread.h"
#include "tests/core/probe/usable_cores.h"

namespace ringtree {
namespace {

TEST(PinnedThread, runs_on_its_core_and_leaves_the_callers_affinity_alone) {
  const std::vector<int> before = usable_cores();
  for (int core : before) {
    std::vector<int> seen;
    bool pinned = false, on_core = false;
    start_helper_thread("rt-test", [&] {
      pinned = pin_to_core(core);
      on_core = is_on_core(core);
      seen = usable_cores();
    }).join();
    EXPECT_TRUE(pinned) << "core " << core;
    EXPECT_TRUE(on_core) << "core " << core;
    EXPECT_EQ(seen, std::vector<int>{core});
  }
  EXPECT_EQ(usable_cores(), before);
}

TEST(PinnedThread, refuses_cores_that_do_not_exist) {
  const std::vector<int> before = usable_cores();
  for (int core : {-1, kImpossibleCore, 1 << 16, INT_MAX}) {
    bool pinned = true;
    std::vector<int> after;
    start_helper_thread("rt-test", [&] {
      pinned = pin_to_core(core);
      after = usable_cores();
    }).join();
    EXPECT_FALSE(pinned) << "core " << core;
    EXPECT_EQ(after, before) << "core " << core;
  }
}

TEST(PinnedThread, blocks_every_signal_and_leaves_the_callers_mask_alone) {
  sigset_t before, after, inside;
  sigemptyset(&inside);
  sigemptyset(&before);
  sigaddset(&before, SIGUSR2);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  start_helper_thread("rt-test", [&] { pthread_sigmask(SIG_SETMASK, nullptr, &inside); }).join();
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  for (int signal : {SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGCHLD}) {
    EXPECT_EQ(sigismember(&inside, signal), 1) << signal;
    EXPECT_EQ(sigismember(&after, signal), sigismember(&before, signal)) << signal;
  }
}

}  // namespace
}  // namespace ringtree
