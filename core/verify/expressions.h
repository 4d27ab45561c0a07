// Symbolic values. An expression is a leaf (one rank's contribution to one chunk) or the fold of an ordered list of
// expressions; equal expressions have equal ids (hash-consing), so "the same bits on all ranks" is one comparison. Each
// knows the set of ranks whose contributions it holds.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ringtree {

using Expression = int32_t;  // room for 2^31 leaves and folds together: the ring of 30,000 ranks
inline constexpr Expression kNothing = -1;

class Expressions {
 public:
  Expressions(int num_ranks, int num_chunks);

  Expression leaf(int rank, int chunk) const { return rank * num_chunks_ + chunk; }
  /// The fold of two or more operands in this order; kNothing if two of them hold one rank's contribution, which is
  /// then shared_rank(). Amortised time is linear in operands and in ranks / 64.
  Expression fold(std::span<const Expression> operands);
  int shared_rank() const { return shared_rank_; }

  bool holds(Expression expression, int rank) const;
  int num_held(Expression expression) const;

 private:
  struct Fold {
    uint64_t hash;
    int64_t first_operand;
    int32_t num_operands;
  };

  bool same(const Fold& fold, uint64_t hash, std::span<const Expression> operands) const;
  bool add_set(Expression expression, uint64_t* into);
  void grow();

  int num_chunks_;
  int num_leaves_;
  size_t words_per_set_;
  std::vector<Fold> folds_;
  std::vector<Expression> operands_;  // of all folds, end to end
  std::vector<uint64_t> sets_;        // of all folds, words_per_set_ each; a leaf's set is known without a table
  std::vector<int32_t> table_;        // open addressing: index of a fold, or -1
  int shared_rank_ = -1;
};

}  // namespace ringtree
