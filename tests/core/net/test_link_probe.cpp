// Tests of link_probe.h over connections of this process, the other end in a thread.
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/net/link_probe.h"
#include "tests/core/net/net_test.h"

namespace ringtree::testing {
namespace {

struct Streams {
  explicit Streams(int count) {
    for (int i = 0; i < count; ++i) pairs.push_back(connected_pair());
  }
  std::vector<int> callers() const { return ends(&Pair::caller); }
  std::vector<int> callees() const { return ends(&Pair::callee); }

  std::vector<Pair> pairs;

 private:
  std::vector<int> ends(Fd Pair::* end) const {
    std::vector<int> sockets;
    for (const Pair& pair : pairs) sockets.push_back((pair.*end).get());
    return sockets;
  }
};

std::string timeout_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const TimeoutError& error) {
    return error.what();
  }
  return "";
}

std::string next_byte(int socket) {
  char byte = 0;
  if (!wait_for(socket, POLLIN, patience())) return "nothing";
  return ::recv(socket, &byte, 1, MSG_DONTWAIT) == 1 ? std::string(1, byte) : "the end";
}

TEST(LinkProbe, FindsATimeAndARateAndLeavesTheSocketsClean) {
  for (const int count : {1, 3}) {
    const Streams streams(count);
    const std::vector<int> callees = streams.callees(), callers = streams.callers();
    auto answered = std::async(std::launch::async, [&] { return answer_link_probe(callees, patience()); });
    const std::optional<ProbedLink> found = probe_link(callers, 0.25, patience());
    EXPECT_TRUE(answered.get());
    ASSERT_TRUE(found);
    EXPECT_GT(found->alpha_s, 0);
    EXPECT_LT(found->alpha_s, 1);
    EXPECT_GT(found->beta_Bps.value_or(1e9), 1e5);  // none where other work lets no time
    for (int i = 0; i < count; ++i) {
      ASSERT_TRUE(write_all(callers[i], "a", patience()) && write_all(callees[i], "b", patience()));
      EXPECT_EQ(next_byte(callees[i]), "a");
      EXPECT_EQ(next_byte(callers[i]), "b");
    }
  }
}

TEST(LinkProbe, DoesNotCountHowLongTheOtherEndTakesToCome) {
  constexpr int64_t kLateNs = 300'000'000;
  const Streams streams(1);
  auto answered = std::async(std::launch::async, [&] {
    for (const int64_t until_ns = now_ns() + kLateNs; now_ns() < until_ns;) ::poll(nullptr, 0, 10);
    return answer_link_probe(streams.callees(), patience());
  });
  const std::optional<ProbedLink> found = probe_link(streams.callers(), 0.25, patience());
  EXPECT_TRUE(answered.get());
  ASSERT_TRUE(found);
  EXPECT_LT(found->alpha_s, kLateNs / 1e9 / 4);
}

TEST(LinkProbe, WithoutTimeStillFindsSomething) {
  const Streams streams(1);
  auto answered = std::async(std::launch::async, [&] { return answer_link_probe(streams.callees(), patience()); });
  const std::optional<ProbedLink> found = probe_link(streams.callers(), 0, patience());
  EXPECT_TRUE(answered.get());
  ASSERT_TRUE(found);
  EXPECT_GT(found->alpha_s, 0);
}

// Answers on one socket, and takes as long as it is told to for each message and for each byte of a transfer, after the
// first `saved_bytes`.
class SlowEnd {
 public:
  SlowEnd(int socket, int64_t trip_ns, double bytes_per_second, uint64_t saved_bytes = 0)
      : answering_(
            std::async(std::launch::async, [=, this] { answer(socket, trip_ns, bytes_per_second, saved_bytes); })) {}

  /// How many bytes were announced, by message; waits for the last one.
  std::vector<uint64_t> announced() {
    answering_.get();
    return announced_;
  }

 private:
  void answer(int socket, int64_t trip_ns, double bytes_per_second, uint64_t saved_bytes) {
    for (;;) {
      std::array<unsigned char, 8> head{};
      for (size_t done = 0; done < head.size();) {
        if (!wait_for(socket, POLLIN, patience())) return;
        const ssize_t got = ::recv(socket, head.data() + done, head.size() - done, MSG_DONTWAIT);
        if (got == 0) return;  // the asker gave up
        if (got > 0) done += static_cast<size_t>(got);
      }
      uint64_t left = 0;
      for (size_t i = head.size(); i-- > 0;) left = left << 8 | head[i];
      const bool over = left == UINT64_MAX;
      if (!over) announced_.push_back(left);
      const uint64_t free_bytes = over ? left : std::min(left, saved_bytes);
      saved_bytes -= over ? 0 : free_bytes;
      const int64_t until_ns =
          now_ns() + trip_ns + static_cast<int64_t>(static_cast<double>(left - free_bytes) / bytes_per_second * 1e9);
      std::vector<char> sink(1 << 16);
      while (!over && left > 0) {
        const ssize_t got = ::recv(socket, sink.data(), std::min<uint64_t>(left, sink.size()), MSG_DONTWAIT);
        if (got == 0) return;
        if (got > 0) left -= static_cast<uint64_t>(got);
      }
      while (now_ns() < until_ns) {
      }
      if (!write_all(socket, "\x06", patience()) || over) return;
    }
  }

  std::vector<uint64_t> announced_;
  std::future<void> answering_;
};

