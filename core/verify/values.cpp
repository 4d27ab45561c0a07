// See values.h.
#include "core/verify/values.h"

#include "core/verify/verify.h"

namespace ringtree {

Values::Values(const StepTable& table, const Ledger& ledger, Expressions& expressions, bool in_place)
    : table_(table),
      ledger_(ledger),
      expressions_(expressions),
      in_place_(in_place),
      num_chunks_(table.shape.num_chunks),
      outputs_(static_cast<size_t>(table.shape.num_ranks) * table.shape.num_chunks),
      scratch_(table.first_scratch.back()) {
  for (int rank = 0; rank < table.shape.num_ranks; ++rank) {
    input_spans_.push_back(table.shape.input(rank));
    output_spans_.push_back(table.shape.output(rank));
    if (!in_place) continue;
    for (int i = 0; i < output_spans_[rank].count; ++i) {
      const int chunk = output_spans_[rank].id(i);
      if (input_spans_[rank].contains(chunk)) output(rank, chunk).value = expressions.leaf(rank, chunk);
    }
  }
  int64_t size = 0;
  message_at_.reserve(table.steps.size());
  for (const FlatStep& step : table.steps) {
    message_at_.push_back(size);
    if (step.send_begin != step.send_end) size += step.chunks.count;
  }
  messages_.resize(size);
}

Fault Values::at(const char* kind, int id, const std::string& what) const {
  return {kind, table_.describe(id) + " " + what + mode(), table_.steps[id].rank, table_.index(id)};
}

std::optional<Fault> Values::run(const std::vector<int>& order) {
  for (int id : order)
    if (std::optional<Fault> fault = run_step(id)) return fault;
  return check_outputs();
}

std::optional<Fault> Values::run_step(int id) {
  const FlatStep& step = table_.steps[id];
  for (int i = 0; i < step.chunks.count; ++i) {
    const int chunk = step.chunks.id(i, num_chunks_);
    if (std::optional<Fault> fault = gather(id, i, chunk)) return fault;
    Expression value = operands_[0];
    if (operands_.size() > 1) value = expressions_.fold(operands_);
    if (value == kNothing)
      return at(fault::kDoubleContribution, id,
                "counts the contribution of rank " + std::to_string(expressions_.shared_rank()) + " to chunk " +
                    std::to_string(chunk) + " twice");
    if (step.send_begin != step.send_end) messages_[message_at_[id] + i] = value;
    if (step.dst != Buffer::none) write(id, i, chunk, value);
  }
  return std::nullopt;
}

/// Puts the operands of the step's i-th chunk into operands_, in fold order.
std::optional<Fault> Values::gather(int id, int i, int chunk) {
  const FlatStep& step = table_.steps[id];
  operands_.clear();
  for (const MessageEnd& end : table_.recvs_of(id))
    operands_.push_back(messages_[message_at_[ledger_.senders(end.link)[end.ordinal]] + i]);
  const auto insert = [&](Buffer buffer, int slot, int place) -> std::optional<Fault> {
    Expression value = kNothing;
    if (std::optional<Fault> fault = read(id, buffer, slot, i, chunk, value)) return fault;
    operands_.insert(operands_.begin() + place, value);
    return std::nullopt;
  };
  if (step.verb == Verb::reduce)  // folds into what dst holds already
    if (std::optional<Fault> fault = insert(step.dst, step.dst_slot, 0)) return fault;
  if (step.src != Buffer::none) return insert(step.src, step.src_slot, step.src_at);
  return std::nullopt;
}

std::optional<Fault> Values::read(int id, Buffer buffer, int slot, int i, int chunk, Expression& value) {
  const int rank = table_.steps[id].rank;
  if (buffer == Buffer::scratch) {
    const Cell& cell = scratch_[table_.first_scratch[rank] + slot + i];
    if (cell.value == kNothing)
      return at(fault::kUninitialised, id,
                "reads scratch slot " + std::to_string(slot + i) + ", which no earlier step has written");
    if (cell.chunk != chunk)  // chunks differ in size, so this would read bytes that were not written
      return at(fault::kWrongChunk, id,
                "reads scratch slot " + std::to_string(slot + i) + " as chunk " + std::to_string(chunk) +
                    ", but step " + std::to_string(table_.index(cell.written_by)) + " has put chunk " +
                    std::to_string(cell.chunk) + " there");
    value = cell.value;
  } else if (buffer == Buffer::output || (in_place_ && output_spans_[rank].contains(chunk))) {
    value = output(rank, chunk).value;
    if (value == kNothing)
      return at(fault::kUninitialised, id,
                "reads output chunk " + std::to_string(chunk) + ", which no earlier step has written");
  } else {
    value = expressions_.leaf(rank, chunk);
  }
  return std::nullopt;
}

void Values::write(int id, int i, int chunk, Expression value) {
  const FlatStep& step = table_.steps[id];
  Cell& cell = step.dst == Buffer::scratch ? scratch_[table_.first_scratch[step.rank] + step.dst_slot + i]
                                           : output(step.rank, chunk);
  cell = {value, id, chunk};
}

std::optional<Fault> Values::check_outputs() {
  const int num_ranks = table_.shape.num_ranks;
  for (int chunk = 0; chunk < num_chunks_; ++chunk) {
    int num_contributors = 0, first_rank = -1;
    for (int rank = 0; rank < num_ranks; ++rank) num_contributors += input_spans_[rank].contains(chunk) ? 1 : 0;
    for (int rank = 0; rank < num_ranks; ++rank) {
      if (!output_spans_[rank].contains(chunk)) continue;
      const Expression value = output(rank, chunk).value;
      if (value == kNothing) return at_end(fault::kUninitialised, rank, chunk, "holds nothing at the end");
      // No contribution is in there twice and only contributors have leaves of this chunk: counting is enough.
      if (expressions_.num_held(value) != num_contributors)
        return at_end(fault::kMissingContribution, rank, chunk, "lacks the contribution of " + missing(value, chunk));
      if (first_rank < 0) first_rank = rank;
      if (value != output(first_rank, chunk).value)
        return at_end(fault::kDifferentExpressions, rank, chunk,
                      "is folded in another order than rank " + std::to_string(first_rank) + "'s" +
                          writer(output(first_rank, chunk)) + ", so their bits may differ");
    }
  }
  return std::nullopt;
}

std::string Values::missing(Expression value, int chunk) const {
  std::vector<int> ranks;
  for (int rank = 0; rank < table_.shape.num_ranks; ++rank)
    if (input_spans_[rank].contains(chunk) && !expressions_.holds(value, rank)) ranks.push_back(rank);
  return (ranks.size() == 1 ? "rank " : "ranks ") + join(ranks);
}

std::string Values::writer(const Cell& cell) const {
  if (cell.written_by < 0) return " (never written)";
  return " (written by step " + std::to_string(table_.index(cell.written_by)) + ")";
}

Fault Values::at_end(const char* kind, int rank, int chunk, const std::string& what) {
  const Cell& cell = output(rank, chunk);
  return {
      kind,
      "rank " + std::to_string(rank) + "'s output chunk " + std::to_string(chunk) + writer(cell) + " " + what + mode(),
      rank, cell.written_by < 0 ? -1 : table_.index(cell.written_by)};
}

}  // namespace ringtree
