// The checks of one rank's program; see program.h.
#include "core/schedule/program.h"

#include <algorithm>
#include <map>

namespace ringtree {
namespace {

class Checker {
 public:
  Checker(const ScheduleShape& shape, int rank, int num_scratch)
      : shape_(shape), rank_(rank), num_scratch_(num_scratch), input_(shape.input(rank)), output_(shape.output(rank)) {}

  void check(const Step& step, int index) {
    index_ = index;
    step_ = &step;
    check_verb();
    check_chunks();
    check_place(step.src, false);
    check_place(step.dst, true);
    check_overlap();
    check_links();
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw ScheduleError(shape_.name + ": " + shape_.called(rank_) + ", step " + std::to_string(index_) + " (" +
                        verb_name(step_->verb) + "): " + what);
  }

  void check_verb() const {
    const VerbShape& verb = shape_of(step_->verb);
    const size_t num_recv = step_->recv.size();
    if (step_->lane < 0) fail("lane " + std::to_string(step_->lane) + " is negative");
    if (verb.recv == Arity::none && num_recv != 0) fail("takes nothing from peers");
    if (verb.recv == Arity::one && num_recv != 1) fail("takes from exactly one peer, not " + std::to_string(num_recv));
    if (verb.recv == Arity::some && num_recv == 0) fail("takes from at least one peer");
    const bool src_optional = verb.recv == Arity::some && num_recv >= 2;
    if (verb.has_src && !step_->src && !src_optional) fail("needs a source");
    if (!verb.has_src && step_->src) fail("has no source of its own");
    if (verb.has_dst != static_cast<bool>(step_->dst))
      fail(verb.has_dst ? "needs a destination" : "has no destination");
    if (verb.has_send != !step_->send_to.empty()) fail(verb.has_send ? "needs a peer to send to" : "sends nothing");
    const int last_place = verb.reduces && step_->src ? std::max(1, static_cast<int>(num_recv)) : 0;
    if (step_->src_at < 0 || step_->src_at > last_place)
      fail("src_at " + std::to_string(step_->src_at) + " is not within 0.." + std::to_string(last_place));
  }

  void check_chunks() {
    const ChunkRange& range = step_->chunks;
    if (range.count < 1 || range.count > shape_.num_chunks)
      fail("handles " + std::to_string(range.count) + " chunks of " + std::to_string(shape_.num_chunks));
    if (range.count > shape_.widest)
      fail("handles " + std::to_string(range.count) + " chunks, more than the declared widest " +
           std::to_string(shape_.widest));
    if (range.first < 0 || range.first >= shape_.num_chunks)
      fail("chunk " + std::to_string(range.first) + " does not exist");
    std::vector<int> ids;
    for (int i = 0; i < range.count; ++i) ids.push_back(range.id(i, shape_.num_chunks));
    std::sort(ids.begin(), ids.end());
    if (std::adjacent_find(ids.begin(), ids.end()) != ids.end()) fail("names a chunk twice");
    if (shape_.shares > 1) check_share(ids);
  }

  // A lane owns its links (own()), so those are of one share, too.
  void check_share(const std::vector<int>& ids) {
    const int share = ids.front() % shape_.shares;
    for (const int id : ids)
      if (id % shape_.shares != share)
        fail("chunks " + std::to_string(ids.front()) + " and " + std::to_string(id) + " are of different shares");
    const auto [entry, is_new] = share_of_lane_.try_emplace(step_->lane, share);
    if (entry->second != share)
      fail("lane " + std::to_string(step_->lane) + " is of share " + std::to_string(entry->second) + ", its chunk " +
           std::to_string(ids.front()) + " of share " + std::to_string(share));
  }

  void check_place(const Place& place, bool written) const {
    if (place && shape_.is_switch(rank_)) fail("a switch has no buffers: it passes on what arrives");
    if (place.buffer == Buffer::scratch) {
      if (place.slot < 0 || place.slot + step_->chunks.count > num_scratch_)
        fail("scratch slot " + std::to_string(place.slot) + " + " + std::to_string(step_->chunks.count) +
             " is beyond the " + std::to_string(num_scratch_) + " reserved");
      return;
    }
    if (!place) return;
    if (written && place.buffer == Buffer::input) fail("writes the input");
    const ChunkSpan& span = place.buffer == Buffer::input ? input_ : output_;
    for (int i = 0; i < step_->chunks.count; ++i) {
      const int id = step_->chunks.id(i, shape_.num_chunks);
      if (!span.contains(id))
        fail("chunk " + std::to_string(id) + " is not in this rank's " + kBufferNames[static_cast<int>(place.buffer)]);
    }
  }

