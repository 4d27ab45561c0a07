// See expressions.h.
#include "core/verify/expressions.h"

#include <algorithm>
#include <bit>

namespace ringtree {
namespace {

uint64_t hash_of(std::span<const Expression> operands) {
  uint64_t hash = operands.size();
  for (Expression operand : operands) {
    hash = (hash ^ static_cast<uint32_t>(operand)) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  return hash;
}

}  // namespace

Expressions::Expressions(int num_ranks, int num_chunks)
    : num_chunks_(num_chunks),
      num_leaves_(num_ranks * num_chunks),
      words_per_set_((static_cast<size_t>(num_ranks) + 63) / 64),
      table_(64, -1) {}

bool Expressions::same(const Fold& fold, uint64_t hash, std::span<const Expression> operands) const {
  return fold.hash == hash && static_cast<size_t>(fold.num_operands) == operands.size() &&
         std::equal(operands.begin(), operands.end(), operands_.begin() + fold.first_operand);
}

bool Expressions::add_set(Expression expression, uint64_t* into) {
  const auto add = [&](size_t word, uint64_t bits) {
    const uint64_t shared = into[word] & bits;
    if (shared != 0) shared_rank_ = static_cast<int>(word) * 64 + std::countr_zero(shared);
    into[word] |= bits;
    return shared == 0;
  };
  if (expression < num_leaves_) {
    const int rank = expression / num_chunks_;
    return add(static_cast<size_t>(rank) / 64, uint64_t{1} << (rank % 64));
  }
  const uint64_t* set = sets_.data() + static_cast<size_t>(expression - num_leaves_) * words_per_set_;
  for (size_t word = 0; word < words_per_set_; ++word)
    if (!add(word, set[word])) return false;
  return true;
}

Expression Expressions::fold(std::span<const Expression> operands) {
  const uint64_t hash = hash_of(operands);
  size_t at = hash & (table_.size() - 1);
  for (; table_[at] >= 0; at = (at + 1) & (table_.size() - 1))
    if (same(folds_[table_[at]], hash, operands)) return num_leaves_ + table_[at];

  const size_t set = sets_.size();
  sets_.resize(set + words_per_set_, 0);
  for (Expression operand : operands) {
    if (add_set(operand, sets_.data() + set)) continue;
    sets_.resize(set);
    return kNothing;
  }
  const auto index = static_cast<int32_t>(folds_.size());
  folds_.push_back({hash, static_cast<int64_t>(operands_.size()), static_cast<int32_t>(operands.size())});
  operands_.insert(operands_.end(), operands.begin(), operands.end());
  table_[at] = index;
  if (folds_.size() * 2 > table_.size()) grow();
  return num_leaves_ + index;
}

void Expressions::grow() {
  table_.assign(table_.size() * 4, -1);
  for (size_t i = 0; i < folds_.size(); ++i) {
    size_t at = folds_[i].hash & (table_.size() - 1);
    while (table_[at] >= 0) at = (at + 1) & (table_.size() - 1);
    table_[at] = static_cast<int32_t>(i);
  }
}

bool Expressions::holds(Expression expression, int rank) const {
  if (expression < num_leaves_) return expression / num_chunks_ == rank;
  const uint64_t* set = sets_.data() + static_cast<size_t>(expression - num_leaves_) * words_per_set_;
  return (set[rank / 64] >> (rank % 64) & 1) != 0;
}

int Expressions::num_held(Expression expression) const {
  if (expression < num_leaves_) return 1;
  const uint64_t* set = sets_.data() + static_cast<size_t>(expression - num_leaves_) * words_per_set_;
  int held = 0;
  for (size_t word = 0; word < words_per_set_; ++word) held += std::popcount(set[word]);
  return held;
}

}  // namespace ringtree
