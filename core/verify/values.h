// Runs the steps in a given order on symbols instead of numbers, out of place or in place, and checks what the outputs
// hold at the end. Which order is allowed is order.h's business.
//
// Places are keyed by chunk id and a scratch slot may only be read as the chunk that was put into it, so a value found
// at chunk c is made of contributions to chunk c alone: only ranks need to be told apart.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/verify/expressions.h"
#include "core/verify/ledger.h"
#include "core/verify/step_table.h"

namespace ringtree {

class Values {
 public:
  /// In place: input chunk c and output chunk c of a rank that has both are one place, which starts with the input.
  Values(const StepTable& table, const Ledger& ledger, Expressions& expressions, bool in_place);

  /// Runs all steps and checks the outputs; returns the first fault.
  std::optional<Fault> run(const std::vector<int>& order);

 private:
  struct Cell {
    Expression value = kNothing;
    int written_by = -1;  // step id; -1: not written (in place the input may lie here)
    int chunk = -1;       // scratch only: the chunk that it holds
  };

  Cell& output(int rank, int chunk) { return outputs_[static_cast<size_t>(rank) * num_chunks_ + chunk]; }
  std::optional<Fault> run_step(int id);
  std::optional<Fault> read(int id, Buffer buffer, int slot, int i, int chunk, Expression& value);
  std::optional<Fault> gather(int id, int i, int chunk);
  void write(int id, int i, int chunk, Expression value);
  std::optional<Fault> check_outputs();
  Fault at(const char* kind, int id, const std::string& what) const;
  Fault at_end(const char* kind, int rank, int chunk, const std::string& what);
  std::string missing(Expression value, int chunk) const;
  std::string writer(const Cell& cell) const;
  std::string mode() const { return in_place_ ? " (in place)" : " (out of place)"; }

  const StepTable& table_;
  const Ledger& ledger_;
  Expressions& expressions_;
  const bool in_place_;
  const int num_chunks_;
  std::vector<ChunkSpan> input_spans_, output_spans_;
  std::vector<Cell> outputs_;  // rank by rank
  std::vector<Cell> scratch_;
  std::vector<int64_t> message_at_;   // of each step that sends: where its message lies in messages_
  std::vector<Expression> messages_;  // never reused: whether slots suffice is decided by the order
  std::vector<Expression> operands_;
};

}  // namespace ringtree
