// How the executor meets the messages of a slice step, whichever the protocol: has one come, where do its bytes lie,
// where does the next one go, and off it goes. One class a protocol at compile time, so that none pays for another.
// What a protocol does with bytes is core/protocol's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/engine/plan.h"
#include "core/protocol/ll.h"
#include "core/protocol/ll128.h"
#include "core/protocol/simple.h"

namespace ringtree {

/// One operand of a step: a message's bytes, or the rank's own. Not initialised by itself: a slice step has room for
/// kMaxFold of them and uses few.
struct Operand {
  const std::byte* data;
  bool becomes_ours;  // see SliceRun; never the rank's own
};

/// The operands of one run of bytes, in fold order, as a SliceRun wants them.
class Operands {
 public:
  void add(const Operand& operand, size_t offset = 0) {
    if (num_ < kMarked) becoming_ours_ |= uint64_t{operand.becomes_ours} << num_;
    inputs_[static_cast<size_t>(num_++)] = operand.data + offset;
  }
  void add_own(const std::byte* own) { add({own, false}); }
  /// A reduce without messages: what its target holds is an operand, the second unless the source is.
  void add_target(std::byte* target, bool first) {
    add_own(target);
    if (first) std::swap(inputs_[0], inputs_[1]);
  }
  const void* const* data() const { return inputs_.data(); }
  int size() const { return num_; }
  void give_to(SliceRun& run) const {
    run.inputs = inputs_.data();
    run.num_inputs = num_;
    run.becoming_ours = becoming_ours_;
  }

 private:
  static constexpr int kMarked = 64;
  std::array<const void*, kMaxFold + 1> inputs_;
  int num_ = 0;
  uint64_t becoming_ours_ = 0;
};

template <Protocol kProtocol>
struct Messages {
  static constexpr bool kFlagged = kProtocol != Protocol::simple;  // messages have flags of their own

  /// Whether the next message of a link has come, of `bytes` bytes. `seen`: where the last look at it ended.
  /// `takes_answer`: it may be one that brings no bytes, as they are already in this rank's buffer.
  static Arrival look(RecvEnd& end, size_t bytes, uint32_t fingerprint, size_t& seen, bool takes_answer) {
    if constexpr (kFlagged) {
      const FlaggedMessage message{end.next(), fingerprint, true};
      return kProtocol == Protocol::ll ? ll::arrived(end.flagged_slot(), bytes, message, seen)
                                       : ll128::arrived(end.flagged_slot(), bytes, message, seen);
    } else {
      if (!end.has_message()) return Arrival::not_yet;
      if (end.fingerprint() != fingerprint) return Arrival::of_another_call;
      if (takes_answer && end.is_answer()) return Arrival::here;
      switch (end.locate(bytes)) {
        case SharedTable::Found::here:
          return Arrival::here;
        case SharedTable::Found::nonsense:
          return Arrival::of_another_call;
        default:
          return Arrival::not_yet;  // its buffer is still being mapped
      }
    }
  }

  /// The message that has come, the step's `index`-th. Before the outgoing slot is chosen: it may be this one's.
  /// `chunk_bytes`: of the chunk that it is a slice of.
  static Operand take(Plan& plan, const PlanStep& step, RecvEnd& end, int index, size_t bytes, size_t chunk_bytes) {
    if constexpr (kFlagged) {
      std::byte* const to = plan.staged(index);
      kProtocol == Protocol::ll ? ll::unpack(end.flagged_slot(), to, bytes)
                                : ll128::unpack(end.flagged_slot(), to, bytes);
      return {to, false};
    } else {
      const Operand operand{end.data(), end.worth_fetching(step.reduces, chunk_bytes)};
      end.take_slot(bytes);
      return operand;
    }
  }

  /// Where the bytes of the step's own message are to be put.
  static std::byte* room(Plan& plan, const PlanStep& step, size_t bytes) {
    return kFlagged ? plan.staged(step.num_recv) : step.send->room(bytes);
  }
  /// Sends what lies in room(). `start_ns`: emulated clusters only. `streamed`: as SendEnd::publish().
  static void send(SendEnd& end, const std::byte* data, size_t bytes, uint32_t fingerprint, int64_t start_ns,
                   bool streamed) {
    if constexpr (kFlagged) {
      const FlaggedMessage message{end.next(), fingerprint, end.fenced()};
      kProtocol == Protocol::ll ? ll::pack(end.slot(), kSlotBytes, data, bytes, message)
                                : ll128::pack(end.slot(), data, bytes, message);
      end.publish_flagged();
    } else {
      end.publish(fingerprint, bytes, start_ns, streamed);
    }
  }
};

}  // namespace ringtree
