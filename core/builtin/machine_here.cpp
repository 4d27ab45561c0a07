// See machine_here.h.
#include "core/builtin/machine_here.h"

#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/base/sha256.h"
#include "core/builtin/machine_file.h"
#include "core/model/probed_constants.h"

namespace ringtree {
namespace {

constexpr double kMostSeconds = 0.6;    // until the last probe begins, which has 0.2 s
constexpr std::chrono::days kKept{30};  // kernels, memory and neighbours change

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

constexpr const char* kSwitch = "RINGTREE_PROBE";

bool is_off(const std::string& value) { return value.empty() || value == "0"; }

bool switched_on() {
  const std::string value = variable(kSwitch);
  if (!is_off(value) && value != "1")
    throw UsageError("invalid RINGTREE_PROBE '" + value +
                     "': 0 probes nothing, 1 the links between hosts and this machine's constants; unset, the links "
                     "alone are probed");
  return value == "1";
}

std::string cache_folder() {
  if (std::string asked = variable("RINGTREE_CACHE_DIR"); !asked.empty()) return asked;
  if (const std::string caches = variable("XDG_CACHE_HOME"); !caches.empty()) return caches + "/ringtree";
  if (const std::string home = variable("HOME"); !home.empty()) return home + "/.cache/ringtree";
  return "";
}

std::string processor() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (const size_t colon = line.find(": "); line.starts_with("model name") && colon != std::string::npos)
      return line.substr(colon + 2);
  return "unknown processor";
}

std::vector<int> usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof set, &set) == 0)  // fails on more cores than a set holds: then nothing is probed
    for (int core = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(core, &set)) cores.push_back(core);
  return cores;
}

// "2026-11-25"
std::string date_text(std::chrono::sys_days day) {
  const std::chrono::year_month_day date(day);
  char text[32];
  std::snprintf(text, sizeof text, "%04d-%02u-%02u", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()));
  return text;
}

// Texts of dates compare as the dates do. A date to come is a clock's that was wrong.
bool is_fresh(const Machine& kept, std::chrono::sys_days today) {
  return kept.source >= "probed " + date_text(today - kKept) && kept.source <= "probed " + date_text(today);
}

ProbedMachine probe_here(const std::vector<int>& cores, double seconds) {
  try {
    return probe_machine(machine_probes(cores), seconds);
  } catch (const WorldError&) {  // no thread is left: nothing was found
    return {};
  }
}

MachineSurroundings surroundings() {
  const auto today = std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
  MachineSurroundings here{usable_cores(), processor(), cache_folder(), today, {}};
  here.probe = [cores = here.cores](double seconds) { return probe_here(cores, seconds); };
  return here;
}

// "0-3,8": `cores` in ascending order.
std::string ranges_text(const std::vector<int>& cores) {
  std::string text;
  for (size_t first = 0, last = 0; first < cores.size(); first = ++last) {
    while (last + 1 < cores.size() && cores[last + 1] == cores[last] + 1) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(cores[first]);
    if (last > first) text += "-" + std::to_string(cores[last]);
  }
  return text;
}

std::string fingerprint_of(const MachineSurroundings& here) { return here.cpu + ", cores " + ranges_text(here.cores); }

std::string file_of(const std::string& folder, const std::string& fingerprint) {
  std::string name;
  const Sha256Digest digest = sha256(fingerprint);
  for (size_t i = 0; i < 8; ++i) {
    char byte[3];
    std::snprintf(byte, sizeof byte, "%02x", digest[i]);
    name += byte;
  }
  return folder + "/machine/" + name + ".txt";
}

std::string constants_text(const Machine& machine) {
  char text[128];
  std::snprintf(text, sizeof text, "%.3g us a message, bytes at %.3g GB/s beyond the caches and %.3g GB/s inside them",
                machine.alpha_s * 1e6, machine.copy_Bps / 1e9, machine.near_Bps / 1e9);
  return "constants " + machine.source + ": " + text;
}

// What was not found, and what that means; "" if nothing is missing.
std::string missing_text(const ProbedConstants& found, size_t num_cores) {
  std::string text;
  if (!found.handoff_s) text += num_cores > 1 ? "the hand-off" : "the hand-off (there is one core)";
  if (!found.copies()) text += std::string(text.empty() ? "" : " and ") + "copies";
  return text.empty() ? "" : "; probing " + text + " gave no steady result: built-in values are used";
}

}  // namespace

MachineHere machine_in(const MachineSurroundings& here, double seconds) {
  const std::string fingerprint = fingerprint_of(here);
  const std::string file = here.cache_folder.empty() ? "" : file_of(here.cache_folder, fingerprint);
  if (!file.empty())
    if (std::optional<Machine> kept = read_machine(file, fingerprint); kept && is_fresh(*kept, here.today))
      return {*kept, constants_text(*kept) + " (" + file + ")"};
  const ProbedMachine probed = here.probe(std::min(seconds, kMostSeconds));
  const ProbedConstants found{probed.handoff_s, probed.near_Bps, probed.copy_Bps};
  const Machine machine = with_probed(found, date_text(here.today));
  // One core has nobody to hand over to: there is no more to find.
  const bool complete = found.copies() && (found.handoff_s || here.cores.size() == 1);
  if (complete && !file.empty()) keep_machine(file, fingerprint, machine);
  return {machine, constants_text(machine) + missing_text(found, here.cores.size())};
}

MachineHere machine_here(double seconds) {
  if (!switched_on())
    return {default_machine(), constants_text(default_machine()) + " (RINGTREE_PROBE=1 probes this machine)"};
  static std::mutex mutex;  // protects `known`
  static std::map<std::string, MachineHere> known;
  const MachineSurroundings here = surroundings();
  const std::string key = here.cache_folder + "\n" + fingerprint_of(here);
  {
    const std::lock_guard lock(mutex);
    if (const auto found = known.find(key); found != known.end()) return found->second;
  }
  MachineHere found = machine_in(here, seconds);
  const std::lock_guard lock(mutex);
  return known.insert_or_assign(key, std::move(found)).first->second;
}

std::function<Machine(double seconds)> machine_prober() {
  if (is_off(variable(kSwitch))) return {};
  // A wrong value is told by the call, when the ranks have met and hear of it: before, they would wait for this one.
  return [](double seconds) { return machine_here(seconds).machine; };
}

std::function<bool()> link_prober() {
  if (variable(kSwitch) == "0") return {};
  return [] { return variable(kSwitch).empty() || switched_on(); };
}

}  // namespace ringtree
