// See compose.h.
#include "core/algorithms/compose.h"

#include <algorithm>
#include <map>
#include <memory>

#include "core/algorithms/owner_program.h"
#include "core/algorithms/steps.h"

namespace ringtree {
namespace {

using Transfer = OwnerProgram::Transfer;

bool concerns(const Transfer& transfer, int rank) {
  return std::find(transfer.ranks.begin(), transfer.ranks.end(), rank) != transfer.ranks.end();
}

/// Transfers of `rank` with owner number j: lists[j]. Adds a step for the first of every owner's, for the second, …,
/// so that all owners come on alike; beginning after `rank`'s own number, so that not all begin with the same owner.
template <class AddStep>
void in_turn(const std::vector<std::vector<ChunkRange>>& lists, int first, const AddStep& add) {
  size_t longest = 0;
  for (const auto& list : lists) longest = std::max(longest, list.size());
  for (size_t i = 0; i < longest; ++i)
    for (size_t offset = 0; offset < lists.size(); ++offset) {
      const size_t owner = (static_cast<size_t>(first) + offset) % lists.size();
      if (i < lists[owner].size()) add(owner, lists[owner][i]);
    }
}

/// Where a rank sends its part of shard j, and whence it gets results.
struct Via {
  int peer = 0, to_tag = 0, from_tag = 0;
};
Via via(const Composition& composition, const OwnerProgram& owner) {
  if (!composition.on_switches()) return {owner.owner(), tag::kToOwner, tag::kFromOwner};
  return {composition.switch_of(owner.host()), tag::to_owner(owner.shard()), tag::from_owner(owner.shard())};
}

std::vector<Step> steps_of(const Composition& composition, const std::vector<OwnerProgram>& owners, int rank) {
  std::vector<Step> steps;
  std::vector<std::vector<ChunkRange>> given(owners.size()), gotten(owners.size());
  for (size_t j = 0; j < owners.size(); ++j) {
    for (const Transfer& taken : owners[j].taken())
      if (concerns(taken, rank)) given[j].push_back(taken.chunks);
    for (const Transfer& handed : owners[j].handed())
      if (concerns(handed, rank)) gotten[j].push_back(handed.chunks);
  }
  const int next = composition.hosts.local_index(rank) + 1;
  in_turn(given, next, [&](size_t j, const ChunkRange& chunks) {
    const Via way = via(composition, owners[j]);
    steps.push_back(Do(Verb::send, chunks, lane::kGive).own(kInput).to(way.peer, way.to_tag));
  });
  for (const OwnerProgram& program : owners)
    if (program.owner() == rank) steps.insert(steps.end(), program.steps().begin(), program.steps().end());
  in_turn(gotten, next, [&](size_t j, const ChunkRange& chunks) {
    const Via way = via(composition, owners[j]);
    steps.push_back(Do(Verb::recv, chunks, lane::kGet).from(way.peer, way.from_tag).into(kOutput));
  });
  return steps;
}

/// For each owner a lane that adds up and a lane that multicasts, so that no shard waits for another.
std::vector<Step> steps_of_switch(const std::vector<OwnerProgram>& owners) {
  std::vector<Step> steps;
  for (const OwnerProgram& owner : owners) {
    const int to = tag::to_owner(owner.shard()), from = tag::from_owner(owner.shard());
    for (const Transfer& taken : owner.taken())
      steps.push_back(Do(Verb::recv_reduce_send, taken.chunks, to).from(taken.ranks, to).to(owner.owner(), to));
    for (const Transfer& handed : owner.handed())
      steps.push_back(Do(Verb::recv_send, handed.chunks, from).from(owner.owner(), from).to(handed.ranks, from));
  }
  return steps;
}

void generate(const Composition& composition, ProgramBuilder& b) {
  const int host = b.is_switch() ? b.rank() - b.num_ranks() : composition.hosts.host_of(b.rank());
  const Program outer = composition.outer.program(host);
  std::vector<OwnerProgram> owners;
  for (int shard = 0; shard < composition.num_shards(); ++shard) {
    owners.emplace_back(composition, outer, host, shard);
    if (owners.back().owner() == b.rank()) b.reserve_scratch(owners.back().num_scratch());
  }
  std::map<int, int> lanes;  // numbered without gaps, in order of first use
  for (Step& step : b.is_switch() ? steps_of_switch(owners) : steps_of(composition, owners, b.rank())) {
    step.lane = lanes.try_emplace(step.lane, static_cast<int>(lanes.size())).first->second;
    b.add(std::move(step));
  }
}

int widest_step(const Schedule& schedule) {
  int widest = 1;
  for (int rank = 0; rank < schedule.shape().num_ranks; ++rank) {
    const Program program = schedule.program(rank);
    for (const Step& step : program.steps()) widest = std::max(widest, step.chunks.count);
  }
  return widest;
}

}  // namespace

Schedule composition(const char* name, Collective collective, int root, const HostGroups& hosts,
                     Schedule (*outer)(Collective collective, int num_ranks, int root), Inside inside) {
  const bool root_exists = has_root(collective) && root >= 0 && root < hosts.num_ranks();
  Schedule among_owners = outer(collective, hosts.num_hosts(), root_exists ? hosts.host_of(root) : 0);
  const int num_chunks =
      has_blocks(collective) ? hosts.num_ranks() : among_owners.shape().num_chunks * hosts.smallest();
  ScheduleShape shape{name, collective, hosts.num_ranks(), root, num_chunks, num_chunks, {}};
  if (inside == Inside::by_switch && hosts.num_ranks() > 1)
    for (int host = 0; host < hosts.num_hosts(); ++host) shape.switches.push_back(hosts.ranks_of(host)[0]);
  const auto composed = std::make_shared<const Composition>(shape, hosts, std::move(among_owners));
  const Schedule::Generator generator = [composed](ProgramBuilder& b) { generate(*composed, b); };
  shape.widest = widest_step(Schedule(shape, generator));  // which checks the shape first
  return Schedule(std::move(shape), generator);
}

}  // namespace ringtree
