// See selection.h.
#include "core/engine/selection.h"

#include "core/schedule/layout.h"

namespace ringtree {

std::pair<Configuration, std::string> choose_configuration(const AlgorithmTable& table, const CallKind& kind,
                                                           const Selection& selection) {
  const size_t blocks = has_blocks(kind.collective) ? static_cast<size_t>(selection.num_ranks) : 1;
  const size_t bytes = blocks * kind.count * item_size(kind.dtype);
  if (!selection.emulation)
    if (auto rule = selection.profile.find(kind.collective,
                                           {selection.num_ranks, selection.own_cores, selection.shared_buffers}, bytes))
      return {*rule, "measured profile: " + rule->to_string() + " for " + std::to_string(bytes) + " bytes"};

  const std::vector<Candidate> candidates = table.candidates(kind.collective, selection.num_ranks);
  Choice choice;
  if (selection.emulation) {
    std::vector<Schedule> schedules;
    for (const Candidate& candidate : candidates)
      schedules.push_back(table.make(candidate.name, kind.collective, selection.num_ranks, kind.root));
    choice = choose_on_cluster(schedules, kind.count, item_size(kind.dtype), *selection.emulation);
  } else {
    choice = ringtree::choose(candidates, selection.num_ranks, bytes, selection.machine);
  }
  Configuration configuration;
  configuration.algorithm = candidates[static_cast<size_t>(choice.index)].name;
  configuration.channels = selection.num_channels;
  return {std::move(configuration), choice.reason};
}

bool streams_by_default(size_t output_bytes) { return output_bytes >= size_t{6} << 20; }

std::string why_not(Protocol protocol, const Selection& selection) {
  if (protocol == Protocol::simple || !selection.emulation) return "";
  return std::string("protocol ") + protocol_name(protocol) +
         " does not run on an emulated cluster: the time at which a message arrives is stamped on the slots of simple";
}

}  // namespace ringtree
