// What the owner of a shard does in a composition (compose.h): it gathers or folds what the ranks of its host have,
// runs its part of the outer algorithm with it, and hands the results to who wants them. The other ranks of the host
// compute it too, to learn what they must send to the owner and get from it, and in which order.
#pragma once

#include <vector>

#include "core/algorithms/shard.h"
#include "core/schedule/schedule.h"

namespace ringtree {

/// Lanes by purpose. Those of the outer algorithm, for each stream and once more for each further reader, are kOuter
/// and above.
namespace lane {
inline constexpr int kGive = 0, kTake = 1, kGet = 2, kHand = 3, kOuter = 4;
}
/// Tags inside a host. Those of the outer algorithm are between hosts, so the two never share a link.
namespace tag {
inline constexpr int kToOwner = 0, kFromOwner = 1;
/// By a switch, which all owners share: those of each shard.
constexpr int to_owner(int shard) { return 2 * shard; }
constexpr int from_owner(int shard) { return 2 * shard + 1; }
}  // namespace tag

/// Everything that all owners' programs depend on.
struct Composition {
  Composition(ScheduleShape whole, HostGroups groups, Schedule among_owners);

  int num_shards() const { return hosts.smallest(); }
  int owner(int host, int shard) const { return hosts.ranks_of(host)[static_cast<size_t>(shard)]; }
  bool on_switches() const { return !shape.switches.empty(); }
  int switch_of(int host) const { return shape.num_ranks + host; }

  ScheduleShape shape;  // `widest` is not known yet
  HostGroups hosts;
  Schedule outer;  // its ranks are hosts
  std::vector<Shard> shards;
};

class OwnerProgram {
 public:
  /// `outer`: the steps of `host` in the outer algorithm.
  OwnerProgram(const Composition& composition, const Program& outer, int host, int shard);

  int owner() const { return owner_; }
  int host() const { return composition_.hosts.host_of(owner_); }
  int shard() const { return index_; }
  int num_scratch() const { return num_scratch_; }
  const std::vector<Step>& steps() const { return steps_; }

  /// What the owner takes from ranks of its host, and what it hands to them: `ranks` are the others, in order. By a
  /// switch the owner is one of them.
  struct Transfer {
    ChunkRange chunks;
    std::vector<int> ranks;
  };
  const std::vector<Transfer>& taken() const { return taken_; }
  const std::vector<Transfer>& handed() const { return handed_; }

 private:
  void add_outer_step(const Step& outer);
  void add_to_each_reader(Step step);
  Place staged(const Piece& piece);
  void take(const Piece& piece, const std::vector<int>& sources, const Place& place);
  Place result(const std::vector<int>& ids) const;
  void hand_out_results();
  void add(Step step, const std::vector<int>& results);
  std::vector<int> and_owner(std::vector<int> ranks) const;
  std::vector<int> others_with(int id, ChunkSpan (ScheduleShape::*span)(int rank) const) const;
  Place side_by_side(const std::vector<int>& slots, const std::vector<int>& ids) const;

  const Composition& composition_;
  const ScheduleShape& shape_;
  const Shard& shard_;
  const int index_, owner_, num_outer_lanes_, num_outer_scratch_;
  const ChunkSpan input_, output_;
  bool stages_in_output_ = true;
  std::vector<int> stage_slots_, result_slots_;  // by position in the shard
  std::vector<bool> is_staged_;
  int num_scratch_ = 0, first_outer_scratch_ = 0;
  std::vector<Step> steps_;
  std::vector<std::vector<int>> results_;  // of each step: chunks whose result it writes, for now
  std::vector<Transfer> taken_, handed_;
};

}  // namespace ringtree
