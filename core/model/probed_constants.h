// The models' constants that can be probed in a moment, of a machine and of the links between hosts: what probes found,
// within bounds, and as text that ranks agree on and files keep. Not for: probing (core/probe), nor for the constants
// that are the engine's own and the kernel's (a slice's work, a switch, the reach of the cache), which stay those of
// default_machine().
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/model/estimate.h"

namespace ringtree {

/// What was found; nothing where no probe gave a steady answer.
struct ProbedConstants {
  std::optional<double> handoff_s;  // of a cache line from one core to another
  std::optional<double> near_Bps;   // that a core copies inside its caches while the others do
  std::optional<double> copy_Bps;   // the same beyond them

  /// The two rates count together or not at all: how they compare decides more than either.
  bool copies() const { return near_Bps && copy_Bps; }
};

/// What core/probe/machine_probe.h finds on the machine that default_machine() is of (2 cores of an AMD EPYC virtual
/// machine): the hand-off as estimate.cpp says, the rates 50 to 59 GB/s with buffers of 2 MB in four probes of both
/// cores, 2026-11-25, and 40 to 43 GB/s with 16 MB in four medians of five, 2026-11-26 (32 MB, side by side: 28 to 31
/// GB/s). They are not the model's constants: those are what the engine gets out of such a machine.
inline constexpr double kReferenceHandoffS = 0.05e-6, kReferenceNearBps = 58e9, kReferenceCopyBps = 40e9;
/// Rates count as at most this many times the reference's, and as no less than the reciprocal.
inline constexpr double kMostScale = 8;

/// default_machine() as it would be on a machine with these probes: a message takes longer by what its hand-off does,
/// copies scale with the rates. Clamped to what machines have, and copying inside the caches no slower than beyond
/// them. `date`: of the probe, "2026-11-25". Nothing found: default_machine().
Machine with_probed(const ProbedConstants& found, const std::string& date);

/// The constants above and where they come from, as one line, whatever the locale: "machine 2.5e-07 8e+09 4e+10
/// probed 2026-11-25\n", for alpha_s, copy_Bps, near_Bps and source. What is not in it must be alike everywhere or
/// agreed on elsewhere.
std::string machine_text(const Machine& machine);
/// Whether it begins as such a line.
bool is_machine_text(std::string_view text);
/// default_machine() with the line's constants; nothing if it is malformed or has constants that with_probed() never
/// gives.
std::optional<Machine> parse_machine(std::string_view text);

/// What is chosen by where links between hosts were probed with these results: within what networks have, 0.1 us to 1 s
/// and 10 KB/s to 1 TB/s, and rounded to powers of the root of two, so that the next job on the same hosts
/// mostly chooses alike.
HostLinks with_probed(const HostLinks& found);
/// Links as one line like the above: "links 1.2e-05 1.1e+09 \n", for alpha_s and beta_Bps, and back; nothing if it is
/// malformed or out of bounds.
std::string links_text(const HostLinks& links);
bool is_links_text(std::string_view text);
std::optional<HostLinks> parse_links(std::string_view text);

}  // namespace ringtree
