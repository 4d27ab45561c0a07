// The engine's emulated time (virtual_time.h, nic.h) against the sliced recurrence of core/model, on every built-in
// algorithm and on random schedules (the seed is in the name). All ranks run in this thread, polled at times that the
// test sets, so nothing depends on the machine and the two must be equal. How well real ranks keep to that time:
// test_emulation.cpp. Both are of one channel, and all ranks begin at 0. One rule is the test's: a real card that is
// free takes whoever comes first, here it first sees all who come at the same time, as the recurrence has it.
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <set>

#include "core/algorithms/registry.h"
#include "core/engine/run.h"
#include "core/model/recurrence.h"
#include "tests/core/engine/random_schedule.h"
#include "tests/core/host_groupings.h"
#include "tests/core/transport/aligned_bytes.h"

namespace ringtree::testing {
namespace {

constexpr size_t kItem = sizeof(int32_t);
// A byte a second, or no time at all: times are whole seconds, so neither clock rounds and they must be equal.
constexpr double kAlpha = 20'000, kByteASecond = 1, kNoCost = std::numeric_limits<double>::infinity();

struct Untraced {
  static constexpr bool kOn = false;
};
using EmulatedRun = Run<Protocol::simple, true, Untraced>;

/// All ranks of a schedule with the links between them.
class EmulatedRanks {
 public:
  EmulatedRanks(const Schedule& schedule, size_t count, const HostGroups& hosts, const HostLinks& network)
      : schedule_(std::make_shared<const Schedule>(schedule)),
        hosts_(hosts),
        network_(network),
        cards_(static_cast<size_t>(hosts.num_hosts())) {
    for (int rank = 0; rank < hosts.num_ranks(); ++rank) {
      const Program program = schedule.program(rank);
      for (const Step& step : program.steps()) add_link(rank, step);
    }
    for (int rank = 0; rank < hosts.num_ranks(); ++rank) ranks_.push_back(make_rank(rank, count));
  }

  /// When each rank has finished. Ranks are late if they look at the clock only every `every_s` seconds.
  std::vector<double> rank_seconds(int64_t every_s) {
    const int64_t every_ns = every_s * 1'000'000'000;
    int64_t now_ns = 0;
    for (;;) {
      // A card serves those in turn who are ready at the same time: it is closed until all who are have come.
      do {
        std::vector<int64_t> busy_until_ns;
        for (NicClock& card : cards_) busy_until_ns.push_back(card.busy_until_ns.exchange(kNever));
        while (poll(now_ns)) continue;
        for (size_t host = 0; host < cards_.size(); ++host) cards_[host].busy_until_ns = busy_until_ns[host];
      } while (poll(now_ns));
      bool finished = true;
      int64_t next_ns = kNever;
      for (auto& rank : ranks_) {
        if (rank->run->mismatched_peer() >= 0) throw std::runtime_error("a message of another length");
        if (rank->run->finished()) continue;
        finished = false;
        next_ns = std::min(next_ns, rank->run->next_event_ns());
      }
      if (finished) break;
      if (next_ns == kNever) throw std::runtime_error("ranks wait for nothing that will come");
      now_ns = every_ns == 0 ? next_ns : (next_ns / every_ns + 1) * every_ns;
    }
    std::vector<double> seconds;
    for (auto& rank : ranks_) {
      int64_t last_ns = 0;
      for (const LaneState& lane : rank->plan->states) last_ns = std::max(last_ns, lane.virtual_ns);
      seconds.push_back(static_cast<double>(last_ns) / 1e9);
    }
    return seconds;
  }

 private:
  bool poll(int64_t now_ns) {
    bool moved = false;
    for (auto& rank : ranks_) moved = rank->run->poll_at(now_ns) || moved;
    return moved;
  }

  struct Link {
    LinkGeometry geometry;
    AlignedBytes memory;
    std::unique_ptr<SendEnd> send;
    std::map<int, std::unique_ptr<RecvEnd>> recv;  // by reader
  };
  struct Rank {
    std::vector<std::byte> input, output;
    BoundCall call;
    std::unique_ptr<Plan> plan;
    std::unique_ptr<EmulatedRun> run;
  };
  using SendKey = std::tuple<int, int, std::vector<int>>;  // rank, tag, readers in ascending order, as LinkDirectory's

  struct Ends : LinkSource {
    Ends(EmulatedRanks& all_ranks, int own_rank) : all(all_ranks), rank(own_rank) {}
    SendEnd* send_end(const std::vector<int>& readers, int tag, int) override {
      return all.links_.at(key(rank, tag, readers)).send.get();
    }
    RecvEnd* recv_end(int peer, int tag, int) override {
      for (auto& [sender, link] : all.links_)
        if (std::get<0>(sender) == peer && std::get<1>(sender) == tag && link.recv.contains(rank))
          return link.recv.at(rank).get();
      throw std::runtime_error("nobody sends that");
    }
    bool can_read_in_place(const std::vector<int>&) const override { return false; }
    bool are_on_other_hosts(const std::vector<int>&) const override { return false; }
    EmulatedRanks& all;
    int rank;
  };

  static SendKey key(int rank, int tag, std::vector<int> readers) {
    std::sort(readers.begin(), readers.end());
    return {rank, tag, readers};
  }

