// Says where the messages of a link from another host belong, while a call runs: straight in the caller's output, where
// a step only puts them there, so that the kernel's copy is the only one. docs/decisions/0041.
//
// A message is let in as soon as it comes, which may be long before its step's turn. By then nobody may still want what
// lies there, so it is placed only if every earlier step of the rank's that reads or writes the place is done. Later
// ones wait for the message's own step, as ever. Whoever reads the place elsewhere, since an earlier step sent it from
// there, has read it: steps do that only where what comes back proves it (direct.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/engine/plan.h"
#include "core/schedule/program.h"
#include "core/transport/placement.h"

namespace ringtree {

class LinkPlacer final : public Placer {
 public:
  /// A step that receives from the link.
  struct Receipt {
    int step = 0;       // of the lane
    bool puts = false;  // all it does with the message is to put it into the output, and perhaps to send it on
    std::vector<PlanDependency> touched_before;  // the last step of each lane that has to do with the place
  };

  LinkPlacer(const Plan& plan, int lane, RecvEnd& end) : plan_(plan), lane_(lane), end_(end) {}
  /// In the order of the lane.
  void add(Receipt receipt) { receipts_.push_back(std::move(receipt)); }
  bool ever_places() const;
  const std::vector<Receipt>& receipts() const { return receipts_; }

  /// From now on the messages of `call`, of which all lanes stand at the beginning.
  void begin(const BoundCall& call);
  /// No longer: the output is the caller's. Returns how many were placed.
  size_t end();

  std::byte* place_for(uint64_t number, size_t bytes, uint32_t fingerprint) override;

 private:
  std::byte* place_of(const PlanStep& step, size_t pass, size_t at, size_t bytes) const;

  const Plan& plan_;
  const int lane_;
  RecvEnd& end_;
  std::vector<Receipt> receipts_;
  const BoundCall* call_ = nullptr;
  size_t num_placed_ = 0;
};

/// While it lives, what comes for a run of `plan` from other hosts is received where it belongs.
class Placing {
 public:
  /// All lanes of the plan stand at the beginning of `call`.
  Placing(const Plan& plan, const BoundCall& call) : plan_(plan.placers.empty() ? nullptr : &plan) {
    for (const auto& placer : plan.placers) placer->begin(call);
  }
  ~Placing() { end(); }
  Placing(const Placing&) = delete;
  Placing& operator=(const Placing&) = delete;
  /// Returns how many messages were placed.
  size_t end() { return plan_ ? end_all(std::exchange(plan_, nullptr)->placers) : 0; }

 private:
  static size_t end_all(const std::vector<std::unique_ptr<LinkPlacer>>& placers);

  const Plan* plan_;  // null: it has ended
};

/// Those of a compiled plan; `program` is what it was compiled from.
std::vector<std::unique_ptr<LinkPlacer>> find_placers(const Plan& plan, const Program& program);

}  // namespace ringtree
