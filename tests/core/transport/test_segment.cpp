// Shared memory segments: what a new one is like, what a peer may and may not pass off as one, and that threads share a
// mapping while processes share the bytes. Not here: links inside a segment (test_link.cpp).
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "core/base/error.h"
#include "core/transport/segment.h"

namespace ringtree {
namespace {

size_t num_open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(all), end(all)));
}

std::string refusal(int fd, size_t bytes, bool same_process, uint64_t id) {
  try {
    Segment::open(fd, bytes, same_process, id);
    return "";
  } catch (const WorldError& error) {
    return error.what();
  }
}

constexpr size_t kBytes = 3 * 4096;

TEST(Segment, is_zeroed_and_has_the_size_that_was_asked_for) {
  const auto segment = Segment::create(kBytes, "a test");
  EXPECT_EQ(segment->size(), kBytes);
  EXPECT_TRUE(std::all_of(segment->data(), segment->data() + kBytes, [](std::byte b) { return b == std::byte{0}; }));
}

TEST(Segment, cannot_be_resized_by_anybody) {
  const auto segment = Segment::create(kBytes, "a test");
  EXPECT_NE(ftruncate(segment->fd(), 0), 0);
  EXPECT_EQ(errno, EPERM);
  EXPECT_NE(ftruncate(segment->fd(), 2 * kBytes), 0);
  EXPECT_EQ(errno, EPERM);
  EXPECT_NE(fcntl(segment->fd(), F_ADD_SEALS, F_SEAL_WRITE), 0) << "a peer must not be able to seal it further";
}

TEST(Segment, an_impossible_size_is_an_error_that_says_how_much_for_what) {
  // Beyond what a file can have. Merely too large a size must not be tried: the kernel may end processes to find room.
  const size_t too_much = size_t{1} << 63;
  try {
    Segment::create(too_much, "a test");
    FAIL() << "2^63 bytes were reserved";
  } catch (const WorldError& error) {
    EXPECT_NE(std::string(error.what()).find(std::to_string(too_much)), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("a test"), std::string::npos) << error.what();
  }
}

TEST(Segment, a_rank_in_the_same_process_gets_the_same_mapping) {
  const auto made = Segment::create(kBytes, "a test");
  const auto opened = Segment::open(dup(made->fd()), kBytes, true, made->id());
  EXPECT_EQ(opened->data(), made->data());
}

TEST(Segment, outlives_its_maker_in_the_same_process) {
  auto made = Segment::create(kBytes, "a test");
  made->data()[5] = std::byte{42};
  const int passed = dup(made->fd());
  const uint64_t id = made->id();
  made.reset();
  const auto opened = Segment::open(passed, kBytes, true, id);
  EXPECT_EQ(opened->data()[5], std::byte{42});
}

TEST(Segment, a_rank_in_another_process_sees_the_bytes) {
  const auto made = Segment::create(kBytes, "a test");
  const int child = fork();
  if (child == 0) {
    const auto opened = Segment::open(dup(made->fd()), kBytes, false, made->id());
    if (opened->data() == made->data()) _exit(1);  // a mapping of its own
    opened->data()[kBytes - 1] = std::byte{17};
    _exit(0);
  }
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(made->data()[kBytes - 1], std::byte{17});
}

TEST(Segment, another_size_an_unsealed_file_and_no_file_are_refused) {
  const auto made = Segment::create(kBytes, "a test");
  EXPECT_NE(refusal(dup(made->fd()), kBytes + 1, false, made->id()), "");
  EXPECT_NE(refusal(dup(made->fd()), kBytes - 1, true, made->id()), "") << "also from a thread of this process";

  const int unsealed = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  ASSERT_EQ(ftruncate(unsealed, kBytes), 0);
  EXPECT_NE(refusal(dup(unsealed), kBytes, false, 1), "");
  close(unsealed);

  const int plain = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  ASSERT_GE(plain, 0);
  EXPECT_NE(refusal(plain, std::filesystem::file_size("/proc/self/exe"), false, 1), "");
  EXPECT_NE(refusal(-1, kBytes, false, 1), "");
}

TEST(Segment, leaves_no_descriptor_behind) {
  const size_t before = num_open_descriptors();
  {
    const auto made = Segment::create(kBytes, "a test");
    const auto shared = Segment::open(dup(made->fd()), kBytes, true, made->id());
    const auto mapped = Segment::open(dup(made->fd()), kBytes, false, made->id());
    EXPECT_EQ(num_open_descriptors(), before + 1) << "only the maker needs one, to pass it on";
    refusal(dup(made->fd()), kBytes + 1, false, made->id());
    made->close_descriptor();
    EXPECT_EQ(num_open_descriptors(), before);
    mapped->data()[1] = std::byte{3};
    EXPECT_EQ(made->data()[1], std::byte{3}) << "the memory stays without the descriptor";
  }
  EXPECT_EQ(num_open_descriptors(), before);
}

}  // namespace
}  // namespace ringtree
