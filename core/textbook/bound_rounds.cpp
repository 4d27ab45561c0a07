// See bound_rounds.h.
#include "core/textbook/bound_rounds.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "core/protocol/simple.h"
#include "core/schedule/layout.h"

namespace ringtree::textbook {
namespace {

constexpr size_t round_up(size_t value) { return (value + kMailGrain - 1) / kMailGrain * kMailGrain; }

/// Temporaries behind the schedule's scratch, used again as soon as the step that held one is over.
class Temporaries {
 public:
  explicit Temporaries(size_t begin) : end_(round_up(begin)) {}

  size_t take(size_t bytes) {
    std::vector<size_t>& free = free_[bytes];
    if (free.empty()) {
      free.push_back(end_);
      end_ += round_up(bytes);
    }
    const size_t at = free.back();
    free.pop_back();
    return at;
  }
  void give(size_t at, size_t bytes) { free_[bytes].push_back(at); }
  size_t end() const { return end_; }

 private:
  std::map<size_t, std::vector<size_t>> free_;  // by size
  size_t end_;
};

class Binder {
 public:
  Binder(const Schedule& schedule, int rank, size_t count, size_t item_bytes, bool fused)
      : shape_(schedule.shape()),
        program_(schedule.program(rank)),
        steps_(program_.steps()),
        layout_(shape_, count),
        item_bytes_(item_bytes),
        scratch_slot_bytes_(layout_.longest_chunk() * item_bytes),
        fused_(fused),
        rounds_(rank_rounds(schedule, rank)),
        temporaries_(static_cast<size_t>(program_.num_scratch()) * scratch_slot_bytes_),
        arrived_(steps_.size()),
        outgoing_(steps_.size()),
        held_(steps_.size()),
        where_(steps_.size()) {
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (steps_[i].recv.size() + 1 > kMaxFold)
        throw UsageError(shape_.name + ": a step with " + std::to_string(steps_[i].recv.size()) +
                         " incoming messages is more than the textbook folds at once");
      arrived_[i].resize(steps_[i].recv.size());
      size_t bytes = 0;
      for (int k = 0; k < steps_[i].chunks.count; ++k) bytes += chunk(steps_[i], k).length;
      step_bytes_.push_back(bytes);
    }
    out_.sending.resize(static_cast<size_t>(shape_.num_ranks));
    out_.hearing.resize(static_cast<size_t>(shape_.num_ranks));
  }

  BoundRounds run() && {
    out_.rounds.resize(rounds_.size());
    for (size_t i = 0; i < rounds_.size(); ++i) bind_round(i);
    out_.scratch_bytes = temporaries_.end();
    return std::move(out_);
  }

 private:
  /// Bytes of the k-th chunk of a step, in the whole vector.
  Extent chunk(const Step& step, int k) const {
    const Extent found = layout_.chunk(step.chunks.id(k, shape_.num_chunks));
    return {found.offset * item_bytes_, found.length * item_bytes_};
  }

  size_t place(const Step& step, const Place& where, int k) const {
    if (where.buffer == Buffer::scratch) return static_cast<size_t>(where.slot + k) * scratch_slot_bytes_;
    return where ? chunk(step, k).offset : 0;
  }

  std::vector<Piece> pieces_of(const Step& step) const {
    std::vector<Piece> pieces;
    size_t at = 0;
    for (int k = 0; k < step.chunks.count; ++k) {
      const Piece next{at, chunk(step, k).length, place(step, step.src, k), place(step, step.dst, k)};
      if (next.bytes == 0) continue;
      at += next.bytes;
      if (!pieces.empty() && (!step.src || pieces.back().src + pieces.back().bytes == next.src) &&
          (!step.dst || pieces.back().dst + pieces.back().bytes == next.dst)) {
        pieces.back().bytes += next.bytes;
      } else {
        pieces.push_back(next);
      }
    }
    return pieces;
  }

  Spot take(int step) {
    const size_t bytes = step_bytes_[static_cast<size_t>(step)], at = temporaries_.take(bytes);
    held_[static_cast<size_t>(step)].push_back(at);
    return {Buffer::scratch, at};
  }
  void give_back(int step) {
    for (size_t at : held_[static_cast<size_t>(step)]) temporaries_.give(at, step_bytes_[static_cast<size_t>(step)]);
    held_[static_cast<size_t>(step)].clear();
  }

