// See selection.h.
#include "core/engine/selection.h"

#include "core/base/processor.h"
#include "core/schedule/rank_order.h"

namespace ringtree {
namespace {

// Nobody knows all lengths of an uneven all_to_all, and every rank must choose alike.
constexpr size_t kUnknownBytes = size_t{64} << 10;

size_t mean_count(const CallKind& kind, int num_ranks) {
  if (!kind.uneven()) return kind.count;
  if (kind.collective == Collective::all_to_all) return kUnknownBytes / item_size(kind.dtype);
  uint64_t sum = 0;
  for (const uint64_t count : kind.counts) sum += count;
  return sum / static_cast<uint64_t>(num_ranks);
}

// As rules name them: hosts with equal, consecutive ranks; 0 for other groups.
int even_hosts(const HostGroups& hosts) {
  return hosts == HostGroups::blocks(hosts.num_ranks(), hosts.largest()) && hosts.smallest() == hosts.largest()
             ? hosts.num_hosts()
             : 0;
}

}  // namespace

std::pair<Configuration, std::string> choose_configuration(const AlgorithmTable& table, const CallKind& kind,
                                                           const Selection& selection) {
  const size_t count = mean_count(kind, selection.num_ranks), block_bytes = count * item_size(kind.dtype);
  const size_t bytes = static_cast<size_t>(blocks_of_rank(kind.collective, selection.num_ranks)) * block_bytes;
  const bool ordered = selection.deterministic && reduces(kind.collective) && order_matters(kind.dtype, kind.op);
  const auto allowed = [&](const std::string& algorithm) {
    return !ordered || folds_in_rank_order(table.make(algorithm, kind.collective, kind.root, selection.hosts));
  };
  if (!selection.emulation) {
    const Profile::Conditions conditions{selection.num_ranks, selection.own_cores, selection.shared_buffers,
                                         even_hosts(selection.hosts)};
    if (auto rule = selection.profile.find(kind.collective, conditions, bytes); rule && allowed(rule->algorithm))
      return {*rule, "measured profile: " + rule->to_string() + " for " + std::to_string(bytes) + " bytes"};
  }

  std::vector<Candidate> candidates = table.candidates(kind.collective, selection.hosts);
  std::erase_if(candidates, [&](const Candidate& candidate) { return !allowed(candidate.name); });
  Choice choice;
  if (selection.hosts.num_hosts() > 1 || selection.emulation) {
    std::vector<Schedule> schedules;
    for (const Candidate& candidate : candidates)
      schedules.push_back(table.make(candidate.name, kind.collective, kind.root, selection.hosts));
    choice = selection.emulation ? choose_on_cluster(schedules, count, item_size(kind.dtype), *selection.emulation)
                                 : choose_on_hosts(schedules, count, item_size(kind.dtype), selection.hosts,
                                                   selection.links.value_or(default_host_links()),
                                                   default_message_work(selection.ranks_per_core));
  } else {
    choice = ringtree::choose(candidates, selection.num_ranks, bytes, selection.machine);
  }
  if (selection.links) choice.reason += "; links as probed";
  Configuration configuration;
  configuration.algorithm = candidates[static_cast<size_t>(choice.index)].name;
  configuration.channels = selection.num_channels;
  return {std::move(configuration), choice.reason};
}

// Without an input, roots by turns. Intel Xeon, 2 cores near, 2026-11-27: 8 and 16 MB took 25 and 19 % less time
// through the caches, 32 MB 42 % more. AMD EPYC (Zen 3), the same day: 4 to 16 MB took 11 to 16 % more through the
// caches, and 3 to 6 % more if the receiver then read all of it once. AMD EPYC (Zen 4), 2026-11-28: 4 and 8 MB took 43
// and 37 % less time through the caches, 16 and 32 MB about the same.
bool streams_by_default(size_t output_bytes, bool has_input) {
  const size_t from_mb = has_input ? 6 : is_amd_before_zen4() ? 4 : 24;
  return output_bytes >= from_mb << 20;
}

bool order_matters(Dtype dtype, ReduceOp op) {
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::prod:
    case ReduceOp::min:  // of -0 and +0 the earlier one stays
    case ReduceOp::max:
    case ReduceOp::avg:
    case ReduceOp::premul_sum:
      return dtype >= Dtype::kFloat16;  // whole numbers wrap alike in any order
    default:
      return false;
  }
}

std::string why_not(Protocol protocol, const Selection& selection) {
  if (protocol != Protocol::simple && selection.really_on_several_hosts())
    return std::string("protocol ") + protocol_name(protocol) +
           " runs on one host only: its flags lie in shared memory; between hosts it is simple";
  if (protocol == Protocol::simple || !selection.emulation) return "";
  return std::string("protocol ") + protocol_name(protocol) +
         " does not run on an emulated cluster: only simple's slots carry arrival times";
}

}  // namespace ringtree
