// See walk.h.
#include "core/textbook/walk.h"

#include <array>
#include <cstring>

#include "core/protocol/simple.h"

namespace ringtree::textbook {
namespace {

using Pointers = std::array<const std::byte*, kMaxFold>;

/// Moves or folds a piece of a step. `arrived`: where its operands from peers begin; `dst`, `message`: where the piece
/// goes, each may be null.
void do_piece(const BoundStep& step, const Piece& piece, const Memory& memory, const Fold& fold,
              const Pointers& arrived, std::byte* dst, std::byte* message) {
  std::array<const void*, kMaxFold + 1> inputs;
  int num_inputs = 0;
  const auto add = [&](const std::byte* from) { inputs[static_cast<size_t>(num_inputs++)] = from; };
  const std::byte* const src = memory.at({step.src, piece.src});
  const int num_arrived = static_cast<int>(step.arrived.size());
  if (step.reduces && num_arrived == 0 && step.src_at == 1) add(dst);  // a reduce without messages, into what dst holds
  for (int i = 0; i < num_arrived; ++i) {
    if (src && i == step.src_at) add(src);
    add(arrived[static_cast<size_t>(i)] + piece.at);
  }
  if (src && (step.src_at >= num_arrived || num_arrived == 0)) add(src);
  if (step.reduces && num_arrived == 0 && step.src_at == 0) add(dst);

  SliceRun run;
  run.inputs = inputs.data();
  run.num_inputs = num_inputs;
  run.dst = dst;
  run.slot = message;
  run.bytes = piece.bytes;
  if (step.reduces) {
    fold_run(run, fold.kernel, fold.item_bytes);
  } else {
    copy_run(run);
  }
}

void do_separately(const BoundStep& step, const Memory& memory, const Fold& fold) {
  Pointers arrived;
  for (size_t i = 0; i < step.arrived.size(); ++i) arrived[i] = memory.at(step.arrived[i].spot);
  std::byte* const parcel = memory.at(step.parcel);
  for (const Piece& piece : step.pieces) {
    std::byte* const dst = memory.at({step.dst, piece.dst});
    std::byte* const packed = parcel ? parcel + piece.at : nullptr;
    if (step.reduces && packed && dst) {  // a loop for each: folded, then copied
      do_piece(step, piece, memory, fold, arrived, nullptr, packed);
      std::memcpy(dst, packed, piece.bytes);
    } else {
      do_piece(step, piece, memory, fold, arrived, dst, packed);
    }
  }
}

/// Where a step's operands lie, waited for. False: stopped.
bool find_arrived(const BoundStep& step, const BoundRound& round, const Memory& memory, MailboxWire& wire,
                  Pointers& arrived) {
  for (size_t i = 0; i < step.arrived.size(); ++i) {
    const Arrived& operand = step.arrived[i];
    const bool is_own = operand.message < 0;
    arrived[i] = is_own ? memory.at(operand.spot) : wire.wait_for(round.recvs[static_cast<size_t>(operand.message)]);
    if (!is_own && !arrived[i]) return false;
  }
  return true;
}

/// `next`: the round in which the step's result travels, if there is one.
bool do_fused(const BoundStep& step, const BoundRound& round, const BoundRound* next, const Memory& memory,
              const Fold& fold, MailboxWire& wire) {
  Pointers arrived;
  if (!find_arrived(step, round, memory, wire, arrived)) return false;
  const auto leaving = [&](size_t i) -> const BoundMessage& {
    return next->sends[static_cast<size_t>(step.leaving[i])];
  };
  std::byte* const first = step.leaving.empty() ? nullptr : wire.room(leaving(0));
  for (const Piece& piece : step.pieces)
    do_piece(step, piece, memory, fold, arrived, memory.at({step.dst, piece.dst}), first ? first + piece.at : nullptr);
  for (size_t i = 0; i < step.leaving.size(); ++i) {
    if (i > 0) std::memcpy(wire.room(leaving(i)), first, leaving(i).bytes);
    wire.publish(leaving(i));
  }
  for (const Arrived& operand : step.arrived)
    if (operand.message >= 0) wire.release(round.recvs[static_cast<size_t>(operand.message)]);
  return true;
}

/// Messages whose step must still wait give their place in the mailbox free.
bool lay_aside(const BoundRound& round, const Memory& memory, MailboxWire& wire) {
  for (const BoundMessage& message : round.recvs) {
    if (!message.spot) continue;
    const std::byte* const data = wire.wait_for(message);
    if (!data) return false;
    std::memcpy(memory.at(message.spot), data, message.bytes);
    wire.release(message);
  }
  return true;
}

}  // namespace

bool walk_separately(const BoundRounds& bound, const Memory& memory, const Fold& fold, Wire& wire) {
  for (const BoundRound& round : bound.rounds) {
    if (!wire.exchange(round, memory)) return false;
    for (const BoundStep& step : round.steps) do_separately(step, memory, fold);
  }
  return true;
}

bool walk_fused(const BoundRounds& bound, const Memory& memory, const Fold& fold, MailboxWire& wire) {
  for (size_t i = 0; i < bound.rounds.size(); ++i) {
    const BoundRound& round = bound.rounds[i];
    const BoundRound* const next = i + 1 < bound.rounds.size() ? &bound.rounds[i + 1] : nullptr;
    if (next && !wire.begin_sends(*next)) return false;
    for (const BoundStep& step : round.steps)
      if (!do_fused(step, round, next, memory, fold, wire)) return false;
    if (!lay_aside(round, memory, wire)) return false;
    if (next) wire.end_sends(*next);
    wire.end_recvs(round);
  }
  return true;
}

}  // namespace ringtree::textbook
