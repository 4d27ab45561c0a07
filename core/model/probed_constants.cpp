// See probed_constants.h.
#include "core/model/probed_constants.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

namespace ringtree {
namespace {

constexpr std::string_view kBegin = "machine ";
constexpr size_t kMaxSource = 64;

// What a message takes beyond handing over its line: alpha_s of default_machine() less the hand-off of 0.05 us that was
// measured on the machine on which it was set (estimate.cpp).
constexpr double kEngineS = 0.2e-6;

struct Bounds {
  double least, most;
  double clamp(double value) const { return std::clamp(value, least, most); }
  bool hold(double value) const { return value >= least && value <= most; }  // false for NaN
};

// Wider than what was seen of any CPU: cores of one module hand over in 20 ns, sockets in less than 1 us; a core copies
// 1 to 50 GB/s beyond its caches and up to some 300 inside. A probe that says otherwise was disturbed.
constexpr Bounds kHandoff{10e-9, 2e-6}, kAlpha{kHandoff.least, kHandoff.most + kEngineS}, kCopy{0.5e9, 100e9},
    kNear{1e9, 500e9};

bool read(std::string_view& text, double& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end == text.data() + text.size() || *end != ' ') return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()) + 1);
  return true;
}

bool is_source(std::string_view text) {
  return !text.empty() && text.size() <= kMaxSource && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == ' ' || c == '-';
  });
}

}  // namespace

Machine with_probed(const ProbedConstants& found, const std::string& date) {
  Machine machine = default_machine();
  if (!found.handoff_s && !found.copies()) return machine;
  if (found.handoff_s) machine.alpha_s = kHandoff.clamp(*found.handoff_s) + kEngineS;
  if (found.copies()) {
    machine.copy_Bps = kCopy.clamp(*found.copy_Bps);
    machine.near_Bps = std::max(kNear.clamp(*found.near_Bps), machine.copy_Bps);
  }
  machine.source = "probed " + date;
  return machine;
}

std::string machine_text(const Machine& machine) {
  char numbers[96];
  std::snprintf(numbers, sizeof numbers, "%.17g %.17g %.17g ", machine.alpha_s, machine.copy_Bps, machine.near_Bps);
  return std::string(kBegin) + numbers + machine.source + "\n";
}

bool is_machine_text(std::string_view text) { return text.starts_with(kBegin); }

std::optional<Machine> parse_machine(std::string_view text) {
  if (!is_machine_text(text) || text.back() != '\n') return std::nullopt;
  text.remove_prefix(kBegin.size());
  text.remove_suffix(1);
  Machine machine = default_machine();
  if (!read(text, machine.alpha_s) || !read(text, machine.copy_Bps) || !read(text, machine.near_Bps)) return {};
  if (!kAlpha.hold(machine.alpha_s) || !kCopy.hold(machine.copy_Bps) || !kNear.hold(machine.near_Bps)) return {};
  if (machine.near_Bps < machine.copy_Bps || !is_source(text)) return {};
  machine.source = text;
  return machine;
}

}  // namespace ringtree
