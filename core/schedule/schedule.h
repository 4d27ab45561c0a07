// A collective algorithm as data: for each rank (and switch, shape.h) a program, made when it is asked for. It moves no
// bytes, reads no environment and knows no transport. A Schedule that exists is well formed: its constructor checks the
// shape, and no unchecked Program exists. That it computes the right thing is the verifier's to prove (core/verify).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/schedule/program.h"
#include "core/schedule/shape.h"

namespace ringtree {

/// Collects one rank's steps. `add` only appends; the checks are Program's.
class ProgramBuilder {
 public:
  ProgramBuilder(const ScheduleShape& shape, int rank) : shape_(&shape), rank_(rank) {}

  int rank() const { return rank_; }
  int num_ranks() const { return shape_->num_ranks; }
  bool is_switch() const { return shape_->is_switch(rank_); }
  int root() const { return shape_->root; }
  int num_chunks() const { return shape_->num_chunks; }

  ProgramBuilder& add(Step step) {
    steps_.push_back(std::move(step));
    return *this;
  }
  /// Reserves `count` more scratch slots on this rank and returns the first.
  int reserve_scratch(int count) {
    const int first = num_scratch_;
    num_scratch_ += count;
    return first;
  }
  Program build() && { return Program(*shape_, rank_, num_scratch_, std::move(steps_)); }

 private:
  const ScheduleShape* shape_;
  int rank_;
  int num_scratch_ = 0;
  std::vector<Step> steps_;
};

class Schedule {
 public:
  /// Appends one rank's steps; a pure function of (shape, rank), called from any thread.
  using Generator = std::function<void(ProgramBuilder&)>;

  /// A lazy schedule: programs are made and checked when asked for. Throws ScheduleError if the shape is wrong.
  Schedule(ScheduleShape shape, Generator generator);
  /// A stored schedule: one program a rank, then one a switch, all checked now.
  Schedule(ScheduleShape shape, std::vector<std::vector<Step>> steps_by_rank, std::vector<int> num_scratch_by_rank);

  const ScheduleShape& shape() const { return shape_; }
  /// Of a rank, or of a switch: program num_ranks + i.
  Program program(int rank) const;

  /// Throws UsageError if there are switches in it; `who` has none: "the engine". Whoever runs ranks alone asks.
  void require_ranks_alone(const char* who) const;

  /// Same shape and programs <=> (but for collisions) same value; ranks compare it before they run a user's own
  /// schedule.
  uint64_t structural_hash() const;

 private:
  ScheduleShape shape_;
  Generator generator_;
  std::shared_ptr<const std::vector<Program>> stored_;
};

}  // namespace ringtree
