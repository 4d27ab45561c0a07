// Memory for the user's arrays that other ranks can map: allocating it, finding out whether a pointer lies in it, and
// the table of a peer's buffers. Collectives over such memory: tests/core/engine/test_shared_operands.cpp.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "core/transport/shared_buffer.h"
#include "core/transport/shared_table.h"
#include "core/transport/withdrawn_buffer.h"

namespace ringtree {
namespace {

TEST(SharedBuffer, is_zeroed_and_begins_on_a_page) {
  for (size_t bytes : {0, 1, 4096, 100'000}) {
    const auto buffer = allocate_shared(bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->data()) % 4096, 0u);
    ASSERT_GE(buffer->size(), bytes);
    for (size_t i = 0; i < bytes; ++i) ASSERT_EQ(buffer->data()[i], std::byte{0});
  }
}

TEST(SharedBuffer, is_found_for_what_lies_wholly_in_it) {
  const auto first = allocate_shared(10'000), second = allocate_shared(20'000);
  const std::vector<std::byte> ordinary(100);
  for (const auto& buffer : {first, second}) {
    EXPECT_EQ(find_shared(buffer->data(), buffer->size()), buffer);
    EXPECT_EQ(find_shared(buffer->data() + 100, 1), buffer);
    EXPECT_EQ(find_shared(buffer->data() + buffer->size() - 1, 1), buffer);
    EXPECT_EQ(find_shared(buffer->data(), buffer->size() + 1), nullptr);
    EXPECT_EQ(find_shared(buffer->data() + 1, buffer->size()), nullptr);
  }
  EXPECT_EQ(find_shared(ordinary.data(), ordinary.size()), nullptr);
}

TEST(SharedBuffer, is_forgotten_when_its_last_owner_goes) {
  auto buffer = allocate_shared(10'000);
  const std::byte* const at = buffer->data();
  const uint64_t while_there = shared_generation();
  auto owner = find_shared(at, 1);
  buffer = nullptr;
  EXPECT_EQ(find_shared(at, 1), owner) << "whoever found it owns it, too";
  EXPECT_EQ(shared_generation(), while_there);
  owner = nullptr;
  EXPECT_EQ(find_shared(at, 1), nullptr);
  EXPECT_NE(shared_generation(), while_there) << "else what was found before would be believed";
  const uint64_t before = shared_generation();
  const auto next = allocate_shared(1);
  EXPECT_NE(shared_generation(), before);
  EXPECT_NE(shared_generation(), 0u);
}

// Whoever mapped it before, as another process does, writes elsewhere from now on.
TEST(SharedBuffer, is_its_owners_alone_once_withdrawn) {
  constexpr size_t kPage = 4096;
  const auto buffer = allocate_shared(5 * kPage + 10);
  const auto at_peer = Segment::open(dup(buffer->fd()), buffer->size(), false, buffer->id());
  std::fill_n(buffer->data(), buffer->size(), std::byte{1});
  const uint64_t before = shared_generation();
  withdraw_shared(buffer->data() + kPage + 5, 2 * kPage);  // its pages: 1, 2 and 3
  EXPECT_EQ(find_shared(buffer->data(), 1), nullptr);
  EXPECT_NE(shared_generation(), before);
  for (size_t i = 0; i < buffer->size(); ++i) ASSERT_EQ(buffer->data()[i], std::byte{1}) << "the contents stay";
  std::fill_n(at_peer->data(), buffer->size(), std::byte{2});
  for (size_t i = 0; i < buffer->size(); ++i)
    ASSERT_EQ(buffer->data()[i], i / kPage >= 1 && i / kPage <= 3 ? std::byte{1} : std::byte{2}) << i;
  std::fill_n(buffer->data(), buffer->size(), std::byte{3});
  EXPECT_EQ(at_peer->data()[2 * kPage], std::byte{2});
}

TEST(SharedBuffer, is_withdrawn_to_its_end_and_ordinary_memory_never) {
  const auto buffer = allocate_shared(10'000);
  const auto at_peer = Segment::open(dup(buffer->fd()), buffer->size(), false, buffer->id());
  std::vector<std::byte> ordinary(100);
  withdraw_shared(ordinary.data(), ordinary.size());
  EXPECT_EQ(find_shared(buffer->data(), 10'000), buffer);
  withdraw_shared(buffer->data(), buffer->size());
  withdraw_shared(buffer->data(), buffer->size());
  at_peer->data()[9'999] = std::byte{2};
  EXPECT_EQ(buffer->data()[9'999], std::byte{0});
}

TEST(SharedBuffer, may_be_allocated_found_and_given_back_by_many_threads) {
  std::vector<std::thread> threads;
  std::atomic<int> num_right{0};
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        const auto buffer = allocate_shared(5'000);
        num_right += find_shared(buffer->data() + 1'000, 4'000) == buffer;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(num_right, 200);
}

using Found = SharedTable::Found;

TEST(SharedTable, finds_places_in_buffers_that_it_was_told_of) {
  SharedTable table;
  std::vector<std::byte> memory(1'000);
  const std::byte* at = nullptr;
  EXPECT_EQ(table.find({256, 0}, 1, at), Found::not_yet) << "the message came before the word of its buffer";
  table.set(256, memory.data(), memory.size());
  EXPECT_EQ(table.find({256, 0}, 1'000, at), Found::here);
  EXPECT_EQ(at, memory.data());
  EXPECT_EQ(table.find({256, 990}, 10, at), Found::here);
  EXPECT_EQ(at, memory.data() + 990);
  EXPECT_EQ(table.find({256, 1'000}, 0, at), Found::here);
}

TEST(SharedTable, a_place_that_does_not_exist_is_nonsense) {
  SharedTable table;
  std::vector<std::byte> memory(1'000);
  const std::byte* at = nullptr;
  table.set(300, memory.data(), memory.size());
  for (const SharedPlace& place : {SharedPlace{300, 1'001}, {300, 999}, {300, ~uint64_t{0}}, {300, ~uint64_t{0} - 1}})
    EXPECT_EQ(table.find(place, 2, at), Found::nonsense) << place.offset;
  EXPECT_EQ(table.find({300, 1}, ~size_t{0}, at), Found::nonsense);
  EXPECT_EQ(at, nullptr);
}

// Region r and region r + 256 share an entry; the number tells which of them is in it.
TEST(SharedTable, numbers_are_never_taken_for_each_other) {
  SharedTable table;
  std::vector<std::byte> older(100), newer(100);
  const std::byte* at = nullptr;
  for (uint64_t region : {uint64_t{0}, uint64_t{7}, uint64_t{255}}) {
    table.set(region, older.data(), older.size());
    EXPECT_EQ(table.find({region + kMaxSharedRegions, 0}, 1, at), Found::not_yet);
    table.clear(region);
    EXPECT_EQ(table.find({region, 0}, 1, at), Found::not_yet);
    table.set(region + kMaxSharedRegions, newer.data(), newer.size());
    EXPECT_EQ(table.find({region, 0}, 1, at), Found::not_yet);
    EXPECT_EQ(table.find({region + kMaxSharedRegions, 0}, 1, at), Found::here);
    EXPECT_EQ(at, newer.data());
  }
}

}  // namespace
}  // namespace ringtree
