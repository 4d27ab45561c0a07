// The constants by which the model chooses on this machine: built in, or where the user asks for it those that were
// kept, else those that are probed now. The one place that knows the probes, the model and the environment. Not for
// agreeing on them: the engine does, at start (Settings::probe).
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "core/model/estimate.h"
#include "core/probe/machine_probe.h"

namespace ringtree {

/// What machine_here() finds depends on; tests have their own.
struct MachineSurroundings {
  std::vector<int> cores;    // that this process may run on
  std::string cpu;           // the processor's name
  std::string cache_folder;  // "": nothing is kept
  std::chrono::sys_days today;
  std::function<ProbedMachine(double seconds)> probe;
};

struct MachineHere {
  Machine machine;
  std::string told;  // where the constants come from, for people, one line
};

/// Reads what was kept for these cores and this processor in the last 30 days. Else probes for about `seconds`, less
/// than 1 s whatever is asked for, and keeps what was found if all of it was. What no probe tells is built in.
MachineHere machine_in(const MachineSurroundings& surroundings, double seconds);

/// The same in this process's own surroundings: once, then from memory. The cache lies in RINGTREE_CACHE_DIR, else
/// `ringtree` in XDG_CACHE_HOME or ~/.cache. Without RINGTREE_PROBE=1: the constants that are built in. UsageError for
/// another value of it than 0 or 1.
MachineHere machine_here(double seconds = 1);

/// What Settings::probe is for programs: machine_here(), which throws for a wrong value when it is called; none where
/// RINGTREE_PROBE is not set, or 0.
std::function<Machine(double seconds)> machine_prober();
/// What Settings::probes_links is for programs: true, or throws for a wrong value when it is called; none where
/// RINGTREE_PROBE is 0.
std::function<bool()> link_prober();

}  // namespace ringtree
