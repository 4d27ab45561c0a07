// Tests of stream_copy: every variant copies exactly the bytes asked for, at every alignment of either side, and writes
// none beside them; after the fence a release store publishes them. Not its speed.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "core/base/stream_copy.h"

namespace ringtree {
namespace {

constexpr size_t kLine = 64;
constexpr size_t kCanary = 2 * kLine;  // on both sides: a line too many or too far shows
constexpr unsigned char kUntouched = 0xA5;

// Memory that starts at a line, so that shifts into it are alignments.
struct Lines {
  explicit Lines(size_t bytes, unsigned char fill) : bytes_(bytes + kLine, fill) {
    const size_t misaligned = reinterpret_cast<uintptr_t>(bytes_.data()) % kLine;
    start = bytes_.data() + (kLine - misaligned) % kLine;
  }
  unsigned char* start;

 private:
  std::vector<unsigned char> bytes_;
};

// Never kUntouched, and not the same a line, a page or 64 KiB further on.
unsigned char byte_at(size_t i) { return static_cast<unsigned char>((i + i / kLine + i / 4096) % 163); }

class Source {
 public:
  explicit Source(size_t bytes) : lines_(bytes, 0) {
    for (size_t i = 0; i < bytes; ++i) lines_.start[i] = byte_at(i);
  }
  const unsigned char* at(size_t shift) const { return lines_.start + shift; }

 private:
  Lines lines_;
};

using Copy = void (*)(void* out, const void* in, size_t bytes);

// Empty if the copy is right, else what is wrong with it.
std::string check_copy(Copy copy, const unsigned char* from, size_t out_shift, size_t bytes, Lines& area) {
  unsigned char* out = area.start + kCanary + out_shift;
  std::memset(out - kCanary, kUntouched, bytes + 2 * kCanary);
  copy(out, from, bytes);
  stream_fence();
  if (bytes > 0 && std::memcmp(out, from, bytes) != 0) return "wrong bytes";
  static const std::vector<unsigned char> untouched(kCanary, kUntouched);
  const bool intact = std::memcmp(out - kCanary, untouched.data(), kCanary) == 0 &&
                      std::memcmp(out + bytes, untouched.data(), kCanary) == 0;
  return intact ? "" : "wrote beside the target";
}

class StreamCopy : public ::testing::TestWithParam<StreamCopyVariant> {};

TEST_P(StreamCopy, EveryAlignmentAndSmallSize) {
  const Source source(512);
  Lines area(1024, 0);
  for (size_t in_shift = 0; in_shift <= kLine; ++in_shift)
    for (size_t out_shift = 0; out_shift <= kLine; ++out_shift)
      for (size_t bytes = 0; bytes <= 300; ++bytes)
        ASSERT_EQ(check_copy(GetParam().copy, source.at(in_shift), out_shift, bytes, area), "")
            << bytes << " bytes, source at " << in_shift << ", target at " << out_shift << " past a line";
}

TEST_P(StreamCopy, LargeSizes) {
  const Source source((size_t{1} << 20) + 1024);
  Lines area((size_t{1} << 20) + 1024, 0);
  for (size_t bytes : {size_t{4095}, size_t{4096}, size_t{65536 + 17}, (size_t{1} << 20) - 1, (size_t{1} << 20) + 63})
    for (size_t in_shift : {0, 1, 17, 32, 63})
      for (size_t out_shift : {0, 1, 16, 31, 63})
        ASSERT_EQ(check_copy(GetParam().copy, source.at(in_shift), out_shift, bytes, area), "")
            << bytes << " bytes, source at " << in_shift << ", target at " << out_shift << " past a line";
}

TEST_P(StreamCopy, NothingFromNowhere) { GetParam().copy(nullptr, nullptr, 0); }

INSTANTIATE_TEST_SUITE_P(Variants, StreamCopy,
                         ::testing::ValuesIn(stream_copy_variants().begin(), stream_copy_variants().end()),
                         [](const auto& of) { return std::string(of.param.name); });

TEST(StreamCopyDispatch, CopiesLikeItsVariants) {
  const Source source(10'000);
  Lines area(11'000, 0);
  for (size_t bytes : {0, 1, 63, 64, 127, 128, 9'999})
    EXPECT_EQ(check_copy(stream_copy, source.at(1), 3, bytes, area), "") << bytes;
}

// The pattern of the header: many rounds of copy, fence, flag, whose reader must never find an older round's bytes.
TEST(StreamCopyDispatch, FenceThenFlagPublishes) {
  constexpr size_t kBytes = 8 * kLine + 40;  // whole lines and both ends
  constexpr unsigned kRounds = 2'000;
  Lines slot(kBytes + kLine, 0);
  unsigned char* shared = slot.start + 20;
  std::atomic<unsigned> full{0}, read{0};
  std::thread writer([&] {
    std::vector<unsigned char> mine(kBytes);
    for (unsigned round = 1; round <= kRounds; ++round) {
      while (read.load(std::memory_order_acquire) != round - 1) std::this_thread::yield();  // pairs with the reader's
      std::memset(mine.data(), static_cast<int>(round % 251), kBytes);
      stream_copy(shared, mine.data(), kBytes);
      stream_fence();
      full.store(round, std::memory_order_release);  // pairs with the reader's acquire
    }
  });
  unsigned wrong = 0;
  for (unsigned round = 1; round <= kRounds; ++round) {
    while (full.load(std::memory_order_acquire) != round) std::this_thread::yield();  // pairs with the writer's release
    for (size_t i = 0; i < kBytes; ++i) wrong += shared[i] != round % 251;
    read.store(round, std::memory_order_release);  // pairs with the writer's acquire
  }
  writer.join();
  EXPECT_EQ(wrong, 0u);
}

// The check itself must fail: a copy that forgets a byte, one that shifts, one that writes a byte too many on each
// side.
TEST(CheckCopy, CatchesWrongCopies) {
  const Source source(512);
  Lines area(1024, 0);
  const auto forgets = [](void* out, const void* in, size_t bytes) { std::memcpy(out, in, bytes - 1); };
  const auto shifts = [](void* out, const void* in, size_t bytes) {
    std::memcpy(out, static_cast<const char*>(in) + kLine, bytes);
  };
  const auto too_far = [](void* out, const void* in, size_t bytes) { std::memcpy(out, in, bytes + 1); };
  const auto too_early = [](void* out, const void* in, size_t bytes) {
    std::memcpy(out, in, bytes);
    *(static_cast<char*>(out) - 1) = 0;
  };
  EXPECT_EQ(check_copy(forgets, source.at(0), 5, 200, area), "wrong bytes");
  EXPECT_EQ(check_copy(shifts, source.at(0), 5, 200, area), "wrong bytes");
  EXPECT_EQ(check_copy(too_far, source.at(0), 5, 200, area), "wrote beside the target");
  EXPECT_EQ(check_copy(too_early, source.at(0), 5, 200, area), "wrote beside the target");
}

}  // namespace
}  // namespace ringtree
