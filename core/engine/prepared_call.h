// A call that was made before: everything about it but its buffers, so that making it again computes nothing. A
// training loop makes the same few calls over and over.
#pragma once

#include <array>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/engine/bound_call.h"
#include "core/engine/call.h"
#include "core/engine/call_description.h"
#include "core/engine/plan.h"
#include "core/engine/profile.h"
#include "core/engine/rank_page.h"

namespace ringtree {

/// Bytes of the collective's whole vector.
struct ByteSpan {
  size_t offset = 0, length = 0;
};

struct PreparedCall {
  CallKind kind;  // as asked for; its counts are those below
  std::vector<uint64_t> counts;
  // What it comes to.
  Configuration configuration;  // as run
  std::string reason;           // why, where `auto` chose; else empty
  std::shared_ptr<const Schedule> schedule;
  uint64_t rootless = 0;   // as the plan's key, but for its root
  bool pipelined = false;  // as Plan's
  Plan* plan = nullptr;    // null until the first call of its kind is under way
  BoundCall bound;
  ByteSpan input, output;
  FinishKernel finish = nullptr;
  ScaleKernel scale = nullptr;  // of premul_sum
  CallDescription description;  // its sequence is that of the last call of this kind
  size_t num_answers = 0;       // as LastCall's
  size_t num_placed = 0;        // as LastCall's
  uint64_t kind_hash = 0;
  Board::Words words{};
  uint64_t bound_at = kNotBound;  // the shared_generation() when `bound` was given buffers

  /// Whether `bound` has this call's buffers: a loop mostly has the same, and what depends on where they lie is known.
  bool is_bound_to(const Call& call) const {
    return bound.input == call.input && bound.output == call.output && bound_at == shared_generation();
  }

  static constexpr uint64_t kNotBound = std::numeric_limits<uint64_t>::max();
};

/// The calls prepared last, by kind. Each kind has a few places that it may take; when they are full, a new call takes
/// the place of an old one.
class PreparedCalls {
 public:
  /// Null if there is none.
  PreparedCall* find(const CallKind& kind) {
    if (last_ && last_->kind == kind) return last_;
    const size_t first = first_place(kind);
    for (size_t i = first; i < first + kWays; ++i)
      if (places_[i] && places_[i]->kind == kind) return last_ = places_[i].get();
    return nullptr;
  }
  PreparedCall* add(std::unique_ptr<PreparedCall> call) {
    const size_t first = first_place(call->kind);
    size_t place = first + num_added_++ % kWays;
    for (size_t i = first; i < first + kWays; ++i)
      if (!places_[i]) place = i;
    places_[place] = std::move(call);
    return last_ = places_[place].get();
  }

 private:
  static constexpr size_t kWays = 4, kSets = 64;

  static size_t first_place(const CallKind& kind) {
    const AlgorithmRef& asked = kind.asked();
    uint64_t hash = kind.count * 0x9e3779b97f4a7c15u;
    for (const uint64_t count : kind.counts) hash = (hash ^ count) * 0x9e3779b97f4a7c15u;
    hash ^= static_cast<uint64_t>(kind.collective) << 40 ^ static_cast<uint64_t>(kind.dtype) << 44 ^
            static_cast<uint64_t>(kind.op) << 48 ^ static_cast<uint64_t>(kind.root) << 52;
    hash ^= asked.own_hash ^ asked.name.size() << 56 ^
            (asked.name.empty() ? 0 : static_cast<uint64_t>(static_cast<unsigned char>(asked.name[0])) << 36);
    return (hash * 0x9e3779b97f4a7c15u >> 32) % kSets * kWays;
  }

  std::array<std::unique_ptr<PreparedCall>, kWays * kSets> places_;
  PreparedCall* last_ = nullptr;
  size_t num_added_ = 0;
};

}  // namespace ringtree
