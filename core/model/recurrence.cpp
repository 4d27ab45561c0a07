// The recurrence as a discrete-event run: see recurrence.h for its rules. A lane's next slice enters the queue once all
// that it waits for has a known time, so the time at which it is ready is final then; taking the earliest first shows
// each network card who waits for it at the moment when it becomes free.
#include "core/model/recurrence.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>

#include "core/base/error.h"
#include "core/model/wiring.h"
#include "core/schedule/layout.h"

namespace ringtree {
namespace {

struct LinkState {
  int64_t num_sent = 0, num_received = 0;
  double arrival[kSlots] = {};  // of the message in each slot
  double freed[kSlots] = {};    // when the slot's last message was read
};

struct LaneState {
  double clock = 0;
  size_t pass = 0, at = 0, slice = 0;          // next slice to do: of step wiring.lanes[..].steps[at]
  size_t step_bytes = 0, num_step_slices = 0;  // of that step in that pass
  bool queued = false;
};

/// A lane's next slice is ready, or a host's card has become free (after the slices that are ready at the same time).
struct Event {
  double at;
  bool card;
  int index;  // of the lane (numbered rank by rank) or the host
  bool operator>(const Event& other) const {
    return std::tie(at, card, index) > std::tie(other.at, other.card, other.index);
  }
};

struct CardState {
  double free_at = 0;
  std::vector<int> waiting;  // lanes
};

class Recurrence {
 public:
  Recurrence(const Schedule& schedule, size_t count, size_t item_size, const HostGroups& hosts,
             const HostLinks& network)
      : shape_(schedule.shape()),
        hosts_(hosts),
        network_(network),
        wiring_(schedule),
        cut_(cut_parts(Layout(shape_, count).longest_chunk() * item_size, shape_.widest)),
        links_(wiring_.links.size()),
        lanes_(wiring_.lanes.size()),
        done_(wiring_.steps.size()),
        cards_(static_cast<size_t>(hosts.num_hosts())),
        last_served_(static_cast<size_t>(shape_.num_ranks), -1.0) {
    const Layout layout(shape_, count);
    for (int chunk = 0; chunk < shape_.num_chunks; ++chunk)
      chunk_bytes_.push_back(layout.part(chunk, 0, 1).length * item_size);
    timing_.rank_seconds.resize(static_cast<size_t>(shape_.num_ranks), 0.0);
    timing_.rank_network.resize(static_cast<size_t>(shape_.num_ranks));
  }

  Timing run() {
    for (size_t lane = 0; lane < lanes_.size(); ++lane) {
      begin_step(static_cast<int>(lane));
      enqueue_if_ready(static_cast<int>(lane));
    }
    while (!queue_.empty()) {
      const Event event = queue_.top();
      queue_.pop();
      if (event.card) {
        serve_next(event.index, event.at);
      } else {
        do_or_wait(event.index, event.at);
      }
    }
    for (size_t i = 0; i < lanes_.size(); ++i) {
      if (!finished(lanes_[i]))
        throw UsageError(shape_.name + " cannot be timed: rank " + std::to_string(wiring_.lanes[i].rank) + ", lane " +
                         std::to_string(wiring_.lanes[i].number) +
                         " waits forever; verify the schedule to find out why");
      double& rank_seconds = timing_.rank_seconds[wiring_.lanes[i].rank];
      rank_seconds = std::max(rank_seconds, lanes_[i].clock);
    }
    for (double seconds : timing_.rank_seconds) timing_.seconds = std::max(timing_.seconds, seconds);
    return timing_;
  }

 private:
  bool finished(const LaneState& lane) const { return lane.pass >= cut_.num_passes; }

  size_t bytes_in_pass(const WiredStep& step, size_t pass) const {
    size_t bytes = 0;
    for (int i = 0; i < step.chunks.count; ++i) {
      const size_t chunk = chunk_bytes_[step.chunks.id(i, shape_.num_chunks)], begin = pass * cut_.pass_bytes;
      if (chunk > begin) bytes += std::min(cut_.pass_bytes, chunk - begin);
    }
    return bytes;
  }

