// See machine_probe.h.
#include "core/probe/machine_probe.h"

#include <algorithm>
#include <array>
#include <memory>
#include <new>

#include "core/base/error.h"
#include "core/probe/copy_rate.h"
#include "core/probe/handoff.h"

namespace ringtree {
namespace {

constexpr int kTurns = 5;
constexpr size_t kLeastAnswers = 3;
// Up to twice off, constants change what `auto` loses by two points at most; four times off, by five
// (docs/decisions/0030).
constexpr double kMostSpread = 4;

// Each is a best of many short chunks already. Waking threads takes longer than that.
constexpr double kHandoffS = 1e-3, kCopyS = 2e-3;
constexpr size_t kNearBytes = size_t{2} << 20;  // to and from: beyond what a core has for itself, within what all share
constexpr size_t kFarBytes = size_t{16} << 20;
constexpr size_t kMostCopying = 2;  // for each, memory that a job may not have to spare
constexpr size_t kMemoryCap = 2 * kFarBytes * kMostCopying;

// One kind of probe and what it has answered.
struct Series {
  const MachineProbes::Probe& probe;
  std::vector<double> answers;
  int64_t longest_ns = 0;

  void ask(const MachineProbes& probes, int64_t until_ns) {
    const int64_t before_ns = probes.clock_ns();
    if (before_ns + longest_ns >= until_ns) return;
    try {
      // Not kept in a variable beyond the try: with -O2, GCC 12 leaves it the answer before where a probe throws.
      if (const std::optional<double> answer = probe(); answer && *answer > 0) answers.push_back(*answer);
    } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): no answer
    } catch (const WorldError&) {      // NOLINT(bugprone-empty-catch): no thread is left
    }
    longest_ns = std::max(longest_ns, probes.clock_ns() - before_ns);
  }

  std::optional<double> median() {
    if (answers.size() < kLeastAnswers) return std::nullopt;
    std::ranges::sort(answers);
    if (answers.back() > kMostSpread * answers.front()) return std::nullopt;
    const size_t half = answers.size() / 2;
    return answers.size() % 2 ? answers[half] : (answers[half - 1] + answers[half]) / 2;
  }
};

}  // namespace

MachineProbes machine_probes(const std::vector<int>& cores, double patience_s) {
  MachineProbes probes;
  if (cores.size() > 1) {
    const auto pair = std::make_shared<HandoffProbe>(cores[0], cores[1], patience_s);
    probes.handoff = [pair] { return pair->measure(kHandoffS); };
  } else {
    probes.handoff = [] { return std::nullopt; };
  }
  const size_t num_copying = std::min(cores.size(), kMostCopying);
  const std::vector<int> copying(cores.begin(), cores.begin() + static_cast<std::ptrdiff_t>(num_copying));
  const auto copies = [copying, patience_s](size_t num_bytes) -> MachineProbes::Probe {
    // Made by the first turn, where a lack of memory gives no answer, and kept for the others.
    const auto kept = std::make_shared<std::optional<CopyProbe>>();
    return [kept, copying, patience_s, num_bytes]() -> std::optional<double> {
      if (copying.empty()) return std::nullopt;
      if (!*kept) kept->emplace(num_bytes, copying, kMemoryCap, patience_s);
      return (*kept)->measure(kCopyS);
    };
  };
  probes.near_copy = copies(kNearBytes);
  probes.far_copy = copies(kFarBytes);
  return probes;
}

ProbedMachine probe_machine(const MachineProbes& probes, double seconds) {
  const int64_t until_ns = probes.clock_ns() + static_cast<int64_t>(seconds * 1e9);
  std::array<Series, 3> all{{{probes.handoff, {}}, {probes.near_copy, {}}, {probes.far_copy, {}}}};
  for (int turn = 0; turn < kTurns; ++turn)
    for (Series& series : all) series.ask(probes, until_ns);
  return {all[0].median(), all[1].median(), all[2].median()};
}

}  // namespace ringtree
