// See wiring.h.
#include "core/model/wiring.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace ringtree {

Wiring::Wiring(const Schedule& schedule) {
  std::map<std::tuple<int, int, int>, int> link_index;  // (src, dst, tag)
  const auto link = [&](int src, int dst, int tag) -> int {
    const auto [entry, is_new] = link_index.try_emplace({src, dst, tag}, static_cast<int>(links.size()));
    if (is_new) links.push_back({src, dst, -1, -1});
    return entry->second;
  };
  for (int rank = 0; rank < schedule.shape().num_programs(); ++rank) {
    const Program program = schedule.program(rank);
    const int first_step = static_cast<int>(steps.size()), num_steps = static_cast<int>(program.steps().size());
    const int first_lane = static_cast<int>(lanes.size());
    for (int number = 0; number < program.num_lanes(); ++number) lanes.push_back({rank, number, {}});
    for (int i = 0; i < num_steps; ++i) {
      const Step& step = program.steps()[i];
      const int lane = first_lane + step.lane;
      lanes[lane].steps.push_back(first_step + i);
      WiredStep& wired = steps.emplace_back();
      wired.chunks = step.chunks;
      if (shape_of(step.verb).reduces)  // a reduce without messages folds its source into what the destination holds
        wired.num_folds = std::max(1, static_cast<int>(step.recv.size()) + (step.src ? 1 : 0) - 1);
      wired.num_touched = (step.src ? 1 : 0) + (step.dst ? 1 : 0);
      wired.copies = step.verb == Verb::copy;
      for (const Endpoint& end : step.recv) wired.recv_links.push_back(link(end.peer, rank, end.tag));
      for (int peer : step.send_to) wired.send_links.push_back(link(rank, peer, step.send_tag));
      const auto reader = [&](int id) { return links[id].dst_rank; };
      std::sort(wired.send_links.begin(), wired.send_links.end(), [&](int a, int b) { return reader(a) < reader(b); });
      for (int id : wired.recv_links) links[id].receiver = lane;
      for (int id : wired.send_links) links[id].sender = lane;
    }
    for (int i = 0; i < num_steps; ++i) {
      const int lane = first_lane + program.steps()[i].lane;
      for (const Dependency& dependency : program.dependencies()[i]) {
        const int other = first_step + dependency.step;
        steps[first_step + i].waits_for.push_back({other, dependency.by_slice, dependency.previous_pass});
        std::vector<int>& dependents = steps[other].dependent_lanes;
        if (std::find(dependents.begin(), dependents.end(), lane) == dependents.end()) dependents.push_back(lane);
      }
    }
  }
}

}  // namespace ringtree
