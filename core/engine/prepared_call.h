// A call that was made before: everything about it but its buffers, so that making it again computes nothing. A
// training loop makes the same few calls over and over.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/engine/bound_call.h"
#include "core/engine/call.h"
#include "core/engine/plan.h"
#include "core/engine/profile.h"
#include "core/engine/rank_page.h"

namespace ringtree {

/// Names the schedule of a call, a built-in algorithm or a schedule of the user's own that has been verified, and what
/// else is asked for; the rest is `auto`'s.
struct AlgorithmRef {
  std::string name = "auto";
  std::shared_ptr<const Schedule> own;  // if set, it counts; its structural hash is own_hash
  uint64_t own_hash = 0;
  std::optional<Protocol> protocol;
  size_t slice_bytes = 0;         // 0: auto
  std::optional<bool> streaming;  // whether the output is written around the caches

  bool operator==(const AlgorithmRef& other) const {
    return own_hash == other.own_hash && protocol == other.protocol && slice_bytes == other.slice_bytes &&
           streaming == other.streaming && own.get() == other.own.get() && name == other.name;
  }
};

/// What a call is apart from its buffers and its moment.
struct CallKind {
  Collective collective = Collective::all_reduce;
  Dtype dtype = Dtype::kFloat32;
  ReduceOp op = ReduceOp::sum;
  int root = 0;
  size_t count = 0;                       // 0 where blocks are uneven
  std::span<const uint64_t> counts = {};  // of uneven blocks, as CallArguments has them; empty: even

  bool uneven() const { return !counts.empty(); }
  bool operator==(const CallKind& other) const {
    return count == other.count && collective == other.collective && dtype == other.dtype && op == other.op &&
           root == other.root && counts.size() == other.counts.size() &&
           std::equal(counts.begin(), counts.end(), other.counts.begin());
  }
};

/// Bytes of the collective's whole vector.
struct ByteSpan {
  size_t offset = 0, length = 0;
};

struct PreparedCall {
  CallKind kind;  // its counts are those below
  std::vector<uint64_t> counts;
  AlgorithmRef asked;
  // What it comes to.
  Configuration configuration;  // as run
  std::string reason;           // why, where `auto` chose; else empty
  std::shared_ptr<const Schedule> schedule;
  uint64_t rootless = 0;   // as the plan's key, but for its root
  bool pipelined = false;  // as Plan's
  Plan* plan = nullptr;    // null until the first call of its kind is under way
  BoundCall bound;         // without buffers and fingerprint
  ByteSpan input, output;
  FinishKernel finish = nullptr;
  ScaleKernel scale = nullptr;  // of premul_sum
  CallDescription description;  // its sequence is that of the last call of this kind
  uint64_t kind_hash = 0;
  Board::Words words{};
};

/// The calls prepared last, by kind. Each kind has a few places that it may take; when they are full, a new call takes
/// the place of an old one.
class PreparedCalls {
 public:
  /// Null if there is none.
  PreparedCall* find(const CallKind& kind, const AlgorithmRef& asked) {
    if (last_ && last_->kind == kind && last_->asked == asked) return last_;
    const size_t first = first_place(kind, asked);
    for (size_t i = first; i < first + kWays; ++i)
      if (places_[i] && places_[i]->kind == kind && places_[i]->asked == asked) return last_ = places_[i].get();
    return nullptr;
  }
  PreparedCall* add(std::unique_ptr<PreparedCall> call) {
    const size_t first = first_place(call->kind, call->asked);
    size_t place = first + num_added_++ % kWays;
    for (size_t i = first; i < first + kWays; ++i)
      if (!places_[i]) place = i;
    places_[place] = std::move(call);
    return last_ = places_[place].get();
  }

 private:
  static constexpr size_t kWays = 4, kSets = 64;

  static size_t first_place(const CallKind& kind, const AlgorithmRef& asked) {
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