  void bind_round(size_t number) {
    const Round& round = rounds_[number];
    BoundRound& out = out_.rounds[number];
    for (const RoundMessage& transfer : round.sends) {
      const size_t step = static_cast<size_t>(transfer.step);
      if (step_bytes_[step] == 0) continue;
      if (fused_) {
        const auto& [made_in, index] = where_[step];
        out_.rounds[made_in].steps[index].leaving.push_back(static_cast<int>(out.sends.size()));
      }
      out.sends.push_back({transfer.peer, step_bytes_[step], fused_ ? Spot{} : outgoing_[step]});
    }
    out.to = address(out.sends, out_.sending);
    for (const RoundMessage& transfer : round.recvs) {
      const size_t step = static_cast<size_t>(transfer.step);
      if (step_bytes_[step] == 0) continue;
      const Spot spot = landing(round, transfer);
      arrived_[step][static_cast<size_t>(transfer.operand)] = {spot ? -1 : static_cast<int>(out.recvs.size()), spot};
      out.recvs.push_back({transfer.peer, step_bytes_[step], spot});
    }
    out.from = address(out.recvs, out_.hearing);
    // Only now: what this round receives must not land where it is still sent from.
    for (const RoundMessage& transfer : round.sends) give_back(transfer.step);
    for (int step : round.steps)
      if (step_bytes_[static_cast<size_t>(step)] > 0) bind_step(number, step);
  }

  /// Gives each message its place in the mailbox of its pair.
  static std::vector<PeerCount> address(std::vector<BoundMessage>& messages, std::vector<MailNeed>& needs) {
    std::map<int, MailNeed> used;
    for (BoundMessage& message : messages) {
      MailNeed& of_peer = used[message.peer];
      message.letter = of_peer.num_letters++;
      message.mail_at = of_peer.bytes;
      of_peer.bytes += round_up(message.bytes);
    }
    std::vector<PeerCount> counts;
    for (const auto& [peer, of_peer] : used) {
      MailNeed& need = needs[static_cast<size_t>(peer)];
      need.num_letters = std::max(need.num_letters, of_peer.num_letters);
      need.bytes = std::max(need.bytes, of_peer.bytes);
      counts.push_back({peer, of_peer.num_letters});
    }
    return counts;
  }

  /// Where a message is received: nowhere if it is read in the mailbox, in its place if that is free and in one piece,
  /// else in a temporary.
  Spot landing(const Round& round, const RoundMessage& transfer) {
    const Step& step = steps_[static_cast<size_t>(transfer.step)];
    if (fused_) {
      const bool is_now = std::find(round.steps.begin(), round.steps.end(), transfer.step) != round.steps.end();
      return is_now ? Spot{} : take(transfer.step);
    }
    if (transfer.lands && step.dst && !step.src && step.recv.size() == 1) {
      const std::vector<Piece> pieces = pieces_of(step);
      if (pieces.size() == 1) return {step.dst.buffer, pieces[0].dst};
    }
    return take(transfer.step);
  }

  void bind_step(size_t round, int index) {
    const size_t at = static_cast<size_t>(index);
    const Step& step = steps_[at];
    BoundStep out;
    out.reduces = shape_of(step.verb).reduces;
    out.src = step.src.buffer;
    out.dst = step.dst.buffer;
    out.src_at = step.src_at;
    out.pieces = pieces_of(step);
    out.arrived = arrived_[at];
    const bool sends = !step.send_to.empty();
    if (sends && !fused_) {
      const Place& holds = out.reduces ? step.dst : step.src;  // the result, once the step has run
      if (!out.reduces && !out.arrived.empty()) {
        outgoing_[at] = out.arrived[0].spot;  // passed on from where it lies
      } else if (holds && out.pieces.size() == 1) {
        outgoing_[at] = {holds.buffer, out.reduces ? out.pieces[0].dst : out.pieces[0].src};
      } else {
        outgoing_[at] = out.parcel = take(index);
      }
    }
    if (!sends || fused_) give_back(index);
    where_[at] = {round, out_.rounds[round].steps.size()};
    out_.rounds[round].steps.push_back(std::move(out));
  }

  const ScheduleShape& shape_;
  const Program program_;
  const std::vector<Step>& steps_;
  const Layout layout_;
  const size_t item_bytes_, scratch_slot_bytes_;
  const bool fused_;
  const std::vector<Round> rounds_;
  Temporaries temporaries_;
  std::vector<size_t> step_bytes_;
  std::vector<std::vector<Arrived>> arrived_;     // step -> its operands
  std::vector<Spot> outgoing_;                    // step -> where its result is sent from
  std::vector<std::vector<size_t>> held_;         // step -> temporaries
  std::vector<std::pair<size_t, size_t>> where_;  // step -> round, place in it
  BoundRounds out_;
};

}  // namespace

BoundRounds bind_rounds(const Schedule& schedule, int rank, size_t count, size_t item_bytes, bool fused) {
  return Binder(schedule, rank, count, item_bytes, fused).run();
}

}  // namespace ringtree::textbook
