// See link_placer.h.
#include "core/engine/link_placer.h"

#include <algorithm>
#include <map>

#include "core/engine/lanes.h"

namespace ringtree {
namespace {

bool is_users(const Place& place) { return place.buffer == Buffer::input || place.buffer == Buffer::output; }

bool share_a_chunk(const ChunkRange& one, const ChunkRange& other, int num_chunks) {
  for (int i = 0; i < one.count; ++i)
    for (int k = 0; k < other.count; ++k)
      if (one.id(i, num_chunks) == other.id(k, num_chunks)) return true;
  return false;
}

class ReceiptFinder {
 public:
  ReceiptFinder(const Plan& plan, const Program& program) : plan_(plan), program_(program) {}

  LinkPlacer::Receipt receipt(size_t lane, int step) const {
    const PlanStep& what = plan_.steps[at(lane, step)];
    LinkPlacer::Receipt receipt{step, what.num_recv == 1 && !what.reduces && !what.src && what.dst == kOutput, {}};
    if (!receipt.puts) return receipt;
    for (size_t other = 0; other < plan_.lanes.size(); ++other) {
      if (plan_.lanes[other].channel != plan_.lanes[lane].channel) continue;  // of other bytes
      for (int i = plan_.lanes[other].num_steps; i-- > 0;) {
        if (!touches_before(at(other, i), at(lane, step))) continue;
        const bool alike = plan_.steps[at(other, i)].chunks == what.chunks;  // then cut alike, too
        receipt.touched_before.push_back({static_cast<int>(other), i, alike, false});
        break;
      }
    }
    return receipt;
  }

 private:
  size_t at(size_t lane, int step) const {
    return static_cast<size_t>(plan_.lanes[lane].first_step) + static_cast<size_t>(step);
  }
  // The input counts like the output: where the call is in place they are the same memory.
  bool touches_before(size_t other, size_t step) const {
    if (plan_.program_steps[other] >= plan_.program_steps[step]) return false;
    const Step& what = program_.steps()[static_cast<size_t>(plan_.program_steps[other])];
    return (is_users(what.src) || is_users(what.dst)) &&
           share_a_chunk(what.chunks, plan_.steps[step].chunks, plan_.schedule->shape().num_chunks);
  }

  const Plan& plan_;
  const Program& program_;
};

}  // namespace

bool LinkPlacer::ever_places() const {
  return std::any_of(receipts_.begin(), receipts_.end(), [](const Receipt& receipt) { return receipt.puts; });
}

void LinkPlacer::begin(const BoundCall& call) {
  call_ = &call;
  num_placed_ = 0;
  end_.placement()->ask(this);
}

size_t LinkPlacer::end() {
  end_.placement()->ask(nullptr);
  call_ = nullptr;
  return num_placed_;
}

// Links are FIFOs whose ends belong to one lane each, so the lane's position tells what each message to come is for.
std::byte* LinkPlacer::place_for(uint64_t number, size_t bytes, uint32_t fingerprint) {
  const LaneState& state = plan_.states[static_cast<size_t>(lane_)];
  const PlanLane& lane = plan_.lanes[static_cast<size_t>(lane_)];
  uint64_t ahead = number - end_.next();  // messages before it that are not consumed: fewer than the link has slots
  for (size_t pass = state.pass; pass < call_->cut.num_passes; ++pass)
    for (const Receipt& receipt : receipts_) {
      if (pass == state.pass && receipt.step < state.step) continue;
      const PlanStep& step = plan_.steps[static_cast<size_t>(lane.first_step) + static_cast<size_t>(receipt.step)];
      const StepCut cut = cut_step(*call_, step, lane.channel, pass);
      if (cut.skipped(pass)) continue;
      const bool begun = pass == state.pass && receipt.step == state.step;
      const uint64_t slice = (begun ? state.slice : 0) + ahead;
      if (slice >= cut.num_slices) {
        ahead = slice - cut.num_slices;
        continue;
      }
      if (!receipt.puts || fingerprint != cut.fingerprint || bytes != cut.slice_bytes(*call_, slice)) return nullptr;
      for (const PlanDependency& touched : receipt.touched_before)
        if (!met(plan_, touched, pass, slice)) return nullptr;
      std::byte* const place = place_of(step, pass, slice * call_->cut.slice_bytes, bytes);
      num_placed_ += place ? 1 : 0;
      return place;
    }
  return nullptr;
}

/// Where the step puts `bytes` bytes from byte `at` of the pass on; null if not side by side.
std::byte* LinkPlacer::place_of(const PlanStep& step, size_t pass, size_t at, size_t bytes) const {
  std::byte* begin = nullptr;
  size_t found = 0;
  for (int i = 0; i < step.chunks.count && found < bytes; ++i) {
    const BoundCall::Part& part = part_of(*call_, step, plan_.lanes[static_cast<size_t>(lane_)].channel, i);
    const size_t piece = call_->piece_bytes(part.length, pass);
    if (at >= piece) {
      at -= piece;
      continue;
    }
    std::byte* const here = call_->output + part.output + pass * call_->cut.pass_bytes + at;
    if (begin && here != begin + found) return nullptr;
    if (!begin) begin = here;
    found += std::min(piece - at, bytes - found);
    at = 0;
  }
  return begin;
}

size_t Placing::end_all(const std::vector<std::unique_ptr<LinkPlacer>>& placers) {
  size_t num_placed = 0;
  for (const auto& placer : placers) num_placed += placer->end();
  return num_placed;
}

std::vector<std::unique_ptr<LinkPlacer>> find_placers(const Plan& plan, const Program& program) {
  const ReceiptFinder finder(plan, program);
  std::vector<std::unique_ptr<LinkPlacer>> placers;
  for (size_t lane = 0; lane < plan.lanes.size(); ++lane) {
    std::map<RecvEnd*, std::unique_ptr<LinkPlacer>> by_end;
    for (int i = 0; i < plan.lanes[lane].num_steps; ++i) {
      const PlanStep& step = plan.steps[static_cast<size_t>(plan.lanes[lane].first_step) + static_cast<size_t>(i)];
      for (int k = 0; k < step.num_recv; ++k) {
        RecvEnd* const end = plan.recv_ends[static_cast<size_t>(step.first_recv) + static_cast<size_t>(k)];
        if (!end->placement()) continue;
        std::unique_ptr<LinkPlacer>& placer = by_end[end];
        if (!placer) placer = std::make_unique<LinkPlacer>(plan, static_cast<int>(lane), *end);
        placer->add(finder.receipt(lane, i));
      }
    }
    for (auto& [end, placer] : by_end)
      if (placer->ever_places()) placers.push_back(std::move(placer));
  }
  return placers;
}

}  // namespace ringtree
