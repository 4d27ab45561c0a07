// See estimate.h.
#include "core/model/estimate.h"

#include <algorithm>
#include <cstdio>
#include <thread>

#include "core/base/error.h"
#include "core/model/recurrence.h"
#include "core/model/wiring.h"
#include "core/schedule/layout.h"

namespace ringtree {
namespace {

std::string time_text(double seconds) {
  char text[32];
  if (seconds < 1e-3) {
    std::snprintf(text, sizeof text, "%.3g us", seconds * 1e6);
  } else if (seconds < 1) {
    std::snprintf(text, sizeof text, "%.3g ms", seconds * 1e3);
  } else {
    std::snprintf(text, sizeof text, "%.3g s", seconds);
  }
  return text;
}

Choice pick(const std::string& model, const std::vector<std::string>& names, std::vector<double> seconds,
            const std::string& where) {
  if (names.empty()) throw UsageError("no algorithm to choose from");
  Choice choice;
  choice.index = static_cast<int>(std::min_element(seconds.begin(), seconds.end()) - seconds.begin());
  choice.reason = model + ": ";
  for (size_t i = 0; i < names.size(); ++i)
    choice.reason += (i == 0 ? "" : ", ") + names[i] + " " + time_text(seconds[i]);
  choice.reason += " (" + where + ")";
  choice.seconds = std::move(seconds);
  return choice;
}

// Seconds to copy a byte that was last touched `distance` bytes ago.
double pace(const Machine& machine, double distance) {
  const double near = 1 / machine.near_Bps, far = 1 / machine.copy_Bps;
  return near + (far - near) * distance / (machine.cache_bytes + distance);
}

// Of a byte's way through a slot, on shared cores: reading counts three times as much as writing, as a load of what
// another rank has written is waited for, and a store is not. From 83 cells of 3 to 16 ranks (docs/tune.md,
// 2026-11-27): 0.6 to 0.8 choose nearly alike; 0.5 took two_shot where a ring is 1.4 times as fast.
constexpr double kReceivedShare = 0.75;

// What it costs to write a byte into a slot that lies in its reader's core's caches, of copying one inside the caches
// and beside that; and how many bytes such a core keeps. From 264 cells of 3 to 16 ranks on two cores, near and far
// (docs/decisions/0039-slots-that-go-one-way.md).
constexpr double kOneWay = 4, kOwnCacheBytes = 4e6;

// Where ranks share cores a link carries no more than this share of what one core could send and receive by itself: its
// two ends take turns, with each other and with other ranks. From the cells of default_message_work(): 1 to 1.6 GB/s,
// half to 0.8 of it, choose nearly alike, at 2 GB/s the regret doubles.
constexpr double kShareOfCore = 0.75;

// Of what takes less time, the links or the cores: so much is not hidden behind the other. From the same cells: 0 to
// 0.3 choose nearly alike, 1 (a sum) loses half as much again.
constexpr double kNotHidden = 0.2;

// Times that differ by less are equal: a share of the model's error. Of 34 cells (1 KB to 4 MB on 3, 4 and 8 hosts, as
// below), 2 to 10 % choose nearly alike; without it long vectors take two_shot, which sends what a ring does to all
// ranks at once, and took 8 to 16 % longer.
constexpr double kEqual = 0.03;

// A message as a step of one chunk cuts it.
struct Sliced {
  explicit Sliced(double message_bytes) {
    const double longest = static_cast<double>(cut_parts(static_cast<size_t>(message_bytes), 1).slice_bytes);
    slice_bytes = std::min(message_bytes, longest);
    num_slices = std::max(1.0, message_bytes / longest);
  }

