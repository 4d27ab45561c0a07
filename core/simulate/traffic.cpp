// See traffic.h.
#include "core/simulate/traffic.h"

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/model/wiring.h"

namespace ringtree {
namespace {

/// Where a step went, and which port of its lane each link is.
class Flattener {
 public:
  Flattener(const Wiring& wiring, Traffic& out) : wiring_(wiring), out_(out), place_(wiring.steps.size()) {}

  void run() {
    for (const WiredLink& link : wiring_.links) {
      if (link.sender < 0 || link.receiver < 0)
        throw UsageError(out_.shape.name + " cannot be simulated: a message from " + out_.shape.called(link.src_rank) +
                         " to " + out_.shape.called(link.dst_rank) +
                         (link.sender < 0 ? " is never sent" : " is never received") +
                         "; verify the schedule to find out why");
      out_.links.push_back({link.src_rank, link.dst_rank, link.sender, link.receiver, -1, -1});
    }
    for (const WiredLane& lane : wiring_.lanes)
      for (size_t i = 0; i < lane.steps.size(); ++i) place_[static_cast<size_t>(lane.steps[i])] = static_cast<int>(i);
    lane_of_step_.resize(wiring_.steps.size());
    for (size_t lane = 0; lane < wiring_.lanes.size(); ++lane)
      for (const int step : wiring_.lanes[lane].steps)
        lane_of_step_[static_cast<size_t>(step)] = static_cast<int>(lane);
    for (size_t lane = 0; lane < wiring_.lanes.size(); ++lane) add_lane(static_cast<int>(lane));
    end_lists();
  }

 private:
  void add_lane(int index) {
    const WiredLane& lane = wiring_.lanes[static_cast<size_t>(index)];
    while (static_cast<int>(out_.rank_first_lane.size()) <= lane.rank) out_.rank_first_lane.push_back(index);
    out_.lane_rank.push_back(lane.rank);
    out_.lane_first_step.push_back(static_cast<int>(out_.steps.size()));
    out_.lane_first_port.push_back(static_cast<int>(out_.port_link.size()));
    out_.lane_first_dependent.push_back(static_cast<int>(out_.dependents.size()));
    std::set<int> dependents;
    for (const int step : lane.steps) {
      const WiredStep& wired = wiring_.steps[static_cast<size_t>(step)];
      add_step(wired);
      for (const int dependent : wired.dependent_lanes)
        dependents.insert(wiring_.lanes[static_cast<size_t>(dependent)].number);
    }
    out_.dependents.insert(out_.dependents.end(), dependents.begin(), dependents.end());
  }

  void add_step(const WiredStep& wired) {
    TrafficStep& step = out_.steps.emplace_back();
    step.chunks = wired.chunks;
    step.num_folds = wired.num_folds;
    step.num_touched = wired.num_touched;
    step.copies = wired.copies;
    step.first_port = static_cast<int>(out_.step_ports.size());
    step.num_recv = static_cast<int>(wired.recv_links.size());
    step.num_send = static_cast<int>(wired.send_links.size());
    step.first_wait = static_cast<int>(out_.waits.size());
    step.num_waits = static_cast<int>(wired.waits_for.size());
    for (const int link : wired.recv_links)
      out_.step_ports.push_back(port(link, out_.links[static_cast<size_t>(link)].receiver_port));
    for (const int link : wired.send_links)
      out_.step_ports.push_back(port(link, out_.links[static_cast<size_t>(link)].sender_port));
    for (const WiredDependency& wait : wired.waits_for)
      out_.waits.push_back({wiring_.lanes[static_cast<size_t>(lane_of_step_[static_cast<size_t>(wait.step)])].number,
                            place_[static_cast<size_t>(wait.step)], wait.by_slice, wait.previous_pass});
  }

  int port(int link, int& known) {
    if (known < 0) {
      known = static_cast<int>(out_.port_link.size()) - out_.lane_first_port.back();
      out_.port_link.push_back(link);
    }
    return known;
  }

  void end_lists() {
    out_.rank_first_lane.resize(static_cast<size_t>(out_.shape.num_programs()) + 1,
                                static_cast<int>(wiring_.lanes.size()));
    out_.lane_first_step.push_back(static_cast<int>(out_.steps.size()));
    out_.lane_first_port.push_back(static_cast<int>(out_.port_link.size()));
    out_.lane_first_dependent.push_back(static_cast<int>(out_.dependents.size()));
  }

  const Wiring& wiring_;
  Traffic& out_;
  std::vector<int> place_;  // of each wired step in its lane
  std::vector<int> lane_of_step_;
};

}  // namespace

Traffic::Traffic(const Schedule& schedule) : shape(schedule.shape()) {
  const Wiring wiring(schedule);
  steps.reserve(wiring.steps.size());
  Flattener(wiring, *this).run();
}

std::pair<std::vector<int>, std::vector<int>> pairs_of(const Traffic& traffic) {
  std::vector<std::pair<int, int>> pairs;
  pairs.reserve(traffic.links.size());
  for (const TrafficLink& link : traffic.links) pairs.emplace_back(link.src_rank, link.dst_rank);
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  std::pair<std::vector<int>, std::vector<int>> out;
  for (const auto& [src, dst] : pairs) {
    out.first.push_back(src);
    out.second.push_back(dst);
  }
  return out;
}

}  // namespace ringtree
