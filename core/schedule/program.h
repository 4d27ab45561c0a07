// One rank's (or switch's) program: a checked sequence of steps with the dependencies between its lanes.
//
// The sequence is the meaning: running the steps one after another gives the right result. Lanes only say what may
// overlap, and whatever two lanes touch in common is kept in sequence by dependencies that are derived here, never
// written by hand, so lanes cannot race. Dependencies are derived as if the call were in place, which is the stricter
// case.
#pragma once

#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/schedule/shape.h"
#include "core/schedule/step.h"

namespace ringtree {

/// A schedule that is not well formed; the message names schedule, rank and step.
struct ScheduleError : UsageError {
  using UsageError::UsageError;
};

/// "The step that has this dependency waits for `step` of another lane."
struct Dependency {
  int step = 0;
  bool by_slice = false;       // same bytes in the same order: slice i waits for slice i; else for the whole step
  bool previous_pass = false;  // that step's run in the pass before (scratch is used again in every pass)
  bool operator==(const Dependency&) const = default;
};

class Program {
 public:
  /// Checks every step against `shape`: verb shape, ranges, buffers that this rank has (a switch: none), input never
  /// written, operands the same place or disjoint, each link end owned by one lane, constant reader sets. Throws
  /// ScheduleError. O(steps · fan).
  Program(const ScheduleShape& shape, int rank, int num_scratch, std::vector<Step> steps);

  int rank() const { return rank_; }
  int num_lanes() const { return num_lanes_; }
  int num_scratch() const { return num_scratch_; }
  const std::vector<Step>& steps() const { return steps_; }
  /// For each step what it waits for in other lanes; at most one entry a lane and pass.
  const std::vector<std::vector<Dependency>>& dependencies() const { return dependencies_; }

 private:
  void check_lanes(const ScheduleShape& shape) const;

  int rank_;
  int num_scratch_;
  int num_lanes_ = 0;
  std::vector<Step> steps_;
  std::vector<std::vector<Dependency>> dependencies_;
};

/// Derives the dependencies of a sequence of steps (see Dependency). Exposed for its tests.
std::vector<std::vector<Dependency>> derive_dependencies(const std::vector<Step>& steps, int num_chunks,
                                                         int num_scratch, int num_lanes);

}  // namespace ringtree
