// FrameReader on real socket pairs: frames in pieces, descriptors with their frames, and peers that are not ours.
// Decoding of single headers is in test_control_message.cpp.
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cstring>
#include <random>

#include "core/bootstrap/frame_reader.h"
#include "tests/core/bootstrap/rank_threads.h"

namespace ringtree::testing {
namespace {

using State = FrameReader::State;

class FrameReaderTest : public ::testing::Test {
 protected:
  FrameReaderTest() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    ours_.reset(ends[0]);
    theirs_.reset(ends[1]);
  }

  void send(std::string_view bytes, const std::vector<int>& fds = {}) {
    iovec place{const_cast<char*>(bytes.data()), bytes.size()};
    alignas(cmsghdr) char control[CMSG_SPACE(8 * sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &place;
    message.msg_iovlen = 1;
    if (!fds.empty()) {
      message.msg_control = control;
      message.msg_controllen = CMSG_SPACE(fds.size() * sizeof(int));
      cmsghdr* item = CMSG_FIRSTHDR(&message);
      item->cmsg_level = SOL_SOCKET;
      item->cmsg_type = SCM_RIGHTS;
      item->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
      std::memcpy(CMSG_DATA(item), fds.data(), fds.size() * sizeof(int));
    }
    ASSERT_EQ(::sendmsg(theirs_.get(), &message, 0), static_cast<ssize_t>(bytes.size()));
  }

  // Reads until there is no more.
  State drain() {
    State state = State::more;
    while (state == State::more) state = reader_.read(ours_.get(), messages_);
    return state;
  }

  Fd ours_;
  Fd theirs_;
  FrameReader reader_;
  std::vector<ControlMessage> messages_;
};

Fd new_file() { return Fd(::memfd_create("test", MFD_CLOEXEC)); }

ino_t inode(int fd) {
  struct stat info{};
  return ::fstat(fd, &info) == 0 ? info.st_ino : 0;
}

TEST_F(FrameReaderTest, assembles_frames_from_any_pieces) {
  std::string stream;
  std::vector<std::string> payloads;
  for (const size_t num_bytes : {0, 1, 15, 16, 17, 3000}) {
    payloads.push_back(std::string(num_bytes, static_cast<char>('a' + payloads.size())));
    stream += encode_control_frame(ControlType::link, payloads.back(), false);
  }
  for (size_t piece = 1; piece < stream.size(); piece += 1 + piece / 3) {
    messages_.clear();
    for (size_t at = 0; at < stream.size(); at += piece) {
      send(std::string_view(stream).substr(at, piece));
      ASSERT_EQ(drain(), State::idle);
    }
    ASSERT_EQ(messages_.size(), payloads.size()) << piece;
    for (size_t i = 0; i < payloads.size(); ++i) EXPECT_EQ(messages_[i].payload, payloads[i]);
  }
}

TEST_F(FrameReaderTest, gives_each_descriptor_to_its_frame) {
  const Fd a = new_file();
  const Fd b = new_file();
  send(encode_control_frame(ControlType::link, "none", false));
  send(encode_control_frame(ControlType::link, "a", true), {a.get()});
  send(encode_control_frame(ControlType::abort, "none", false));
  send(encode_control_frame(ControlType::link, std::string(40'000, 'b'), true), {b.get()});
  EXPECT_EQ(drain(), State::idle);
  ASSERT_EQ(messages_.size(), 4u);
  EXPECT_FALSE(messages_[0].descriptor.valid());
  EXPECT_EQ(inode(messages_[1].descriptor.get()), inode(a.get()));
  EXPECT_FALSE(messages_[2].descriptor.valid());
  EXPECT_EQ(inode(messages_[3].descriptor.get()), inode(b.get()));
}

TEST_F(FrameReaderTest, descriptors_that_do_not_fit_their_frames_break_it) {
  const Fd file = new_file();
  const auto breaks = [&](const std::function<void()>& attack) {
    FrameReaderTest::reader_ = FrameReader();
    attack();
    return drain() == State::broken;
  };
  EXPECT_TRUE(breaks([&] { send(encode_control_frame(ControlType::link, "announced, not sent", true)); }));
  EXPECT_TRUE(breaks([&] { send(encode_control_frame(ControlType::link, "not announced", false), {file.get()}); }));
  EXPECT_TRUE(breaks([&] { send(encode_control_frame(ControlType::link, "2", true), {file.get(), file.get()}); }));
  EXPECT_TRUE(
      breaks([&] { send(encode_control_frame(ControlType::link, "8", true), std::vector<int>(8, file.get())); }));
}

TEST_F(FrameReaderTest, leaks_no_descriptor_of_an_attack) {
  const Fd file = new_file();
  const size_t before = num_open_descriptors();
  for (int i = 0; i < 50; ++i) {
    FrameReader reader;
    send(encode_control_frame(ControlType::link, "x", false), std::vector<int>(2, file.get()));
    EXPECT_EQ(reader.read(ours_.get(), messages_), State::broken);
  }
  messages_.clear();
  EXPECT_EQ(num_open_descriptors(), before);
}

TEST_F(FrameReaderTest, an_end_between_frames_is_closed_and_within_one_is_broken) {
  const std::string frame = encode_control_frame(ControlType::abort, "reason", false);
  send(frame);
  theirs_.reset();
  EXPECT_EQ(drain(), State::closed);
  EXPECT_EQ(messages_.size(), 1u);
  for (size_t i = 1; i < frame.size(); ++i) {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    ours_.reset(ends[0]);
    theirs_.reset(ends[1]);
    reader_ = FrameReader();
    send(std::string_view(frame).substr(0, i));
    theirs_.reset();
    EXPECT_EQ(drain(), State::broken) << i;
  }
}

TEST_F(FrameReaderTest, random_bytes_break_it) {
  std::mt19937 random(20240603);
  for (int i = 0; i < 500; ++i) {
    std::string noise(kControlHeaderBytes + random() % 500, '\0');
    for (char& c : noise) c = static_cast<char>(random());
    reader_ = FrameReader();
    send(noise);
    EXPECT_EQ(drain(), State::broken);
  }
  EXPECT_TRUE(messages_.empty());
}

}  // namespace
}  // namespace ringtree::testing
