// Call: one call of a collective as its caller says it. Whoever makes calls takes one: the communicator, now or in the
// background, and a group. Not for: what all ranks agree on about it (call_description.h), what it comes to
// (prepared_call.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/dtype.h"
#include "core/base/reduce_op.h"
#include "core/protocol/protocol.h"
#include "core/schedule/schedule.h"

namespace ringtree {

/// Names the schedule of a call, a built-in algorithm or a schedule of the user's own that has been verified, and what
/// else is asked for; the rest is `auto`'s.
struct AlgorithmRef {
  std::string name;                               // empty: `auto`
  std::shared_ptr<const Schedule> own = nullptr;  // if set, it counts; its structural hash is own_hash
  uint64_t own_hash = 0;
  std::optional<Protocol> protocol = {};
  size_t slice_bytes = 0;              // 0: auto
  std::optional<bool> streaming = {};  // whether the output is written around the caches

  /// Of a name as users say it.
  void set_name(const std::string& said) { name = said == "auto" ? "" : said; }

  bool operator==(const AlgorithmRef& other) const {
    return own_hash == other.own_hash && protocol == other.protocol && slice_bytes == other.slice_bytes &&
           streaming == other.streaming && own.get() == other.own.get() && name == other.name;
  }
};

/// What a call is apart from its buffers and its moment.
struct CallKind {
  Collective collective;
  Dtype dtype;
  ReduceOp op;
  int root;
  /// In elements: of the vector (all_reduce, broadcast, reduce) or of a block (the others; all_to_all: of what one rank
  /// sends to one other). 0 where blocks are uneven.
  size_t count;
  /// Blocks of unequal length, side by side in the buffers; empty: even ones. The elements of each rank's block, alike
  /// on all ranks; all_to_all: of the blocks that this rank sends, by receiver, then of those that it gets, by sender
  /// (2n numbers).
  std::span<const uint64_t> counts = {};
  /// Most calls ask for nothing, and then have nothing to make, to copy or to compare.
  std::optional<AlgorithmRef> algorithm;

  // The compiler's own would zero the whole object (g++ 12), also the room of an `algorithm` that is not there.
  CallKind(Collective what = Collective::all_reduce, Dtype of = Dtype::kFloat32, ReduceOp by = ReduceOp::sum,
           int root_rank = 0, size_t num_elements = 0)
      : collective(what), dtype(of), op(by), root(root_rank), count(num_elements) {}

  /// Sets `algorithm`; to nothing, if nothing is asked for.
  void ask(AlgorithmRef wanted) {
    algorithm.reset();
    if (wanted != AlgorithmRef{}) algorithm = std::move(wanted);
  }
  /// `algorithm`, also where nothing is asked for.
  const AlgorithmRef& asked() const {
    static const AlgorithmRef nothing;
    return algorithm ? *algorithm : nothing;
  }
  bool uneven() const { return !counts.empty(); }
  bool operator==(const CallKind& other) const {
    return count == other.count && collective == other.collective && dtype == other.dtype && op == other.op &&
           root == other.root && counts.size() == other.counts.size() &&
           std::equal(counts.begin(), counts.end(), other.counts.begin()) && algorithm == other.algorithm;
  }
};

/// Nobody changes one that was handed on. Buffers may be null where the rank has no such data. In place: input and
/// output are the same memory, block by block (all_gather, gather: input is the own block of output; reduce_scatter,
/// scatter: output is the own block of input); all_to_all cannot be in place.
struct Call : CallKind {
  const void* input = nullptr;
  void* output = nullptr;
  double timeout_s = 0;  // 0: the communicator's
  double factor = 1;     // of premul_sum: what this rank's input is multiplied by; each rank's own
};

/// A call that is made later: its counts are kept, its buffers are the caller's.
class KeptCall {
 public:
  explicit KeptCall(const Call& call) : call_(call), counts_(call.counts.begin(), call.counts.end()) {}
  /// Its counts live as long as this.
  Call get() const {
    Call call = call_;
    call.counts = counts_;
    return call;
  }

 private:
  Call call_;
  std::vector<uint64_t> counts_;
};

}  // namespace ringtree
