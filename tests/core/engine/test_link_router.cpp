// Each kind of link message goes to its taker with what follows the kind; what nobody takes is an error.
#include <fcntl.h>
#include <gtest/gtest.h>

#include "core/engine/communicator.h"
#include "tests/core/engine/rank_threads.h"

namespace ringtree::testing {
namespace {

Fd some_descriptor() { return Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }
bool is_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

class LinkRouterTest : public ::testing::Test {
 protected:
  LinkRouterTest() {
    for (const LinkMessage kind : {LinkMessage::links, LinkMessage::buffer})
      router_.set(kind, [this, kind](Session&, int peer, ByteReader body, Fd fd) {
        taken_ = numbered("kind ", static_cast<int>(kind)) + numbered(" from ", peer) + ": " + body.text(100);
        if (!body.done()) throw WorldError("more than a text");
        kept_ = std::move(fd);
      });
  }
  std::string route(const std::string& payload, Fd fd = Fd()) {
    return outcome_of([&] { router_.route(alone_, 3, payload, std::move(fd)); });
  }

  ThreadStore store_;
  Session alone_{store_, 0, 1, test_settings(), "router", {}, [](Rendezvous&, const Mesh&, Deadline) {}};
  LinkRouter router_;
  std::string taken_;
  Fd kept_;
};

TEST_F(LinkRouterTest, each_kind_goes_to_its_taker) {
  EXPECT_EQ(route(link_message(LinkMessage::links).text("a link").take()), "");
  EXPECT_EQ(taken_, "kind 2 from 3: a link");
  EXPECT_EQ(route(link_message(LinkMessage::buffer).text("a buffer").take()), "");
  EXPECT_EQ(taken_, "kind 3 from 3: a buffer");
}

TEST_F(LinkRouterTest, a_kind_that_nobody_takes_is_an_error) {
  EXPECT_EQ(route(""), "other: sent an empty link message");
  EXPECT_EQ(route(link_message(LinkMessage::accept).take()), "other: sent a link message of unknown kind 6");
  for (const char kind : {'\0', '\x08', '\xff'})
    EXPECT_EQ(route({kind, 'x'}),
              "other: sent a link message of unknown kind " + std::to_string(static_cast<unsigned char>(kind)));
  EXPECT_EQ(taken_, "");
}

TEST_F(LinkRouterTest, a_descriptor_goes_to_the_taker_or_is_closed) {
  Fd fd = some_descriptor();
  const int number = fd.get();
  EXPECT_EQ(route(link_message(LinkMessage::links).text("").take(), std::move(fd)), "");
  EXPECT_EQ(kept_.get(), number);
  EXPECT_TRUE(is_open(number));
  Fd stray = some_descriptor();
  const int unknown = stray.get();
  EXPECT_NE(route("\x09", std::move(stray)), "");
  EXPECT_FALSE(is_open(unknown));
}

TEST_F(LinkRouterTest, what_the_taker_throws_is_the_outcome) {
  EXPECT_EQ(route(link_message(LinkMessage::links).text("a").number(1, 1).take()), "other: more than a text");
}

}  // namespace
}  // namespace ringtree::testing