  double slice_bytes, num_slices;
};

std::string count_text(size_t number, const char* what) {
  return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

std::string elements_text(size_t count, size_t item_size) {
  return count_text(count, "element") + " of " + count_text(item_size, "byte");
}

std::string rate_text(double rate_Bps) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g GB/s", rate_Bps / 1e9);
  return text;
}

template <class Time>
Choice pick_timed(const std::string& model, std::span<const Schedule> candidates, const Time& time,
                  const std::string& where) {
  std::vector<std::string> names;
  std::vector<double> seconds;
  for (const Schedule& schedule : candidates) {
    names.push_back(schedule.shape().name);
    seconds.push_back(time(schedule));
  }
  return pick(model, names, std::move(seconds), where);
}

}  // namespace

HostLinks default_host_links() {
  // Where the links were not probed; a choice between algorithms needs the ratio of the two more than either. Latency:
  // over veth links, where both ends look again and again as ranks do, 6 to 9 us (2 cores of an AMD EPYC virtual
  // machine, Zen 4, 2026-11-28), and network cards and a switch add about as much. Rate: what 10 Gbit/s Ethernet
  // carries at most, the least that machines bought for such work have between them.
  return {.alpha_s = 15e-6, .beta_Bps = 1.25e9};
}

MessageWork default_message_work(double ranks_per_core) {
  // all_reduce of 8 bytes over veth links, by algorithms of 6 to 24 messages in all: 5.8 us more for each message where
  // 4 ranks share 2 cores, so 11 us of a core; 2 ranks with a core each exchange a message in 10.5 us (2 cores of an
  // AMD EPYC virtual machine, 2026-11-22).
  //
  // A byte: 0.4 to 0.6 ns fit 18 cells of 3, 4 and 8 hosts of a rank on 2 cores, nine algorithms, 1 KB to 4 MB (the
  // same, Zen 4, 2026-11-28; docs/tune.md).
  return {.message_s = 11e-6, .byte_s = 0.5e-9, .ranks_per_core = std::max(1.0, ranks_per_core)};
}

Machine default_machine() {
  Machine machine;
  // Source: two threads passing a counter back and forth, half a round trip, and memcpy of 64 KB pieces between a 128
  // MB buffer and a ring of eight slots; g++ 12, 2026-11-20, a virtual machine with 2 cores (AMD EPYC) that other work
  // shared. alpha, a core each, spinning: 0.05 us at best, medians 0.8 us and above under that other work; 0.25 us lies
  // between.
  machine.alpha_s = 0.25e-6;
  // What a hop more costs: a ring of 4, 8 and 16 ranks on 2 cores against direct, reduce_scatter and all_gather up to
  // 16 KB, 1.0 to 1.8 us for each rank of a core (2026-11-27). Processes that only call sched_yield, in turn: 1.4 to 2
  // us.
  machine.switch_s = 1.3e-6;
  // Copies: 7.6 to 9.6 GB/s beyond the caches, 40 GB/s and more inside them.
  machine.copy_Bps = 8e9;
  machine.near_Bps = 40e9;
  // From the time of the ranks' cores in cells of 3 to 16 ranks on two cores (docs/tune.md, 2026-11-25): 0.1 to 0.3
  // us a slice choose alike, and so do caches of 16 to 64 MB. The last one's size is 32 MB here.
  machine.message_s = 0.2e-6;
  machine.cache_bytes = 32e6;
  machine.num_cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return machine;
}

double estimate_seconds(const CostSummary& summary, int num_ranks, size_t num_bytes, const Machine& machine) {
  const double size_bytes = static_cast<double>(num_bytes);
  const bool shares_cores = num_ranks > machine.num_cores;
  const double alpha_s = shares_cores ? machine.switch_s * num_ranks / machine.num_cores : machine.alpha_s;
  const Sliced busiest(summary.sent * size_bytes / std::max(1, summary.steps));
  const double fill_s = std::max(0, summary.hops - summary.steps) * busiest.slice_bytes / machine.copy_Bps;

  const double total_moved = summary.total_written + summary.total_read;
  const double share = total_moved > 0 ? (summary.written + summary.read) / total_moved : 1;
  const double in_slots = summary.total_in_slots / 2 * size_bytes, own = total_moved / 2 * size_bytes - in_slots;
  double work_s = own * pace(machine, own);
  if (shares_cores) {
    const double received = summary.total_received * size_bytes;
    const double put_in = summary.total_in_slots * size_bytes - received;
    const Sliced mean(received / static_cast<double>(std::max(int64_t{1}, summary.messages)));
    const double slots = std::min(static_cast<double>(summary.links) * kSlots * mean.slice_bytes, put_in);
    const double weighed = kReceivedShare * received + (1 - kReceivedShare) * put_in;
    const double still_there = kOwnCacheBytes / (kOwnCacheBytes + slots + own);
    const double one_way = summary.total_one_way * size_bytes * still_there * still_there;
    work_s += weighed * pace(machine, slots + std::min(slots, own)) + kOneWay * one_way / machine.near_Bps +
              static_cast<double>(summary.messages) * mean.num_slices * machine.message_s;
  } else {
    work_s += in_slots / machine.copy_Bps;
  }
  return summary.hops * alpha_s + fill_s + std::max(share, 1.0 / machine.num_cores) * work_s;
}

Choice choose(std::span<const Candidate> candidates, int num_ranks, size_t num_bytes, const Machine& machine) {
  std::vector<std::string> names;
  std::vector<double> seconds;
  for (const Candidate& candidate : candidates) {
    names.push_back(candidate.name);
    seconds.push_back(estimate_seconds(candidate.summary, num_ranks, num_bytes, machine));
  }
  return pick("closed-form model", names, std::move(seconds),
              count_text(static_cast<size_t>(num_ranks), "rank") + " on " +
                  count_text(static_cast<size_t>(machine.num_cores), "core") + ", " + count_text(num_bytes, "byte") +
                  "; constants " + machine.source);
}

Choice choose_on_hosts(std::span<const Schedule> candidates, size_t count, size_t item_size, const HostGroups& hosts,
                       const HostLinks& given, const MessageWork& work) {
  HostLinks links = given;
  if (work.ranks_per_core > 1 && work.byte_s > 0) links.beta_Bps = std::min(links.beta_Bps, kShareOfCore / work.byte_s);
  const auto seconds = [&](const Schedule& schedule) {
    const Timing timing = time_schedule(schedule, count, item_size, hosts, links);
    double longest_s = 0, all_s = 0;
    for (const NetworkShare& share : timing.rank_network) {
      // A rank has one half of each of its messages to do.
      const double of_rank_s =
          (work.message_s * static_cast<double>(share.messages) + work.byte_s * static_cast<double>(share.bytes)) / 2;
      longest_s = std::max(longest_s, of_rank_s);
      all_s += of_rank_s;
    }
    const double cores_s = std::max(longest_s, work.ranks_per_core * all_s / hosts.num_ranks());
    return std::max(timing.seconds, cores_s) + kNotHidden * std::min(timing.seconds, cores_s);
  };
  Choice choice = pick_timed(
      "sliced recurrence between hosts", candidates, seconds,
      hosts.describe() + ", links of " + time_text(given.alpha_s) + " and " + rate_text(given.beta_Bps) +
          (links.beta_Bps < given.beta_Bps ? " (shared cores feed " + rate_text(links.beta_Bps) + "), " : ", ") +
          time_text(work.message_s) + " of a core a message, " + elements_text(count, item_size));
  // Of equals the one with the fewest links: who hears from several ranks at once loses by what the model leaves out.
  const int fastest = choice.index;
  const double enough_s = choice.seconds[static_cast<size_t>(fastest)] * (1 + kEqual);
  size_t fewest = Wiring(candidates[static_cast<size_t>(fastest)]).links.size();
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (choice.seconds[i] > enough_s) continue;
    const size_t num_links = Wiring(candidates[i]).links.size();
    if (num_links >= fewest) continue;
    fewest = num_links;
    choice.index = static_cast<int>(i);
  }
  const std::string& name = candidates[static_cast<size_t>(choice.index)].shape().name;
  if (choice.index != fastest) choice.reason += "; " + name + " has the fewest links of those within 3 %";
  return choice;
}

Choice choose_on_cluster(std::span<const Schedule> candidates, size_t count, size_t item_size, const Cluster& cluster) {
  const auto seconds = [&](const Schedule& schedule) {
    return time_schedule(schedule, count, item_size, cluster).seconds;
  };
  return pick_timed("sliced recurrence on an emulated cluster", candidates, seconds,
                    std::to_string(cluster.num_hosts) + "x" + std::to_string(cluster.ranks_per_host) + " ranks, " +
                        elements_text(count, item_size));
}

}  // namespace ringtree