  /// False if the step has nothing to do in this pass: it is done when the lane comes to it.
  bool begin_step(int lane_index) {
    LaneState& lane = lanes_[lane_index];
    const int step_index = wiring_.lanes[lane_index].steps[lane.at];
    lane.slice = 0;
    lane.step_bytes = bytes_in_pass(wiring_.steps[step_index], lane.pass);
    lane.num_step_slices = num_slices(lane.step_bytes, cut_.slice_bytes);
    if (lane.step_bytes > 0 || lane.pass == 0) return true;
    note_done(step_index, lane);
    return false;
  }

  /// The lane has done a slice of the step.
  void note_done(int step_index, const LaneState& lane) {
    const WiredStep& step = wiring_.steps[step_index];
    if (step.dependent_lanes.empty()) return;
    done_[step_index].resize(lane.pass + 1);
    done_[step_index][lane.pass].push_back(lane.clock);
    for (int dependent : step.dependent_lanes) enqueue_if_ready(dependent);
  }

  void enqueue_if_ready(int lane_index) {
    LaneState& lane = lanes_[lane_index];
    if (lane.queued || finished(lane)) return;
    const WiredStep& step = wiring_.steps[wiring_.lanes[lane_index].steps[lane.at]];
    double at = lane.clock;
    for (int id : step.recv_links) {
      const LinkState& link = links_[id];
      if (link.num_sent == link.num_received) return;
      at = std::max(at, link.arrival[link.num_received % kSlots]);
    }
    for (int id : step.send_links) {
      const LinkState& link = links_[id];
      if (link.num_sent - link.num_received >= kSlots) return;
      if (link.num_sent >= kSlots) at = std::max(at, link.freed[link.num_sent % kSlots]);
    }
    for (const WiredDependency& dependency : step.waits_for)
      if (!add_done_time(dependency, lane, at)) return;
    lane.queued = true;
    queue_.push({at, false, lane_index});
  }

  /// Raises `at` to the time at which the dependency is met; false if that is not known yet.
  bool add_done_time(const WiredDependency& dependency, const LaneState& lane, double& at) const {
    if (dependency.previous_pass && lane.pass == 0) return true;
    const size_t pass = lane.pass - (dependency.previous_pass ? 1 : 0);
    const std::vector<std::vector<double>>& passes = done_[dependency.step];
    if (passes.size() <= pass) return false;
    const size_t last = num_slices(bytes_in_pass(wiring_.steps[dependency.step], pass), cut_.slice_bytes) - 1;
    const size_t slice = dependency.by_slice ? std::min(lane.slice, last) : last;
    if (passes[pass].size() <= slice) return false;
    at = std::max(at, passes[pass][slice]);
    return true;
  }

  const WiredStep& next_step(int lane_index) const {
    return wiring_.steps[wiring_.lanes[lane_index].steps[lanes_[lane_index].at]];
  }

  bool crosses(const WiredLink& link) const { return hosts_.host_of(link.src_rank) != hosts_.host_of(link.dst_rank); }

  void do_or_wait(int lane_index, double at) {
    const WiredStep& step = next_step(lane_index);
    const bool needs_card =
        std::any_of(step.send_links.begin(), step.send_links.end(), [&](int id) { return crosses(wiring_.links[id]); });
    if (!needs_card) return do_slice(lane_index, at);
    const int host = hosts_.host_of(wiring_.lanes[lane_index].rank);
    CardState& card = cards_[host];
    card.waiting.push_back(lane_index);
    // The first to wait rings for the card; slices that are ready at the same time come before the card looks.
    if (card.waiting.size() == 1) queue_.push({std::max(at, card.free_at), true, host});
  }

  void serve_next(int host, double at) {
    CardState& card = cards_[host];
    auto turn = [&](int lane) {
      return std::tuple(last_served_[wiring_.lanes[lane].rank], wiring_.lanes[lane].rank, lane);
    };
    const auto next =
        std::min_element(card.waiting.begin(), card.waiting.end(), [&](int a, int b) { return turn(a) < turn(b); });
    const int lane = *next;
    card.waiting.erase(next);
    last_served_[wiring_.lanes[lane].rank] = at;
    do_slice(lane, at);
    if (!card.waiting.empty()) queue_.push({card.free_at, true, host});
  }

