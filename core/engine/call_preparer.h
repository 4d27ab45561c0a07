// CallPreparer: what a call comes to before its first message: whether it can be made at all, which configuration runs
// it, how it is cut. Const: it reads what was agreed when the communicator was made, so that all ranks come to the
// same. Not for plans and links, which come after (communicator.h).
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "core/engine/link_directory.h"
#include "core/engine/prepared_call.h"
#include "core/engine/selection.h"

namespace ringtree {

/// Plans that were made, by CallDescription::plan_key.
using Plans = std::unordered_map<uint64_t, std::unique_ptr<Plan>>;

class CallPreparer {
 public:
  CallPreparer(int rank, AlgorithmTable table, Selection selection)
      : rank_(rank), table_(std::move(table)), selection_(std::move(selection)) {}

  const AlgorithmTable& table() const { return table_; }
  const Selection& selection() const { return selection_; }

  /// What `auto` would run, and why.
  std::pair<Configuration, std::string> choose(const CallKind& kind) const {
    return choose_configuration(table_, kind, selection_);
  }
  /// Throws UsageError for what does not depend on the call's kind alone: its moment and its factor.
  static void check(const Call& call);
  /// The call with its plan, if it is one of `plans`. Throws UsageError if there can be no such call.
  std::unique_ptr<PreparedCall> prepare(const CallKind& kind, const Plans& plans) const;
  /// Throws UsageError if the buffers do not fit.
  static void check_buffers(const Call& call, const PreparedCall& prepared);
  /// The plans that share links with this call's. `uses_pools`: its protocol's links take slots from pools.
  PlanFamily family_of(const PreparedCall& call, bool uses_pools) const;

 private:
  int num_ranks() const { return selection_.num_ranks; }
  void check_kind(const CallKind& kind) const;
  void check_counts(const CallKind& kind) const;
  Configuration configuration_of(const CallKind& kind, std::string& reason) const;
  void bind(PreparedCall& call) const;
  static void describe(PreparedCall& call, uint64_t identity);

  const int rank_;
  const AlgorithmTable table_;
  const Selection selection_;
};

}  // namespace ringtree
