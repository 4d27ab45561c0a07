// Tagged messages between hosts that end in the middle: what has come of one is received straight into memory of the
// mailbox or of a receive, which must outlast it. For sanitizers above all.
#include <gtest/gtest.h>

#include <barrier>
#include <thread>

#include "tests/core/engine/posted.h"

namespace ringtree::testing {
namespace {

// Rank 1 sends a large message under tag 1; rank 0 waits for one under `tag` and closes sooner or later.
void close_while_it_comes(int tag, int num_yields) {
  std::barrier both(2);
  expect_all_well(run_on_hosts({0, 1}, [&](Communicator& communicator) {
    Words words(size_t{1} << 19, static_cast<uint64_t>(communicator.rank()));  // 4 MB
    Ending ending =
        communicator.rank() == 0 ? post_recv(communicator, 1, tag, words) : post_send(communicator, 0, 1, words);
    if (communicator.rank() == 0) {
      for (int i = 0; i < num_yields; ++i) std::this_thread::yield();
      communicator.close();
      EXPECT_TRUE(is_done(ending));
      const std::string outcome = outcome_of([&] { end_of(ending); });
      EXPECT_TRUE(outcome.empty() || contains(outcome, "the communicator was closed before the recv")) << outcome;
      if (outcome.empty()) {
        EXPECT_EQ(words, Words(words.size(), 1));
      }
    }
    both.arrive_and_wait();  // the sender does not leave first
    communicator.close();
    if (communicator.rank() == 1) outcome_of([&] { end_of(ending); });  // whichever: all of it may have left before
  }));
}

TEST(HostsMessages, may_be_cut_off_by_their_readers_end) {
  for (int round = 0; round < (kSanitized ? 15 : 30); ++round)
    for (const int tag : {1, 2}) close_while_it_comes(tag, round * round);
}

}  // namespace
}  // namespace ringtree::testing