  void do_slice(int lane_index, double at) {
    LaneState& lane = lanes_[lane_index];
    const int step_index = wiring_.lanes[lane_index].steps[lane.at];
    const WiredStep& step = wiring_.steps[step_index];
    for (int id : step.recv_links) {
      LinkState& link = links_[id];
      link.freed[link.num_received++ % kSlots] = at;
      ++timing_.num_messages;
    }
    const size_t begin = lane.slice * cut_.slice_bytes;
    for (int id : step.send_links) {
      LinkState& link = links_[id];
      link.arrival[link.num_sent++ % kSlots] =
          transmit(wiring_.links[id], std::min(cut_.slice_bytes, lane.step_bytes - begin), at, begin == 0);
    }
    lane.clock = at;
    lane.queued = false;
    note_done(step_index, lane);
    advance(lane_index);
    enqueue_if_ready(lane_index);
    for (int id : step.recv_links) wake(wiring_.links[id].sender);
    for (int id : step.send_links) wake(wiring_.links[id].receiver);
  }

  void wake(int lane_index) {
    if (lane_index >= 0) enqueue_if_ready(lane_index);
  }

  void advance(int lane_index) {
    LaneState& lane = lanes_[lane_index];
    if (++lane.slice < lane.num_step_slices) return;
    do {
      if (++lane.at == wiring_.lanes[lane_index].steps.size()) lane.at = 0, ++lane.pass;
    } while (!finished(lane) && !begin_step(lane_index));
  }

  /// When a message of `bytes` sent at `at` arrives. A card is free or at another transmission of the same slice.
  double transmit(const WiredLink& link, size_t bytes, double at, bool is_first_slice) {
    if (!crosses(link)) return at;
    double& card = cards_[hosts_.host_of(link.src_rank)].free_at;
    card = std::max(at, card) + static_cast<double>(bytes) / network_.beta_Bps;
    ++timing_.num_transmissions;
    timing_.network_bytes += static_cast<int64_t>(bytes);
    for (const int rank : {link.src_rank, link.dst_rank}) {
      NetworkShare& share = timing_.rank_network[static_cast<size_t>(rank)];
      share.messages += is_first_slice ? 1 : 0;
      share.bytes += static_cast<int64_t>(bytes);
    }
    return card + network_.alpha_s;
  }

  const ScheduleShape& shape_;
  const HostGroups& hosts_;
  const HostLinks network_;
  const Wiring wiring_;
  const Cut cut_;
  std::vector<size_t> chunk_bytes_;
  std::vector<LinkState> links_;
  std::vector<LaneState> lanes_;
  std::vector<std::vector<std::vector<double>>> done_;  // step, pass, slice; only of steps that others depend on
  std::vector<CardState> cards_;                        // by host
  std::vector<double> last_served_;                     // by rank: when its host's card last took a slice of it
  std::priority_queue<Event, std::vector<Event>, std::greater<>> queue_;
  Timing timing_;
};

void check(const Cluster& cluster, int num_ranks) {
  if (cluster.num_hosts < 1 || cluster.ranks_per_host < 1)
    throw UsageError("a cluster needs at least one host and one rank a host, not " + std::to_string(cluster.num_hosts) +
                     "x" + std::to_string(cluster.ranks_per_host));
  if (cluster.num_ranks() < num_ranks)
    throw UsageError("a cluster of " + std::to_string(cluster.num_hosts) + "x" +
                     std::to_string(cluster.ranks_per_host) + " has no room for " + std::to_string(num_ranks) +
                     " ranks");
}

}  // namespace

Timing time_schedule(const Schedule& schedule, size_t count, size_t item_size, const HostGroups& hosts,
                     const HostLinks& links) {
  schedule.require_ranks_alone("the model of emulated clusters");
  require_all_ranks(hosts, schedule.shape().num_ranks);
  if (item_size == 0) throw UsageError("an element needs at least one byte");
  if (!(links.alpha_s >= 0) || !(links.beta_Bps > 0))
    throw UsageError("links between hosts need alpha >= 0 seconds and beta > 0 bytes per second");
  return Recurrence(schedule, count, item_size, hosts, links).run();
}

Timing time_schedule(const Schedule& schedule, size_t count, size_t item_size, const Cluster& cluster) {
  const int num_ranks = schedule.shape().num_ranks;
  check(cluster, num_ranks);
  return time_schedule(schedule, count, item_size, HostGroups::blocks(num_ranks, cluster.ranks_per_host),
                       cluster.links());
}

}  // namespace ringtree
