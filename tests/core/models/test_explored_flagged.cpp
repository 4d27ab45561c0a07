// The protocols ll and ll128 on the explorer: a message is there when all its flags are, and only then; what they rest
// on, taken away, is missed. Their arithmetic is tests/core/protocol's business.
#include "tests/models/programs/expect.h"
#include "tests/models/programs/flagged.h"

namespace ringtree::explorer {
namespace {

constexpr auto polling = explore_flagged<SilentBell>;
constexpr auto sleeping = explore_flagged<ExploredBell>;

TEST(ExploredFlagged, every_message_arrives_once_whole_and_in_order) {
  for (const Flagged protocol : {Flagged::ll, Flagged::ll128})
    for (const bool fenced : {false, true}) {
      expect_right(polling({.protocol = protocol, .num_messages = 5, .fenced = fenced}, {}));
    }
}

TEST(ExploredFlagged, no_wake_up_is_lost) {
  for (const Flagged protocol : {Flagged::ll, Flagged::ll128}) {
    expect_right(sleeping({.protocol = protocol, .num_messages = 2, .fenced = true}, {}));
    expect_right(sleeping({.protocol = protocol, .num_messages = 1, .fenced = false}, {.fences_others = true}));
  }
}

TEST(ExploredFlagged, a_line_s_flag_must_be_stored_with_release_and_loaded_with_acquire) {
  for (const Access access : {Access::store, Access::load})
    expect_fault(polling({.protocol = Flagged::ll128}, {.weakenings = {{.name = "line flag", .access = access}}}),
                 Fault::race);
}

// Each word of ll is one store, so it needs no order to be whole.
TEST(ExploredFlagged, a_word_needs_no_order) {
  for (const Access access : {Access::store, Access::load})
    expect_right(polling({.protocol = Flagged::ll}, {.weakenings = {{.name = "word", .access = access}}}));
}

TEST(ExploredFlagged, a_flag_must_not_come_before_its_payload) {
  expect_unordered(polling({.protocol = Flagged::ll128, .flag_before_payload = true}, {}));
}

TEST(ExploredFlagged, all_flags_must_be_looked_at) {
  expect_fault(polling({.protocol = Flagged::ll, .first_flag_only = true}, {}), Fault::requirement);
  expect_unordered(polling({.protocol = Flagged::ll128, .first_flag_only = true}, {}));
}

TEST(ExploredFlagged, flags_must_not_repeat_while_the_slot_s_last_one_may_be_there) {
  expect_fault(polling({.protocol = Flagged::ll, .num_flags = kSlots}, {}), Fault::requirement);
  expect_right(polling({.protocol = Flagged::ll, .num_flags = kSlots + 1}, {}));
}

}  // namespace
}  // namespace ringtree::explorer
