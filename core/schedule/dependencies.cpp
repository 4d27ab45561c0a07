// Derives what a step must wait for in other lanes: read after write, write after read and write after write on the
// same place, in program order. Places are chunks of the user's data (input and output alike, as if in place) and
// scratch slots. Scratch is used again in the next pass, so its conflicts also run from the end of the sequence back to
// its start; user data is not, since another pass works on other bytes.
#include <algorithm>
#include <map>

#include "core/schedule/program.h"

namespace ringtree {
namespace {

struct Access {
  int step = -1;
  int pass = 0;
};

struct History {
  Access writer;
  std::vector<Access> readers;  // since that write
};

/// place key -> who touched it last. User chunk c is key c, scratch slot s is key num_chunks + s.
class Deriver {
 public:
  Deriver(const std::vector<Step>& steps, int num_chunks, int num_places)
      : steps_(steps), num_chunks_(num_chunks), history_(static_cast<size_t>(num_places)) {}

  void run_pass(int pass, std::vector<std::vector<Dependency>>& out) {
    for (size_t i = 0; i < steps_.size(); ++i) {
      touched_.clear();
      visit(static_cast<int>(i), pass, steps_[i].src, false);
      visit(static_cast<int>(i), pass, steps_[i].dst, true);
      emit(pass, out[i]);
    }
  }

 private:
  int key(const Step& step, const Place& place, int i) const {
    return place.buffer == Buffer::scratch ? num_chunks_ + place.slot + i : step.chunks.id(i, num_chunks_);
  }

  void visit(int index, int pass, const Place& place, bool writes) {
    const Step& step = steps_[static_cast<size_t>(index)];
    if (!place || (pass > 0 && place.buffer != Buffer::scratch)) return;
    for (int i = 0; i < step.chunks.count; ++i) {
      History& history = history_[static_cast<size_t>(key(step, place, i))];
      wait_for(index, pass, history.writer, place);
      if (writes) {
        for (const Access& reader : history.readers) wait_for(index, pass, reader, place);
        history = {{index, pass}, {}};
      } else {
        history.readers.push_back({index, pass});
      }
    }
  }

  void wait_for(int index, int pass, const Access& earlier, const Place& place) {
    if (earlier.step < 0) return;
    const Step &later = steps_[static_cast<size_t>(index)], &first = steps_[static_cast<size_t>(earlier.step)];
    if (first.lane == later.lane) return;          // a lane keeps its own order
    if (pass > 0 && earlier.pass == pass) return;  // found in pass 0 already
    // Slices of several chunks lie elsewhere in a pass whose pieces are shorter; those of one chunk only end sooner.
    const bool same_slices = earlier.pass == pass || later.chunks.count == 1;
    Dependency dependency{earlier.step, same_slices && same_bytes(first, later, place), earlier.pass < pass};
    touched_.emplace_back(first.lane, dependency);
  }

  // Slice i of both is the same bytes if the chunks are the same and, in scratch, begin in the same slot.
  static bool same_bytes(const Step& first, const Step& later, const Place& place) {
    if (!(first.chunks == later.chunks)) return false;
    if (place.buffer != Buffer::scratch) return true;
    const bool src_fits = first.src.buffer != Buffer::scratch || first.src.slot == place.slot;
    const bool dst_fits = first.dst.buffer != Buffer::scratch || first.dst.slot == place.slot;
    return src_fits && dst_fits;
  }

  // A lane runs its steps in order, so the latest step of each lane implies the others; a step of this pass implies the
  // one before.
  void emit(int pass, std::vector<Dependency>& out) {
    std::map<int, Dependency> by_lane;
    for (const auto& [lane, dependency] : touched_) {
      const auto [entry, is_new] = by_lane.try_emplace(lane, dependency);
      if (is_new) continue;
      Dependency& kept = entry->second;
      if (dependency.step > kept.step) {
        kept = dependency;
      } else if (dependency.step == kept.step) {
        kept.by_slice = kept.by_slice && dependency.by_slice;
      }
    }
    for (const auto& [lane, dependency] : by_lane) {
      const bool implied = pass > 0 && std::any_of(out.begin(), out.end(), [&, of = lane](const Dependency& other) {
                             return !other.previous_pass && steps_[static_cast<size_t>(other.step)].lane == of;
                           });
      if (!implied) out.push_back(dependency);
    }
  }

  const std::vector<Step>& steps_;
  int num_chunks_;
  std::vector<History> history_;
  std::vector<std::pair<int, Dependency>> touched_;
};

}  // namespace

std::vector<std::vector<Dependency>> derive_dependencies(const std::vector<Step>& steps, int num_chunks,
                                                         int num_scratch, int num_lanes) {
  std::vector<std::vector<Dependency>> out(steps.size());
  if (num_lanes < 2) return out;
  Deriver deriver(steps, num_chunks, num_chunks + num_scratch);
  deriver.run_pass(0, out);
  if (num_scratch > 0) deriver.run_pass(1, out);
  return out;
}

}  // namespace ringtree
