// The rules of core/model/recurrence.h written down once more, slowly: all done times start at 0 and every equation is
// applied to every slice until none changes. No queue, no ready lists, no ring of slots. A network card is allowed only
// where one lane alone sends through it, because then its order is that lane's order.
#pragma once

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "core/model/cluster.h"
#include "core/schedule/layout.h"
#include "core/schedule/schedule.h"

namespace ringtree::testing {

class SlowRecurrence {
 public:
  SlowRecurrence(const Schedule& schedule, size_t count, size_t item_size, const HostGroups& hosts,
                 const HostLinks& network)
      : shape_(schedule.shape()), hosts_(hosts), network_(network), layout_(shape_, count), item_size_(item_size) {
    cut_ = cut_parts(layout_.longest_chunk() * item_size, shape_.widest);
    for (int rank = 0; rank < shape_.num_ranks; ++rank) {
      programs_.push_back(schedule.program(rank));
      for (int lane = 0; lane < programs_.back().num_lanes(); ++lane) list_lane(rank, lane);
    }
  }

  std::vector<double> rank_seconds() {
    while (improve()) continue;
    std::vector<double> seconds(static_cast<size_t>(shape_.num_ranks), 0.0);
    for (const Slice& slice : slices_) seconds[slice.rank] = std::max(seconds[slice.rank], slice.done);
    return seconds;
  }

 private:
  struct Slice {
    int rank, step;
    size_t pass, number, bytes;
    int before;                                                              // in its lane; -1 for the first
    std::vector<std::pair<std::tuple<int, int, int>, size_t>> recvs, sends;  // link and which message of it
    double done = 0, left = 0;  // left: when its (last) transmission left the card
  };

  size_t bytes_of(const Step& step, size_t pass) const {
    size_t bytes = 0;
    for (int i = 0; i < step.chunks.count; ++i) {
      const size_t all = layout_.chunk(step.chunks.id(i, shape_.num_chunks)).length * item_size_;
      bytes += std::min(all, (pass + 1) * cut_.pass_bytes) - std::min(all, pass * cut_.pass_bytes);
    }
    return bytes;
  }

  void list_lane(int rank, int lane) {
    int before = -1;
    const std::vector<Step>& steps = programs_[rank].steps();
    for (size_t pass = 0; pass < cut_.num_passes; ++pass) {
      for (size_t s = 0; s < steps.size(); ++s) {
        if (steps[s].lane != lane) continue;
        const size_t bytes = bytes_of(steps[s], pass);
        for (size_t i = 0; i < num_slices(bytes, cut_.slice_bytes); ++i) {
          const int id = static_cast<int>(slices_.size());
          Slice slice{
              rank, static_cast<int>(s), pass, i, std::min(cut_.slice_bytes, bytes - i * cut_.slice_bytes), before, {},
              {}};
          for (const Endpoint& end : steps[s].recv) {
            auto& list = receivers_[{end.peer, rank, end.tag}];
            slice.recvs.push_back({{end.peer, rank, end.tag}, list.size()});
            list.push_back(id);
          }
          for (int peer : steps[s].send_to) {
            auto& list = senders_[{rank, peer, steps[s].send_tag}];
            slice.sends.push_back({{rank, peer, steps[s].send_tag}, list.size()});
            list.push_back(id);
          }
          slices_of_[{rank, static_cast<int>(s), pass}].push_back(id);
          slices_.push_back(slice);
          before = id;
        }
      }
    }
  }

  double arrival(int sender, int reader_rank) const {
    const Slice& slice = slices_[sender];
    if (hosts_.host_of(slice.rank) == hosts_.host_of(reader_rank)) return slice.done;
    double left = slice.done;
    for (const auto& [link, message] : slice.sends) {
      if (hosts_.host_of(std::get<1>(link)) == hosts_.host_of(slice.rank)) continue;
      left += static_cast<double>(slice.bytes) / network_.beta_Bps;
      if (std::get<1>(link) == reader_rank) break;
    }
    return left + network_.alpha_s;
  }

  bool improve() {
    bool changed = false;
    for (Slice& slice : slices_) {
      double done = slice.before < 0 ? 0.0 : slices_[slice.before].done;
      for (const auto& [link, message] : slice.recvs)
        done = std::max(done, arrival(senders_[link][message], slice.rank));
      for (const auto& [link, message] : slice.sends)
        if (message >= kSlots) done = std::max(done, slices_[receivers_[link][message - kSlots]].done);
      for (const Dependency& dependency : programs_[slice.rank].dependencies()[slice.step]) {
        if (dependency.previous_pass && slice.pass == 0) continue;
        const auto& others = slices_of_[{slice.rank, dependency.step, slice.pass - (dependency.previous_pass ? 1 : 0)}];
        done = std::max(done, slices_[dependency.by_slice ? others[slice.number] : others.back()].done);
      }
      double left = slice.before < 0 ? 0.0 : slices_[slice.before].left;
      int num_remote = 0;
      for (const auto& [link, message] : slice.sends)
        num_remote += hosts_.host_of(std::get<1>(link)) != hosts_.host_of(slice.rank);
      if (num_remote > 0) {
        done = std::max(done, left);  // the lane waits until its card takes the slice
        left = done;
        for (int i = 0; i < num_remote; ++i) left += static_cast<double>(slice.bytes) / network_.beta_Bps;
      }
      changed = changed || done != slice.done || left != slice.left;
      slice.done = done, slice.left = left;
    }
    return changed;
  }

  ScheduleShape shape_;
  HostGroups hosts_;
  HostLinks network_;
  Layout layout_;
  size_t item_size_;
  Cut cut_;
  std::vector<Program> programs_;
  std::vector<Slice> slices_;
  std::map<std::tuple<int, int, int>, std::vector<int>> senders_, receivers_;  // (src, dst, tag): slice of each message
  std::map<std::tuple<int, int, size_t>, std::vector<int>> slices_of_;         // (rank, step, pass)
};

}  // namespace ringtree::testing
