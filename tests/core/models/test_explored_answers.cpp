// Sums that a peer writes into the buffer of the rank whose operand it read there (core/engine/direct.h), on the
// explorer: the owner sees the sum whole once it has the answer, and may then write there at once.
#include "tests/models/programs/answered.h"
#include "tests/models/programs/expect.h"

namespace ringtree::explorer {
namespace {

TEST(ExploredAnswers, are_seen_whole_and_the_place_is_the_owners_again) {
  for (const bool fenced : {false, true}) {
    expect_right(explore_answered({.fenced = fenced}));
    expect_right(explore_answered({.fenced = fenced, .release_before_writing = true}));
  }
}

TEST(ExploredAnswers, must_not_come_before_the_sum) {
  expect_unordered(explore_answered({.answer_before_writing = true}));
}

TEST(ExploredAnswers, must_be_waited_for) {
  expect_fault(explore_answered({.overwrite_after_release = true}), Fault::race);
}

TEST(ExploredAnswers, rest_on_flags_that_are_stored_with_release_and_loaded_with_acquire) {
  for (const bool fenced : {false, true})
    for (const Access access : {Access::store, Access::load})
      expect_fault(explore_answered({.fenced = fenced}, {.weakenings = {{.name = "flag", .access = access}}}),
                   Fault::race);
}

}  // namespace
}  // namespace ringtree::explorer
