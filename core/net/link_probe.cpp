// See link_probe.h.
#include "core/net/link_probe.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/net/socket.h"

namespace ringtree {
namespace {

constexpr uint64_t kOver = UINT64_MAX;
constexpr size_t kHeadBytes = sizeof(uint64_t);
constexpr int kSteadyTrips = 100, kSteadyBulks = 20;  // in a row that were no shorter
constexpr uint64_t kFirstBytes = uint64_t{64} << 10;
// Of sending. Much shorter than a turn of the scheduler's, so that beside other work some transfers are undisturbed.
constexpr double kLongEnoughS = 0.3e-3;
// So long a side looks again and again before it sleeps, longer than the answer takes on most networks. Without giving
// its core away meanwhile: beside busy processes every look would then cost a turn of the scheduler's. The asker sleeps
// at once now and then, as hosts may be namespaces of one machine and the other end may wait for this very core.
constexpr int64_t kLookNs = 60'000;
constexpr int kTripsASleep = 8;
constexpr size_t kPieceBytes = size_t{256} << 10;

[[noreturn]] void fail(const std::string& what) { throw WorldError("probing the links between hosts: " + what); }

std::array<char, kHeadBytes> head_of(uint64_t num_bytes) {
  std::array<char, kHeadBytes> head{};
  for (size_t i = 0; i < kHeadBytes; ++i) head[i] = static_cast<char>(num_bytes >> (8 * i));
  return head;
}

struct Gone : std::exception {};

// One socket's share of what is under way.
struct Lane {
  int socket = -1;
  std::array<char, kHeadBytes> head{};
  size_t head_done = 0;  // bytes of it that were sent, or received
  uint64_t left = 0;     // bytes behind the head that are still to be sent, or received
  bool owes = false;     // of who answers: the answer is still to be sent
  bool is_last = false;  // of who answers: the asker said that there is no more
  bool over = false;     // nothing more is to come, or to be said
  short wants = 0;       // what poll() is to wait for, where nothing moved
};

// What was moved; 0 where the kernel has nothing or takes nothing now.
size_t moved(ssize_t result) {
  if (result > 0) return static_cast<size_t>(result);
  if (result < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
  if (result == 0 || errno == ECONNRESET || errno == EPIPE) throw Gone();
  fail(errno_text("the connection broke", errno));
}

size_t take(Lane& lane, char* to, size_t most) {
  lane.wants = POLLIN;
  return moved(::recv(lane.socket, to, most, MSG_DONTWAIT));
}
size_t give(Lane& lane, const char* from, size_t most) {
  lane.wants = POLLOUT;
  return moved(::send(lane.socket, from, most, MSG_DONTWAIT | MSG_NOSIGNAL));
}

// Calls `step` for each lane that is not over, until all are; it says whether it moved anything. Sleeps where nothing
// moves for long.
template <class Step>
void pump(std::vector<Lane>& lanes, Deadline deadline, int64_t look_ns, const Step& step) {
  int64_t idle_since_ns = now_ns();
  for (;;) {
    bool any = false, all_over = true;
    for (Lane& lane : lanes) {
      if (!lane.over) any = step(lane) || any;
      all_over = all_over && lane.over;
    }
    if (all_over) return;
    const int64_t now = now_ns();
    if (any) {
      idle_since_ns = now;
      continue;
    }
    if (deadline.passed()) throw TimeoutError("probing the links between hosts: the other end did not answer in time");
    if (now - idle_since_ns < look_ns) continue;
    std::vector<pollfd> entries;
    for (const Lane& lane : lanes) entries.push_back({lane.over ? -1 : lane.socket, lane.wants, 0});
    ::poll(entries.data(), entries.size(), poll_timeout_ms(deadline, 100));
  }
}

std::vector<Lane> lanes_of(std::span<const int> sockets) {
  std::vector<Lane> lanes;
  for (const int socket : sockets) lanes.push_back({.socket = socket});
  return lanes;
}

class Asker {
 public:
  Asker(std::span<const int> sockets, Deadline deadline)
      : lanes_(lanes_of(sockets)), deadline_(deadline), piece_(kPieceBytes, '\0') {}

  // Each returns the seconds until the other end has said that it has what was announced.
  double trip() {
    for (Lane& lane : lanes_) lane.over = true;
    announce(lanes_.front(), 0);
    return exchange(++num_trips_ % kTripsASleep == 0 ? 0 : kLookNs);
  }
  double transfer(uint64_t num_bytes) {
    const uint64_t share = num_bytes / lanes_.size();
    for (Lane& lane : lanes_) announce(lane, &lane == lanes_.data() ? num_bytes - share * (lanes_.size() - 1) : share);
    return exchange(kLookNs);
  }
  double end() {
    for (Lane& lane : lanes_) announce(lane, kOver);
    return exchange(kLookNs);
  }

 private:
  static void announce(Lane& lane, uint64_t number) {
    lane.head = head_of(number);
    lane.head_done = 0;
    lane.left = number == kOver ? 0 : number;
    lane.over = false;
  }

  double exchange(int64_t look_ns) {
    const int64_t before = now_ns();
    pump(lanes_, deadline_, look_ns, [this](Lane& lane) { return move(lane); });
    return static_cast<double>(now_ns() - before) * 1e-9;
  }

  bool move(Lane& lane) {
    if (lane.head_done < kHeadBytes) {
      const size_t sent = give(lane, lane.head.data() + lane.head_done, kHeadBytes - lane.head_done);
      lane.head_done += sent;
      return sent > 0;
    }
    if (lane.left > 0) {
      const size_t sent = give(lane, piece_.data(), std::min<uint64_t>(lane.left, piece_.size()));
      lane.left -= sent;
      return sent > 0;
    }
    char answer = 0;
    lane.over = take(lane, &answer, 1) > 0;
    return lane.over;
  }

  std::vector<Lane> lanes_;
  const Deadline deadline_;
  const std::vector<char> piece_;
  int num_trips_ = 0;
};

class Answerer {
 public:
  explicit Answerer(std::span<const int> sockets) : lanes_(lanes_of(sockets)), piece_(kPieceBytes, '\0') {}

  void run(Deadline deadline) {
    pump(lanes_, deadline, kLookNs, [this](Lane& lane) { return move(lane); });
  }

 private:
  bool move(Lane& lane) {
    if (lane.owes) return answer(lane);
    if (lane.head_done < kHeadBytes) {
      const size_t got = take(lane, lane.head.data() + lane.head_done, kHeadBytes - lane.head_done);
      lane.head_done += got;
      if (lane.head_done == kHeadBytes) begin(lane);
      return got > 0;
    }
    const size_t got = take(lane, piece_.data(), std::min<uint64_t>(lane.left, piece_.size()));
    lane.left -= got;
    lane.owes = lane.left == 0;
    return got > 0;
  }

  void begin(Lane& lane) {
    uint64_t announced = 0;
    for (size_t i = 0; i < kHeadBytes; ++i) announced |= uint64_t{static_cast<unsigned char>(lane.head[i])} << (8 * i);
    lane.is_last = announced == kOver;
    if (announced > kMostProbeBytes && !lane.is_last) fail("the other end announced more than may come");
    lane.left = lane.is_last ? 0 : announced;
    lane.owes = lane.left == 0;
  }

  static bool answer(Lane& lane) {
    lane.owes = give(lane, "\x06", 1) == 0;
    if (lane.owes) return false;
    lane.head_done = 0;
    lane.over = lane.is_last;
    return true;
  }

  std::vector<Lane> lanes_;
  std::vector<char> piece_;
};

}  // namespace

std::optional<ProbedLink> probe_link(std::span<const int> sockets, double seconds, Deadline deadline) try {
  if (sockets.empty()) fail("there is no connection");
  Asker asker(sockets, deadline);
  asker.trip();  // does not count: the other end may not have come yet
  const int64_t until_ns = now_ns() + static_cast<int64_t>(seconds * 1e9);
  const auto fits = [until_ns](double next_s) { return now_ns() + static_cast<int64_t>(next_s * 1e9) < until_ns; };

  // The shortest of each: other work, of which there is much while a job starts, can only add to them.
  const auto shortest = [&](const auto& once, double& best_s, int steady, double left_s) {
    for (int since = 0; since < steady && fits(left_s + best_s);) {
      const double took_s = once();
      since = took_s < 0.98 * best_s ? 0 : since + 1;
      best_s = std::min(best_s, took_s);
    }
  };
  double trip_s = asker.trip();
  shortest([&] { return asker.trip(); }, trip_s, kSteadyTrips, 2 * seconds / 3);

  // How much is sent at once is decided by transfers that do not count: what a token bucket had saved up is gone then.
  // One that seemed long enough may turn out to have been disturbed: then it goes on.
  const double long_enough_s = std::max(kLongEnoughS, trip_s / 2);
  uint64_t num_bytes = kFirstBytes;
  double bulk_s = 0, sending_s = 0;
  for (;; num_bytes *= 2) {
    bulk_s = asker.transfer(num_bytes);
    const bool is_last = num_bytes == kMostProbeBytes || !fits(4 * bulk_s);
    if (is_last || bulk_s - trip_s >= long_enough_s) {
      if (fits(bulk_s)) bulk_s = asker.transfer(num_bytes);
      shortest([&] { return asker.transfer(num_bytes); }, bulk_s, kSteadyBulks, bulk_s);
    }
    sending_s = bulk_s - trip_s;  // the way of the last bytes and that of the answer are not the rate's
    if (num_bytes == kMostProbeBytes || sending_s >= long_enough_s || !fits(4 * bulk_s)) break;
  }
  asker.end();

  ProbedLink found{.alpha_s = trip_s / 2};
  if (num_bytes == kMostProbeBytes)
    found.beta_Bps = static_cast<double>(num_bytes) / std::max(sending_s, bulk_s / 10);
  else if (sending_s >= long_enough_s / 2)
    found.beta_Bps = static_cast<double>(num_bytes) / sending_s;
  return found;
} catch (const Gone&) {
  return std::nullopt;
}

bool answer_link_probe(std::span<const int> sockets, Deadline deadline) try {
  Answerer(sockets).run(deadline);
  return true;
} catch (const Gone&) {
  return false;
}

}  // namespace ringtree
