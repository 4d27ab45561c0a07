// Ranks that run schedules as a first course on the subject would write it: one thread a rank walks through the rounds
// of the schedule (core/schedule/rounds.h), whole chunks are messages, and nothing overlaps but the messages of one
// round.
//
// For: the steps between an interpreter in Python and the engine, one at a time, as arms of a comparison. It runs any
// all_reduce schedule and is exact, but not fast. Not for: using. The engine (core/engine) shares no code with it above
// the kernels.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/reduce_op.h"
#include "core/bootstrap/mesh.h"
#include "core/schedule/schedule.h"
#include "core/textbook/inbox.h"
#include "core/textbook/style.h"
#include "core/textbook/walk.h"
#include "core/textbook/watch.h"

namespace ringtree::textbook {

/// A schedule with sizes, ready to be run any number of times by the group that made it.
struct PreparedCall {
  BoundRounds bound;
  Fold fold;
  FinishKernel finish = nullptr;
  size_t count = 0;
  Dtype dtype = Dtype::kFloat32;
  std::vector<std::byte> scratch;
  std::string name;  // for errors
};

class Group {
 public:
  /// Meets the other ranks through `store`; collective. `timeout_s` counts for this, and for every call. Throws as Mesh
  /// does, and MismatchError if the ranks have different styles.
  Group(Store& store, int rank, int world_size, Style style, double timeout_s, const std::string& prefix);
  ~Group();

  int rank() const { return rank_; }
  int world_size() const { return world_size_; }
  Style style() const { return style_; }
  void set_interrupt_check(InterruptCheck check) { watch_.set_interrupt_check(check); }

  /// Collective: every rank gets ready for the same call. `schedule`: an all_reduce of this group's ranks, proved right
  /// (core/verify) by the caller. `count`: elements. Throws UsageError for what can't be run, PeerError, TimeoutError,
  /// MismatchError, WorldError; the group is unusable after the last four.
  std::unique_ptr<PreparedCall> prepare(const Schedule& schedule, size_t count, Dtype dtype, ReduceOp op);

  /// Collective. `input`, `output`: call.count elements, the same memory or disjoint. Throws PeerError, TimeoutError,
  /// MismatchError, WorldError, after which the group is unusable.
  void run(PreparedCall& call, const void* input, void* output);

  /// Leaves in order. Idempotent.
  void close();

 private:
  void check_usable() const;
  bool walk(PreparedCall& call, const Memory& memory);

  const int rank_, world_size_, fork_count_;
  const Style style_;
  const double timeout_s_;
  const std::string making_ = "making a group of the textbook";
  uint64_t sequence_ = 0;
  Watch watch_;
  Inbox inbox_;
  std::unique_ptr<Mesh> mesh_;   // its thread uses the two above
  std::unique_ptr<Wire> wire_;   // null once closed
  MailboxWire* mail_ = nullptr;  // wire_, if it is one
};

}  // namespace ringtree::textbook
