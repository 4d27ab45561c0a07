// What the closed-form model asks of this machine, probed in less than a second: the median of a few short probes each,
// or nothing where they do not agree. For: `auto` where nothing was measured. Not for: what the engine takes beyond
// that, nor for keeping what was found (core/builtin/machine_here.h).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/base/clock.h"

namespace ringtree {

/// What is called, each for one short probe; tests have others.
struct MachineProbes {
  using Probe = std::function<std::optional<double>()>;
  Probe handoff;    // seconds from core to core
  Probe near_copy;  // bytes per second of a core
  Probe far_copy;
  std::function<int64_t()> clock_ns = now_ns;
};

/// Medians; nothing where fewer than three probes answered, or the largest answer is more than four times the smallest.
struct ProbedMachine {
  std::optional<double> handoff_s, near_Bps, copy_Bps;
};

/// Seconds that a probe waits for cores that others have; one of copies as long again, until its memory is written.
inline constexpr double kProbePatienceS = 0.1;

/// The probes of this machine for ranks that may run on `cores`: hand-off between the first two of them, copies on
/// both, or on the one that there is. They take 72 MB at most, until they are destroyed.
MachineProbes machine_probes(const std::vector<int>& cores, double patience_s = kProbePatienceS);

/// Probes by turns, up to five times each. None begins that would end later than `seconds` from now if it took as long
/// as the longest of its kind so far. std::bad_alloc and WorldError of a probe count as no answer.
ProbedMachine probe_machine(const MachineProbes& probes, double seconds);

}  // namespace ringtree
