// Helper: two ranks of this process that send to each other over a pool of slots, with what each of them can see and a
// book about who owns each slot, kept from outside. What they do with it: test_exchange_pool.cpp,
// test_exchange_traffic.cpp.
#pragma once

#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/transport/link.h"
#include "tests/core/transport/aligned_bytes.h"

namespace ringtree::testing {

inline constexpr size_t kTestSlotBytes = 2'560;
/// Of messages: in lines and in slots.
inline constexpr size_t kTestSizes[] = {0, 8, kInlineBytes, kInlineBytes + 8, kTestSlotBytes};
/// How many links each side sends over.
inline constexpr std::array<int, 2> kTestLinks[] = {{1, 1}, {1, 2}, {2, 1}, {2, 2}, {1, 3}, {3, 1}, {2, 3}, {3, 3}};

/// The two ranks are sides 0 (the lower) and 1.
struct ExchangeWorld {
  struct Side {
    std::unique_ptr<ExchangeSide> books;
    std::vector<std::unique_ptr<SendEnd>> send;  // by link
    std::vector<SendEnd*> own_links;
    std::vector<std::unique_ptr<RecvEnd>> recv;  // of the peer's links
    std::vector<std::byte*> memory;              // of the links that this side sends over
    Doorbell bell;
  };

  /// `limits`: how many foreign slots each side keeps, where it is not what exchange_side() says.
  explicit ExchangeWorld(std::array<int, 2> links_of_sides, bool are_fenced = true,
                         std::optional<std::array<int, 2>> limits = {})
      : num_links(links_of_sides), fenced(are_fenced) {
    pool = {pool_slots(num_links[0], num_links[1]), kTestSlotBytes};
    pool_memory = aligned_bytes(pool.bytes());
    construct_pool(pool_memory.get(), pool);
    geometry.slot_bytes = 0;
    for (size_t side = 0; side < 2; ++side) {
      sides[side].books = limits ? std::make_unique<ExchangeSide>(ring_of(side), entries_of(side), ring_of(1 - side),
                                                                  entries_of(1 - side), pool.num_slots,
                                                                  side == 0 ? 0 : pool.num_slots / 2, (*limits)[side])
                                 : exchange_side(pool_memory.get(), pool, side == 0, num_links[side]);
      for (int link = 0; link < num_links[side]; ++link) {
        link_memory.push_back(aligned_bytes(geometry.bytes()));
        construct_link(link_memory.back().get(), geometry);
        sides[side].memory.push_back(link_memory.back().get());
      }
    }
    for (size_t side = 0; side < 2; ++side) {
      Side &own = sides[side], &peer = sides[1 - side];
      const LinkPool at{own.books.get(), slot(0), kTestSlotBytes, &own.own_links};
      for (std::byte* memory : own.memory) {
        own.send.push_back(
            std::make_unique<SendEnd>(make_send_end(memory, geometry, at, {{&peer.bell, false}}, fenced, {})));
        own.own_links.push_back(own.send.back().get());
      }
      for (std::byte* memory : peer.memory)
        own.recv.push_back(std::make_unique<RecvEnd>(
            make_recv_end(memory, geometry, 0, at, &peer.bell, 1 - static_cast<int>(side), nullptr, fenced)));
    }
  }

  using Ring = BasicReturnRing<StdAtomics>;
  /// The slots that `side` gave back.
  Ring* ring_of(size_t side) { return reinterpret_cast<Ring*>(pool_memory.get() + side * pool.ring_bytes()); }
  Ring::Entry* entries_of(size_t side) { return reinterpret_cast<Ring::Entry*>(ring_of(side) + 1); }
  uint64_t num_given(size_t side) { return ring_of(side)->num_given.load(std::memory_order_acquire); }
  LinkReader* reader_of(size_t side, size_t link) {
    return reinterpret_cast<LinkReader*>(sides[side].memory[link] + geometry.readers_at());
  }
  std::byte* slot(int index) {
    return pool_memory.get() + pool.slots_at() + static_cast<size_t>(index) * kTestSlotBytes;
  }

  const std::array<int, 2> num_links;
  const bool fenced;
  PoolGeometry pool;
  LinkGeometry geometry;
  AlignedBytes pool_memory;
  std::vector<AlignedBytes> link_memory;
  std::array<Side, 2> sides;
};

/// What a message holds: every word tells side, link and number, so that one that is lost, repeated, torn or
/// overwritten shows.
inline uint64_t word_of(size_t side, size_t link, uint64_t message, size_t index) {
  return (message * 64 + index * 8 + link * 2 + side + 1) * 0x9e3779b97f4a7c15u;
}
inline void write_words(std::byte* to, size_t bytes, size_t side, size_t link, uint64_t message) {
  for (size_t i = 0; i < bytes / sizeof(uint64_t); ++i) {
    const uint64_t word = word_of(side, link, message, i);
    std::memcpy(to + i * sizeof word, &word, sizeof word);
  }
}
inline bool words_are(const std::byte* from, size_t bytes, size_t side, size_t link, uint64_t message) {
  for (size_t i = 0; i < bytes / sizeof(uint64_t); ++i) {
    uint64_t word;
    std::memcpy(&word, from + i * sizeof word, sizeof word);
    if (word != word_of(side, link, message, i)) return false;
  }
  return true;
}

}  // namespace ringtree::testing
