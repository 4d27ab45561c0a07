// Messages from another host that are received where a placer says: that nothing else is written, and what becomes of
// those under way when it has no more to say. Which messages a call has placed: tests/core/engine/test_link_placer.cpp.
#include <sys/mman.h>

#include <algorithm>
#include <set>

#include "tests/core/transport/tcp_ends.h"

namespace ringtree::testing {
namespace {

constexpr std::byte kUntouched{0xa5};

/// A place for some messages, side by side in memory of its own.
struct Places final : Placer {
  explicit Places(std::set<uint64_t> numbers) : placed(std::move(numbers)) {}
  std::byte* place_for(uint64_t number, size_t bytes, uint32_t fingerprint) override {
    asked.push_back({number, bytes, fingerprint});
    if (!placed.contains(number)) return nullptr;
    return elsewhere ? elsewhere : at(number);
  }
  std::byte* at(uint64_t number) { return memory.data() + number * kTcpSlotBytes; }
  bool untouched(uint64_t number, size_t from = 0) {
    return std::all_of(at(number) + from, at(number + 1), [](std::byte each) { return each == kUntouched; });
  }

  struct Question {
    uint64_t number;
    size_t bytes;
    uint32_t fingerprint;
    bool operator==(const Question&) const = default;
  };
  std::set<uint64_t> placed;
  std::byte* elsewhere = nullptr;  // if set, there
  std::vector<Question> asked;
  std::vector<std::byte> memory = std::vector<std::byte>(8 * kTcpSlotBytes, kUntouched);
};

struct PlacedLink : RawPeer {
  explicit PlacedLink(std::set<uint64_t> numbers) : places(std::move(numbers)) { end().placement()->ask(&places); }
  RecvEnd& end() { return *receivers[0]->end; }
  /// The peer writes the first `num_bytes` of what is left of its messages, and the port reads them.
  void let_come(size_t num_bytes) {
    num_bytes = std::min(num_bytes, to_come.size());
    write(to_come.substr(0, num_bytes));
    let_it_read(num_come += num_bytes);
    to_come.erase(0, num_bytes);
    ASSERT_TRUE(port().faults().empty()) << port().faults()[0].reason;
  }
  void add(size_t bytes) {
    to_come += RawPeer::bytes(frame(num_added, 0, num_added, bytes));
    ++num_added;
  }
  bool receive(size_t bytes) { return receivers[0]->receive(bytes); }

  Places places;
  std::string to_come;
  size_t num_come = 0;
  uint32_t num_added = 0;
};

TEST(Placement, is_asked_for_once_a_message_that_does_not_fit_into_a_line) {
  PlacedLink link({});
  std::vector<Places::Question> wanted;
  for (uint64_t m = 0; m < 6; ++m) {
    link.add(bytes_of(m));
    if (bytes_of(m) > kInlineBytes) wanted.push_back({m, bytes_of(m), fingerprint_of(0, m)});
  }
  while (!link.to_come.empty()) link.let_come(700);  // some arrive in parts
  EXPECT_EQ(link.places.asked, wanted);
  for (uint64_t m = 0; m < 6; ++m) EXPECT_TRUE(link.receive(bytes_of(m)));
}

TEST(Placement, puts_messages_where_they_belong_and_leaves_the_rest_alone) {
  for (const size_t at_a_time : {size_t{50}, size_t{2'000}, size_t{100'000}}) {
    PlacedLink link({1, 3});
    const size_t sizes[] = {2'000, 2'000, kTcpSlotBytes, kTcpSlotBytes - 1, 8};
    for (const size_t size : sizes) link.add(size);
    while (!link.to_come.empty()) link.let_come(at_a_time);
    for (uint64_t m = 0; m < std::size(sizes); ++m) {
      ASSERT_TRUE(link.receive(sizes[m])) << m;
      EXPECT_EQ(link.end().data() == link.places.at(m), link.places.placed.contains(m)) << m;
      EXPECT_TRUE(link.places.untouched(m, link.places.placed.contains(m) ? sizes[m] : 0)) << m;
    }
  }
}

TEST(Placement, ends_in_the_middle_of_a_message_without_another_byte) {
  for (const size_t come : {size_t{0}, size_t{1}, size_t{3'000}, kTcpSlotBytes - 1}) {
    PlacedLink link({0, 1});
    link.add(2'000);
    link.add(kTcpSlotBytes);
    link.let_come(kTcpHeaderBytes + 2'000 + kTcpHeaderBytes + come);
    link.end().placement()->ask(nullptr);
    std::fill(link.places.at(1), link.places.at(2), kUntouched);  // it is somebody else's from now on
    link.add(100);
    link.let_come(link.to_come.size());
    EXPECT_TRUE(link.places.untouched(1)) << come;
    EXPECT_TRUE(link.receive(2'000)) << "it was whole";
    EXPECT_TRUE(link.receive(kTcpSlotBytes)) << come;
    EXPECT_TRUE(link.receive(100));
    EXPECT_EQ(link.places.asked.size(), 2u) << "nobody is asked any more";
  }
}

TEST(Placement, goes_on_with_another_placer) {
  PlacedLink link({0});
  Places next({1});
  for (int i = 0; i < 2; ++i) link.add(1'500);
  link.let_come(kTcpHeaderBytes + 1'500);
  ASSERT_TRUE(link.receive(1'500));
  link.end().placement()->ask(nullptr);
  link.end().placement()->ask(&next);
  link.let_come(kTcpHeaderBytes + 1'500);
  ASSERT_TRUE(link.receive(1'500));
  EXPECT_EQ(link.end().data(), next.at(1));
}

TEST(Placement, in_memory_that_cannot_be_written_says_so) {
  PlacedLink link({0});
  const size_t page = 4'096;
  void* const read_only = ::mmap(nullptr, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(read_only, MAP_FAILED);
  link.places.elsewhere = static_cast<std::byte*>(read_only);
  const std::string bytes = RawPeer::bytes(RawPeer::frame(0, 0, 0, 4'000));
  link.write(bytes.substr(0, kTcpHeaderBytes));
  link.let_it_read(kTcpHeaderBytes);
  link.write(bytes.substr(kTcpHeaderBytes));
  EXPECT_EQ(link.fault().reason, "a buffer that this rank receives into cannot be written");
  ::munmap(read_only, page);
}

// A sender on this host writes the line itself, and could name any place.
TEST(Placement, is_nothing_that_a_line_may_say_on_a_link_without_it) {
  LinkSender sender(3);
  RecvEnd reader = make_recv_end(sender.memory.get(), sender.geometry, 0, {}, &sender.reader_bell, 1, nullptr, true);
  Line* const lines = reinterpret_cast<Line*>(sender.memory.get());
  lines[0].flag = MessageFlag::make(fingerprint_of(3, 0), MessageFlag::kPlaced, 0);
  ASSERT_TRUE(reader.has_message());
  EXPECT_EQ(reader.locate(2'000), SharedTable::Found::nonsense);
}

}  // namespace
}  // namespace ringtree::testing
