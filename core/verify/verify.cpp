// The three parts of the proof, one after the other; see verify.h.
#include "core/verify/verify.h"

#include <optional>

#include "core/verify/expressions.h"
#include "core/verify/ledger.h"
#include "core/verify/order.h"
#include "core/verify/values.h"

namespace ringtree {
namespace {

std::optional<Fault> find_fault(const StepTable& table, const Ledger& ledger) {
  if (std::optional<Fault> fault = ledger.check()) return fault;
  std::vector<int> order;
  if (std::optional<Fault> fault = find_order(table, ledger, order)) return fault;
  Expressions expressions(table.shape.num_ranks, table.shape.num_chunks);
  for (bool in_place : {false, true}) {
    if (in_place && !can_be_in_place(table.shape.collective)) continue;
    if (std::optional<Fault> fault = Values(table, ledger, expressions, in_place).run(order)) return fault;
  }
  return std::nullopt;
}

}  // namespace

Verdict verify(const Schedule& schedule) {
  StepTable table(schedule);
  const Ledger ledger(table);
  Verdict verdict;
  verdict.num_steps = static_cast<int64_t>(table.steps.size());
  verdict.num_messages = ledger.num_messages();
  verdict.num_links = ledger.num_links();
  const std::optional<Fault> fault = find_fault(table, ledger);
  verdict.ok = !fault;
  if (fault) {
    verdict.kind = fault->kind;
    verdict.problem = schedule.shape().name + ": " + fault->problem;
    verdict.rank = fault->rank;
    verdict.step = fault->step;
  }
  return verdict;
}

void require_verified(const Schedule& schedule) {
  const Verdict verdict = verify(schedule);
  if (!verdict.ok) throw VerificationError(verdict.problem);
}

}  // namespace ringtree
