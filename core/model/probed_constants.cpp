// See probed_constants.h.
#include "core/model/probed_constants.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace ringtree {
namespace {

constexpr std::string_view kBegin = "machine ", kBeginLinks = "links ";
constexpr size_t kMaxSource = 64;

struct Bounds {
  double least, most;
  double clamp(double value) const { return std::clamp(value, least, most); }
  bool hold(double value) const { return value >= least && value <= most; }  // false for NaN
};

// Cores that share a cache hand over in 20 ns, sockets in less than 1 us: a probe that says otherwise was disturbed.
constexpr Bounds kHandoff{10e-9, 2e-6}, kScale{1 / kMostScale, kMostScale};
constexpr Bounds kAlpha{1e-7, 1}, kBeta{1e4, 1e12};

double alpha(double handoff_s) { return default_machine().alpha_s + kHandoff.clamp(handoff_s) - kReferenceHandoffS; }

double scaled(double constant, double found, double reference) { return constant * kScale.clamp(found / reference); }

bool can_be(const Machine& machine) {
  const Machine built_in = default_machine();
  return Bounds{alpha(kHandoff.least), alpha(kHandoff.most)}.hold(machine.alpha_s) &&
         kScale.hold(machine.copy_Bps / built_in.copy_Bps) && kScale.hold(machine.near_Bps / built_in.near_Bps) &&
         machine.near_Bps >= machine.copy_Bps;
}

bool read(std::string_view& text, double& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end == text.data() + text.size() || *end != ' ') return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()) + 1);
  return true;
}

// Neither this nor read() minds the locale, which a program may set to one that writes 2,5. The shortest text that
// reads back as `value`.
std::string text_of(double value) {
  std::array<char, 32> text{};  // the longest has 24
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
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
  if (found.handoff_s) machine.alpha_s = alpha(*found.handoff_s);
  if (found.copy_Bps && found.near_Bps) {
    machine.copy_Bps = scaled(machine.copy_Bps, *found.copy_Bps, kReferenceCopyBps);
    machine.near_Bps = std::max(scaled(machine.near_Bps, *found.near_Bps, kReferenceNearBps), machine.copy_Bps);
  }
  machine.source = "probed " + date;
  return machine;
}

std::string machine_text(const Machine& machine) {
  return std::string(kBegin) + text_of(machine.alpha_s) + " " + text_of(machine.copy_Bps) + " " +
         text_of(machine.near_Bps) + " " + machine.source + "\n";
}

bool is_machine_text(std::string_view text) { return text.starts_with(kBegin); }

std::optional<Machine> parse_machine(std::string_view text) {
  if (!is_machine_text(text) || text.back() != '\n') return std::nullopt;
  text.remove_prefix(kBegin.size());
  text.remove_suffix(1);
  Machine machine = default_machine();
  if (!read(text, machine.alpha_s) || !read(text, machine.copy_Bps) || !read(text, machine.near_Bps)) return {};
  if (!can_be(machine) || !is_source(text)) return {};
  machine.source = text;
  return machine;
}

HostLinks with_probed(const HostLinks& found) {
  const auto rounded = [](double value) { return std::exp2(std::round(2 * std::log2(value)) / 2); };
  return {kAlpha.clamp(rounded(kAlpha.clamp(found.alpha_s))), kBeta.clamp(rounded(kBeta.clamp(found.beta_Bps)))};
}

std::string links_text(const HostLinks& links) {
  return std::string(kBeginLinks) + text_of(links.alpha_s) + " " + text_of(links.beta_Bps) + " \n";
}

bool is_links_text(std::string_view text) { return text.starts_with(kBeginLinks); }

std::optional<HostLinks> parse_links(std::string_view text) {
  if (!is_links_text(text)) return std::nullopt;
  text.remove_prefix(kBeginLinks.size());
  HostLinks links;
  if (!read(text, links.alpha_s) || !read(text, links.beta_Bps) || text != "\n") return std::nullopt;
  if (!kAlpha.hold(links.alpha_s) || !kBeta.hold(links.beta_Bps)) return std::nullopt;
  return links;
}

}  // namespace ringtree