  // Input and output hold the same chunk ids, so they are the same place or disjoint; scratch ranges might overlap in
  // part.
  void check_overlap() const {
    const Place &src = step_->src, &dst = step_->dst;
    if (src.buffer != Buffer::scratch || dst.buffer != Buffer::scratch || src.slot == dst.slot) return;
    if (std::abs(src.slot - dst.slot) < step_->chunks.count) fail("source and destination overlap in part");
  }

  void check_peer(int peer) const {
    if (peer < 0 || peer >= shape_.num_programs()) fail("peer " + std::to_string(peer) + " does not exist");
    if (peer == rank_) fail("a rank has no link to itself");
    if (shape_.is_switch(rank_) && shape_.is_switch(peer)) fail("switches have no links to each other");
  }

  void own(std::map<std::pair<int, int>, int>& owners, const char* end, int peer, int tag) {
    if (tag < 0) fail("tag " + std::to_string(tag) + " is negative");
    const auto [entry, is_new] = owners.try_emplace({peer, tag}, step_->lane);
    if (!is_new && entry->second != step_->lane)
      fail(std::string("the ") + end + " end of the link with " + shape_.called(peer) + ", tag " + std::to_string(tag) +
           " belongs to lane " + std::to_string(entry->second) + ", not to lane " + std::to_string(step_->lane));
  }

  void check_links() {
    for (size_t i = 0; i < step_->recv.size(); ++i) {
      check_peer(step_->recv[i].peer);
      for (size_t j = 0; j < i; ++j)
        if (step_->recv[i] == step_->recv[j])
          fail("takes twice from " + shape_.called(step_->recv[i].peer) + ", tag " +
               std::to_string(step_->recv[i].tag));
      own(recv_owners_, "receiving", step_->recv[i].peer, step_->recv[i].tag);
    }
    std::vector<int> readers = step_->send_to;
    std::sort(readers.begin(), readers.end());
    if (std::adjacent_find(readers.begin(), readers.end()) != readers.end()) fail("sends twice to one peer");
    for (int peer : readers) {
      check_peer(peer);
      own(send_owners_, "sending", peer, step_->send_tag);
      const auto [entry, is_new] = reader_sets_.try_emplace({peer, step_->send_tag}, readers);
      if (!is_new && entry->second != readers)
        fail("the link to " + shape_.called(peer) + ", tag " + std::to_string(step_->send_tag) +
             " has changing readers");
    }
  }

  const ScheduleShape& shape_;
  int rank_, num_scratch_;
  ChunkSpan input_, output_;
  int index_ = 0;
  const Step* step_ = nullptr;
  std::map<int, int> share_of_lane_;
  std::map<std::pair<int, int>, int> recv_owners_, send_owners_;
  std::map<std::pair<int, int>, std::vector<int>> reader_sets_;
};

}  // namespace

Program::Program(const ScheduleShape& shape, int rank, int num_scratch, std::vector<Step> steps)
    : rank_(rank), num_scratch_(num_scratch), steps_(std::move(steps)) {
  Checker checker(shape, rank, num_scratch);
  for (size_t i = 0; i < steps_.size(); ++i) {
    checker.check(steps_[i], static_cast<int>(i));
    num_lanes_ = std::max(num_lanes_, steps_[i].lane + 1);
  }
  check_lanes(shape);
  dependencies_ = derive_dependencies(steps_, shape.num_chunks, num_scratch_, num_lanes_);
}

// A gap would cost the executor an idle lane, and a huge number a huge table.
void Program::check_lanes(const ScheduleShape& shape) const {
  // Of steps + 1 lanes at least one is unused: looking at that many is enough.
  std::vector<bool> used(std::min(static_cast<size_t>(num_lanes_), steps_.size() + 1));
  for (const Step& step : steps_)
    if (static_cast<size_t>(step.lane) < used.size()) used[static_cast<size_t>(step.lane)] = true;
  const auto gap = std::find(used.begin(), used.end(), false);
  if (gap != used.end())
    throw ScheduleError(shape.name + ": " + shape.called(rank_) + " has no step on lane " +
                        std::to_string(gap - used.begin()) + "; number lanes from 0 without gaps");
}

}  // namespace ringtree
