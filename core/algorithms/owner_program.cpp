// See owner_program.h. Which ranks have a chunk before and who wants it after is read from the collective's spans, so
// that nothing here depends on which collective it is.
#include "core/algorithms/owner_program.h"

#include <algorithm>

namespace ringtree {

Composition::Composition(ScheduleShape whole, HostGroups groups, Schedule among_owners)
    : shape(std::move(whole)), hosts(std::move(groups)), outer(std::move(among_owners)) {
  for (int shard = 0; shard < num_shards(); ++shard)
    shards.emplace_back(hosts, has_blocks(shape.collective), outer.shape().num_chunks, shape.num_chunks, shard);
}

OwnerProgram::OwnerProgram(const Composition& composition, const Program& outer, int host, int shard)
    : composition_(composition),
      shape_(composition.shape),
      shard_(composition.shards[static_cast<size_t>(shard)]),
      index_(shard),
      owner_(composition.owner(host, shard)),
      num_outer_lanes_(outer.num_lanes() * shard_.num_streams()),
      num_outer_scratch_(outer.num_scratch()),
      input_(shape_.input(owner_)),
      output_(shape_.output(owner_)) {
  const std::vector<int>& ids = shard_.ids();
  stage_slots_.resize(ids.size(), -1);
  result_slots_.resize(ids.size(), -1);
  is_staged_.resize(ids.size(), false);
  for (size_t i = 0; i < ids.size(); ++i) {  // results that only others want
    stages_in_output_ = stages_in_output_ && output_.contains(ids[i]);
    if (!output_.contains(ids[i]) && !others_with(ids[i], &ScheduleShape::output).empty())
      result_slots_[i] = num_scratch_++;
  }
  first_outer_scratch_ = num_scratch_;
  num_scratch_ += num_outer_scratch_ * shard_.num_streams();
  for (const Step& step : outer.steps()) add_outer_step(step);
  hand_out_results();
}

void OwnerProgram::add_outer_step(const Step& outer) {
  for (const Piece& piece : shard_.pieces(outer.chunks)) {
    const auto place = [&](const Place& of) -> Place {
      if (of.buffer == Buffer::input) return staged(piece);
      if (of.buffer == Buffer::output) return result(piece.ids);
      if (of.buffer == Buffer::none) return {};
      return scratch(first_outer_scratch_ + piece.stream * num_outer_scratch_ + of.slot + piece.operand);
    };
    Step step = outer;
    step.lane = lane::kOuter + outer.lane * shard_.num_streams() + piece.stream;
    step.chunks = piece.chunks;
    const auto tag = [&](int of) { return of * shard_.num_streams() + piece.stream; };
    for (Endpoint& end : step.recv) end = {composition_.owner(end.peer, index_), tag(end.tag)};
    for (int& peer : step.send_to) peer = composition_.owner(peer, index_);
    if (!outer.send_to.empty()) step.send_tag = tag(outer.send_tag);
    step.src = place(outer.src);
    step.dst = place(outer.dst);
    if (step.src == step.dst && !shape_of(step.verb).reduces) {  // staged where it is wanted
      if (step.verb == Verb::copy) continue;
      if (step.verb == Verb::copy_send) step.verb = Verb::send, step.dst = {};
    }
    const size_t before = steps_.size();
    add_to_each_reader(std::move(step));
    if (outer.dst.buffer == Buffer::output && steps_[before].dst) results_[before] = piece.ids;
  }
}

// A slot with several readers exists inside a host only: elsewhere each reader gets a message of its own, from where
// the step has put its result. On a lane of its own, so that it streams too.
void OwnerProgram::add_to_each_reader(Step step) {
  const std::vector<int> readers = step.send_to;
  const Place from = step.dst ? step.dst : step.src;
  if (readers.size() > 1 && !step.dst && step.verb != Verb::send)
    throw ScheduleError(shape_.name + ": the outer algorithm multicasts what it does not keep");
  if (!readers.empty()) step.send_to = {readers[0]};
  const int lane = step.lane;
  const ChunkRange chunks = step.chunks;
  const int tag = step.send_tag;
  add(std::move(step), {});
  for (size_t i = 1; i < readers.size(); ++i) {
    Step copy;
    copy.verb = Verb::send;
    copy.lane = lane + static_cast<int>(i) * num_outer_lanes_;
    copy.chunks = chunks;
    copy.src = from;
    copy.send_to = {readers[i]};
    copy.send_tag = tag;
    add(std::move(copy), {});
  }
}

/// Where the host's contribution to the piece lies; taken from the host's other ranks at its first use.
Place OwnerProgram::staged(const Piece& piece) {
  const std::vector<int> sources = others_with(piece.ids[0], &ScheduleShape::input);
  if (sources.empty()) return kInput;
  const size_t first = static_cast<size_t>(shard_.position(piece.ids[0]));
  const bool is_new = !is_staged_[first];
  for (int id : piece.ids) {
    const size_t at = static_cast<size_t>(shard_.position(id));
    if (is_staged_[at] == is_new)
      throw ScheduleError(shape_.name + ": the outer algorithm reads its input in ranges that overlap in part");
    is_staged_[at] = true;
    if (is_new && !stages_in_output_) stage_slots_[at] = num_scratch_++;  // side by side as the outer step wants them
  }
  const Place place = stages_in_output_ ? kOutput : side_by_side(stage_slots_, piece.ids);
  if (is_new) take(piece, sources, place);
  return place;
}

void OwnerProgram::take(const Piece& piece, const std::vector<int>& sources, const Place& place) {
  Step step;
  step.lane = lane::kTake;
  step.chunks = piece.chunks;
  step.dst = place;
  if (composition_.on_switches()) {
    if (!input_.contains(piece.ids[0])) throw ScheduleError(shape_.name + ": a switch reduces, it does not gather");
    step.verb = Verb::recv;
    step.recv = {{composition_.switch_of(host()), tag::to_owner(index_)}};
    add(std::move(step), place.buffer == Buffer::output ? piece.ids : std::vector<int>{});
    taken_.push_back({piece.chunks, and_owner(sources)});
    return;
  }
  for (int source : sources) step.recv.push_back({source, tag::kToOwner});
  if (input_.contains(piece.ids[0])) {  // folded in rank order
    step.verb = Verb::recv_reduce_copy;
    step.src = kInput;
    step.src_at = static_cast<int>(std::lower_bound(sources.begin(), sources.end(), owner_) - sources.begin());
  } else {
    step.verb = Verb::recv;
  }
  add(std::move(step), place.buffer == Buffer::output ? piece.ids : std::vector<int>{});
  taken_.push_back({piece.chunks, sources});
}

Place OwnerProgram::result(const std::vector<int>& ids) const {
  return output_.contains(ids[0]) ? kOutput : side_by_side(result_slots_, ids);
}

/// After the last step that writes a result its chunks go to who wants them, in the step's own range where all of them
/// are ready, so that they stream.
void OwnerProgram::hand_out_results() {
  std::vector<size_t> last_writer(shard_.ids().size(), 0);
  for (size_t i = 0; i < steps_.size(); ++i)
    for (int id : results_[i]) last_writer[static_cast<size_t>(shard_.position(id))] = i;
  const std::vector<Step> steps = std::move(steps_);
  const std::vector<std::vector<int>> results = std::move(results_);
  steps_.clear();
  results_.clear();
  for (size_t i = 0; i < steps.size(); ++i) {
    add(steps[i], {});
    std::vector<int> ready;
    for (int id : results[i])
      if (last_writer[static_cast<size_t>(shard_.position(id))] == i) ready.push_back(id);
    for (const std::vector<int>& run : shard_.runs(ready)) {
      const std::vector<int> readers = others_with(run[0], &ScheduleShape::output);
      if (readers.empty()) continue;
      Step step;
      step.verb = Verb::send;
      step.lane = lane::kHand;
      step.chunks = range_of(run);
      step.src = result(run);
      const bool by_switch = composition_.on_switches();
      step.send_to = by_switch ? std::vector<int>{composition_.switch_of(host())} : readers;
      step.send_tag = by_switch ? tag::from_owner(index_) : tag::kFromOwner;
      add(std::move(step), {});
      handed_.push_back({range_of(run), by_switch && output_.contains(run[0]) ? and_owner(readers) : readers});
    }
  }
}

void OwnerProgram::add(Step step, const std::vector<int>& results) {
  steps_.push_back(std::move(step));
  results_.push_back(results);
}

std::vector<int> OwnerProgram::and_owner(std::vector<int> ranks) const {
  ranks.insert(std::lower_bound(ranks.begin(), ranks.end(), owner_), owner_);
  return ranks;
}

std::vector<int> OwnerProgram::others_with(int id, ChunkSpan (ScheduleShape::*span)(int rank) const) const {
  std::vector<int> ranks;
  for (int rank : composition_.hosts.ranks_of(composition_.hosts.host_of(owner_)))
    if (rank != owner_ && (shape_.*span)(rank).contains(id)) ranks.push_back(rank);
  return ranks;
}

Place OwnerProgram::side_by_side(const std::vector<int>& slots, const std::vector<int>& ids) const {
  const int first = slots[static_cast<size_t>(shard_.position(ids[0]))];
  for (size_t i = 0; i < ids.size(); ++i)
    if (slots[static_cast<size_t>(shard_.position(ids[i]))] != first + static_cast<int>(i))
      throw ScheduleError(shape_.name + ": the outer algorithm uses ranges whose parts do not lie side by side");
  return scratch(first);
}

}  // namespace ringtree