  void add_link(int rank, const Step& step) {
    const SendKey sender = key(rank, step.send_tag, step.send_to);
    if (step.send_to.empty() || links_.contains(sender)) return;
    Link& link = links_[sender];
    const std::vector<int>& readers = std::get<2>(sender);
    link.geometry.num_readers = static_cast<int>(readers.size());
    link.geometry.slot_bytes = kSlotBytes;
    link.memory = aligned_bytes(link.geometry.bytes());
    construct_link(link.memory.get(), link.geometry);
    const int host = hosts_.host_of(rank);
    std::vector<ReaderRoute> routes;
    for (int reader : readers) routes.push_back({&bell_, hosts_.host_of(reader) != host});
    const Nic nic(&cards_[static_cast<size_t>(host)], hosts_.local_index(rank),
                  static_cast<int>(hosts_.ranks_of(host).size()), network_.alpha_s, network_.beta_Bps);
    link.send = std::make_unique<SendEnd>(make_send_end(link.memory.get(), link.geometry, {}, routes, false, nic));
    for (size_t i = 0; i < readers.size(); ++i)
      link.recv[readers[i]] = std::make_unique<RecvEnd>(
          make_recv_end(link.memory.get(), link.geometry, static_cast<int>(i), {}, &bell_, rank, nullptr, false));
  }

  std::unique_ptr<Rank> make_rank(int index, size_t count) {
    const ScheduleShape& shape = schedule_->shape();
    auto rank = std::make_unique<Rank>();
    const RankLayout layout(shape, index, count);
    rank->input.resize(layout.input().length * kItem);
    rank->output.resize(layout.output().length * kItem);
    BoundCall& call = rank->call;
    call.input = rank->input.data();
    call.output = rank->output.data();
    bind_parts(call, layout, shape.num_chunks, 1, kItem);
    call.cut = cut_parts(layout.longest_chunk() * kItem, shape.widest);
    call.item_bytes = kItem;
    call.fold = fold_kernel(Dtype::kInt32, ReduceOp::sum);
    Ends ends(*this, index);
    rank->plan = compile_plan(schedule_, schedule_->program(index), 0, Protocol::simple, 1, true, ends);
    rank->run = std::make_unique<EmulatedRun>(*rank->plan, call, Untraced{});
    for (LaneState& lane : rank->plan->states) lane.virtual_ns = 0;  // all ranks begin at 0
    return rank;
  }

  std::shared_ptr<const Schedule> schedule_;
  HostGroups hosts_;
  HostLinks network_;
  std::vector<NicClock> cards_;
  Doorbell bell_;
  std::map<SendKey, Link> links_;
  std::vector<std::unique_ptr<Rank>> ranks_;
};

void expect_one_time(const Schedule& schedule, size_t count, const HostGroups& hosts, const HostLinks& network,
                     int64_t every_s = 0) {
  SCOPED_TRACE(schedule.shape().name + ", " + collective_name(schedule.shape().collective) + ", hosts " + hosts.text() +
               ", beta " + std::to_string(network.beta_Bps) + ", " + std::to_string(count) + " elements");
  EXPECT_EQ(EmulatedRanks(schedule, count, hosts, network).rank_seconds(every_s),
            time_schedule(schedule, count, kItem, hosts, network).rank_seconds);
}

/// No rank has two lanes that send: messages of one lane leave in its order, however late the rank is.
bool sends_in_order(const Schedule& schedule) {
  for (int rank = 0; rank < schedule.shape().num_ranks; ++rank) {
    const Program program = schedule.program(rank);
    std::set<int> lanes;
    for (const Step& step : program.steps())
      if (!step.send_to.empty()) lanes.insert(step.lane);
    if (lanes.size() > 1) return false;
  }
  return true;
}

TEST(VirtualTime, every_algorithm_takes_the_time_of_the_recurrence) {
  for (const Algorithm& algorithm : algorithms())
    for (Collective collective : algorithm.collectives)
      for (const HostGroups& hosts :
           {HostGroups::blocks(4, 2), HostGroups::blocks(5, 1), HostGroups::blocks(6, 2), HostGroups({0, 1, 1, 0, 1})})
        for (size_t count : {size_t{0}, size_t{1}, size_t{5'000}, size_t{200'001}})
          for (double beta : {kNoCost, kByteASecond})
            expect_one_time(algorithm.make(collective, hosts.num_ranks(), 0, hosts), count, hosts, {kAlpha, beta});
}

TEST(VirtualTime, random_schedules_take_the_time_of_the_recurrence) {
  for (uint64_t seed = 0; seed < 400; ++seed) {
    std::mt19937_64 random(seed);
    const auto pick = [&](size_t count) { return random() % count; };
    const int n = 2 + static_cast<int>(pick(5));
    const Schedule schedule = RandomSchedule(seed, n, 3).schedule();
    const HostGroups hosts = shuffled(HostGroups::blocks(n, 1 + static_cast<int>(pick(3))), seed);
    // Any size, or one that leaves some chunks a little for one more pass and others nothing.
    const ScheduleShape& shape = schedule.shape();
    const size_t chunks = static_cast<size_t>(shape.num_chunks);
    const size_t full = chunks * (cut_parts(size_t{1} << 30, shape.widest).pass_bytes / kItem);
    const size_t count = pick(2) == 0 ? pick(200'000) : (1 + pick(2)) * full + pick(chunks);
    expect_one_time(schedule, count, hosts, {kAlpha, pick(3) == 0 ? kNoCost : kByteASecond});
  }
}

TEST(VirtualTime, is_that_of_the_recurrence_for_ranks_that_are_late) {
  int num_schedules = 0;
  for (uint64_t seed = 0; seed < 600; ++seed) {
    std::mt19937_64 random(seed);
    const int n = 2 + static_cast<int>(random() % 5);
    const Schedule schedule = RandomSchedule(seed, n, 3).schedule();
    if (!sends_in_order(schedule)) continue;
    ++num_schedules;
    expect_one_time(schedule, random() % 200'000, HostGroups::blocks(n, 1), {kAlpha, kByteASecond}, 100'000);
  }
  EXPECT_GT(num_schedules, 100);
}

}  // namespace
}  // namespace ringtree::testing
