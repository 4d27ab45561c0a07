// The real one-way link on the explorer: in whatever order the ranks run and whatever the memory model lets them see,
// each message arrives once, whole and in order. And each thing that this rests on, taken away, is missed.
#include "tests/models/programs/expect.h"
#include "tests/models/programs/one_way.h"

namespace ringtree::explorer {
namespace {

constexpr auto one_reader = explore_one_way<1, SilentBell>;
constexpr auto two_readers = explore_one_way<2, SilentBell>;

TEST(ExploredLink, every_message_arrives_once_whole_and_in_order) {
  for (const size_t bytes : {kSmall, kLarge})
    for (const bool fenced : {false, true}) {
      expect_right(one_reader({.num_messages = 7, .bytes = bytes, .fenced = fenced}, {}));
      expect_right(two_readers({.num_messages = 4, .bytes = bytes, .fenced = fenced}, {}));
    }
}

TEST(ExploredLink, ends_that_know_that_all_messages_lie_in_lines_need_no_more) {
  const LinkUse in_lines = {.in_lines = true};
  for (const bool fenced : {false, true}) {
    expect_right(one_reader({.num_messages = 7, .bytes = kSmall, .fenced = fenced, .use = in_lines}, {}));
    expect_right(two_readers({.num_messages = 4, .bytes = kSmall, .fenced = fenced, .use = in_lines}, {}));
    for (const Access access : {Access::store, Access::load})
      expect_fault(one_reader({.bytes = kSmall, .fenced = fenced, .use = in_lines},
                              {.weakenings = {{.name = "flag", .access = access}}}),
                   Fault::race);
  }
  for (const Access access : {Access::store, Access::load})
    expect_fault(
        one_reader({.bytes = kSmall, .use = in_lines}, {.weakenings = {{.name = "released", .access = access}}}),
        Fault::race);
  expect_fault(one_reader({.bytes = kSmall, .use = {.release_before_reading = true, .in_lines = true}}, {}),
               Fault::race);
  expect_unordered(one_reader({.bytes = kSmall, .use = {.flag_before_payload = true, .in_lines = true}}, {}));
}

TEST(ExploredLink, non_temporal_stores_with_their_fence_are_as_good_as_others) {
  expect_right(one_reader({.use = {.stream = true}}, {}));
}

TEST(ExploredLink, without_its_store_fence_a_non_temporal_store_races) {
  expect_fault(one_reader({.use = {.stream = true}}, {.without_store_fences = true}), Fault::race);
}

TEST(ExploredLink, a_flag_must_be_stored_with_release_and_loaded_with_acquire) {
  for (const size_t bytes : {kSmall, kLarge})
    for (const bool fenced : {false, true})
      for (const Access access : {Access::store, Access::load})
        expect_fault(
            one_reader({.bytes = bytes, .fenced = fenced}, {.weakenings = {{.name = "flag", .access = access}}}),
            Fault::race);
}

TEST(ExploredLink, a_release_must_be_stored_with_release_and_loaded_with_acquire) {
  for (const size_t bytes : {kSmall, kLarge})
    for (const Access access : {Access::store, Access::load})
      expect_fault(one_reader({.bytes = bytes}, {.weakenings = {{.name = "released", .access = access}}}), Fault::race);
}

TEST(ExploredLink, a_flag_must_not_come_before_the_payload) {
  for (const size_t bytes : {kSmall, kLarge})
    expect_unordered(one_reader({.bytes = bytes, .use = {.flag_before_payload = true}}, {}));
}

TEST(ExploredLink, a_message_must_not_be_released_before_it_is_read) {
  for (const size_t bytes : {kSmall, kLarge}) {
    expect_fault(one_reader({.bytes = bytes, .use = {.release_before_reading = true}}, {}), Fault::race);
    expect_fault(two_readers({.bytes = bytes, .use = {.release_before_reading = true}}, {}), Fault::race);
  }
}

TEST(ExploredLink, a_message_may_stay_where_it_is_until_all_have_consumed_it) {
  for (const bool fenced : {false, true}) {
    expect_right(one_reader({.fenced = fenced, .use = {.in_place = true}}, {}));
    expect_right(two_readers({.num_messages = 3, .fenced = fenced, .use = {.in_place = true}}, {}));
  }
  expect_fault(one_reader({.use = {.in_place = true, .overwrite_at_once = true}}, {}), Fault::race);
}

}  // namespace
}  // namespace ringtree::explorer