struct SlowProbe {
  ProbedLink found;
  uint64_t most_bytes = 0;  // that were sent at once
};

SlowProbe probe_slow(int64_t trip_ns, double bytes_per_second, double seconds, uint64_t saved_bytes = 0) {
  const Streams streams(1);
  SlowEnd end(streams.callees()[0], trip_ns, bytes_per_second, saved_bytes);
  const ProbedLink found = probe_link(streams.callers(), seconds, patience()).value();
  const std::vector<uint64_t> announced = end.announced();
  return {found, *std::ranges::max_element(announced)};
}

TEST(LinkProbe, TellsLinksOfDifferentSpeedApart) {
  // 10 s: as often as it wants, also beside other work, which can only add to the times.
  const ProbedLink quick = probe_slow(1'000'000, 100e6, 10).found, slow = probe_slow(4'000'000, 5e6, 10).found;
  ASSERT_TRUE(quick.beta_Bps && slow.beta_Bps);
  EXPECT_GE(quick.alpha_s, 0.5e-3);
  EXPECT_GE(slow.alpha_s, 2e-3);
  EXPECT_LE(*quick.beta_Bps, 110e6);
  EXPECT_LE(*slow.beta_Bps, 5.5e6);
  EXPECT_GT(*quick.beta_Bps, *slow.beta_Bps);
}

// The trip does not count as sending: 20 ms, to which 64 KB add 0.7, tell no rate yet, nor do turns of other work.
TEST(LinkProbe, SendsMoreUntilSendingTakesLonger) {
  EXPECT_GE(probe_slow(20'000'000, 100e6, 3).most_bytes, uint64_t{256} << 10);
}

// A trip of 10 ms asks for 5 ms of sending. 64, 128 and 256 KB and 252 of 512 KB are saved up: those 512 take 5.3 ms, a
// rate of 98 MB/s, the next ones 10.5. Beside other work all trips may come late, by up to 3.5 ms here, and what they
// are too long is taken off the time of sending.
TEST(LinkProbe, IsNotDeceivedByWhatATokenBucketHasSavedUp) {
  const ProbedLink found = probe_slow(10'000'000, 50e6, 10, uint64_t{700} << 10).found;
  ASSERT_TRUE(found.beta_Bps);
  EXPECT_LE(*found.beta_Bps, 75e6);
}

TEST(LinkProbe, TellsNoRateWhereTheTimeDoesNotSuffice) {
  const SlowProbe probe = probe_slow(200'000'000, 1e9, 0.1);
  EXPECT_GE(probe.found.alpha_s, 0.1);
  EXPECT_FALSE(probe.found.beta_Bps) << *probe.found.beta_Bps;
}

// A call's short message takes one stream: the latency is that of one, however many there are.
TEST(LinkProbe, TakesTripsOnOneSocketAndTransfersOverAll) {
  const Streams streams(3);
  std::vector<std::unique_ptr<SlowEnd>> ends;
  for (const int socket : streams.callees()) ends.push_back(std::make_unique<SlowEnd>(socket, 0, 1e9));
  ASSERT_TRUE(probe_link(streams.callers(), 0.25, patience()));
  const auto num_trips = [](const std::vector<uint64_t>& announced) { return std::ranges::count(announced, 0u); };
  const std::vector<uint64_t> first = ends[0]->announced();
  EXPECT_GT(num_trips(first), 0);
  for (size_t i = 1; i < ends.size(); ++i) {
    const std::vector<uint64_t> other = ends[i]->announced();
    EXPECT_EQ(num_trips(other), 0);
    EXPECT_EQ(static_cast<int64_t>(other.size()), static_cast<int64_t>(first.size()) - num_trips(first));
  }
}

TEST(LinkProbe, SaysThatTheOtherEndWent) {
  Streams streams(1);
  streams.pairs[0].callee.reset();
  EXPECT_FALSE(probe_link(streams.callers(), 0.25, patience()));
  Streams others(2);
  others.pairs[1].caller.reset();
  EXPECT_FALSE(answer_link_probe(others.callees(), patience()));
}

TEST(LinkProbe, EndsAtTheDeadlineWhereTheOtherEndSaysNothing) {
  const Streams streams(1);
  const std::string asked = timeout_of([&] { probe_link(streams.callers(), 0.25, Deadline::after_seconds(0.02)); });
  EXPECT_TRUE(contains(asked, "probing the links between hosts: the other end did not answer in time")) << asked;
  const Streams others(1);
  const std::string answered = timeout_of([&] { answer_link_probe(others.callees(), Deadline::after_seconds(0.02)); });
  EXPECT_TRUE(contains(answered, "did not answer in time")) << answered;
}

TEST(LinkProbe, RefusesMoreThanMayCome) {
  const Streams streams(1);
  const uint64_t too_much = kMostProbeBytes + 1;
  std::array<char, 8> head{};
  for (size_t i = 0; i < head.size(); ++i) head[i] = static_cast<char>(too_much >> (8 * i));
  ASSERT_TRUE(write_all(streams.callers()[0], {head.data(), head.size()}, patience()));
  try {
    answer_link_probe(streams.callees(), patience());
    FAIL() << "answered";
  } catch (const WorldError& error) {
    EXPECT_TRUE(contains(error.what(), "the other end announced more than may come")) << error.what();
  }
}

}  // namespace
}  // namespace ringtree::testing
