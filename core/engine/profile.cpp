// See profile.h.
#include "core/engine/profile.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <utility>

#include "core/base/error.h"

namespace ringtree {
namespace {

constexpr size_t kNumWords = 10;
constexpr size_t kMaxLines = 4096;  // every rank gets the text when a communicator is made
constexpr size_t kRest = SIZE_MAX;
constexpr size_t kMaxRanks = 1 << 16;
constexpr size_t kMaxSliceBytes = size_t{16} << 20;
constexpr size_t kSliceStep = 64;  // a cache line
constexpr size_t kMaxChannels = 64;

// One line, for words and errors.
struct Line {
  size_t number;  // from 1
  std::array<std::string_view, kNumWords> words;

  [[noreturn]] void fail(const std::string& what) const {
    throw UsageError("profile, line " + std::to_string(number) + ": " + what);
  }
  size_t count(size_t index, const char* what, size_t least, size_t most) const {
    const std::string_view word = words[index];
    size_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    const bool leading_zero = word.size() > 1 && word.front() == '0';  // one number, one spelling
    if (error != std::errc{} || end != word.data() + word.size() || leading_zero || value < least || value > most)
      fail("invalid " + std::string(what) + " '" + std::string(word) + "'");
    return value;
  }
  // True for the second of two words.
  bool choice(size_t index, std::string_view first, std::string_view second) const {
    if (words[index] != first && words[index] != second)
      fail("'" + std::string(words[index]) + "' is neither " + std::string(first) + " nor " + std::string(second));
    return words[index] == second;
  }
};

Line split(size_t number, std::string_view text) {
  Line line{number, {}};
  size_t word = 0;
  for (;; ++word) {
    const size_t end = std::min(text.find(' '), text.size());
    if (word == kNumWords || end == 0) line.fail("a rule must have ten words separated by single spaces");
    line.words[word] = text.substr(0, end);
    if (end == text.size()) break;
    text.remove_prefix(end + 1);
  }
  if (word + 1 != kNumWords) line.fail("a rule must have ten words separated by single spaces");
  return line;
}

// Hosts, and ranks on all of them: "4" are 4 ranks on one host, "2x2" as many on two.
std::pair<int, int> world_of(Line line) {
  const std::string_view word = line.words[1];
  const size_t times = word.find('x');
  size_t hosts = 1;
  if (times != std::string_view::npos) {
    line.words[1] = word.substr(0, times);
    hosts = line.count(1, "number of hosts", 2, kMaxRanks);
    line.words[1] = word.substr(times + 1);
  }
  const size_t ranks = hosts * line.count(1, "number of ranks", 1, kMaxRanks);
  if (ranks > kMaxRanks) line.fail("invalid number of ranks '" + std::string(word) + "'");
  return {static_cast<int>(hosts), static_cast<int>(ranks)};
}

// An algorithm is whatever the engine's table calls so; here it need only be a word that no text can be broken with.
bool is_name(std::string_view word) {
  return word.size() <= 64 && std::all_of(word.begin(), word.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
         });
}

Configuration configuration_of(const Line& line) {
  Configuration configuration;
  if (!is_name(line.words[5])) line.fail("invalid name of an algorithm '" + std::string(line.words[5]) + "'");
  configuration.algorithm = line.words[5];
  const auto protocol = protocol_from_name(line.words[6]);
  if (!protocol) line.fail("invalid protocol '" + std::string(line.words[6]) + "'");
  configuration.protocol = *protocol;
  configuration.slice_bytes = line.count(7, "size of a slice", 0, kMaxSliceBytes);
  if (configuration.slice_bytes % kSliceStep != 0)
    line.fail("a slice must be a multiple of " + std::to_string(kSliceStep) + " bytes");
  configuration.streaming = line.choice(8, "ordinary", "streaming");
  configuration.channels = static_cast<int>(line.count(9, "number of channels", 1, kMaxChannels));
  return configuration;
}

}  // namespace

std::string Configuration::to_string() const {
  std::string text = algorithm + "/" + protocol_name(protocol);
  if (slice_bytes) text += ", slices of " + std::to_string(slice_bytes) + " bytes";
  if (streaming) text += ", streaming";
  if (channels != 1) text += ", " + std::to_string(channels) + " channels";
  return text;
}

Profile Profile::parse(std::string_view text) {
  Profile profile;
  const std::vector<Rule>* open = nullptr;  // the table whose `rest` has not come yet
  size_t number = 0;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    if (++number > kMaxLines) throw UsageError("profile: more than " + std::to_string(kMaxLines) + " rules");
    if (end == std::string_view::npos)
      throw UsageError("profile, line " + std::to_string(number) + ": the line is incomplete: the text was cut off");
    const Line line = split(number, text.substr(0, end));
    text.remove_prefix(end + 1);

    const auto collective = collective_from_name(line.words[0]);
    if (!collective) line.fail("unknown collective '" + std::string(line.words[0]) + "'");
    const auto [hosts, ranks] = world_of(line);
    std::vector<Rule>& table =
        profile
            .tables_[{*collective, ranks, hosts, line.choice(2, "shared", "own"), line.choice(3, "private", "shared")}];
    if (open != nullptr && open != &table) line.fail("the table before it does not end with 'rest'");
    if (!table.empty() && table.back().until_bytes == kRest) line.fail("comes after its table's 'rest'");
    const size_t until = line.words[4] == "rest" ? kRest : line.count(4, "size in bytes", 0, kRest - 1);
    if (!table.empty() && until <= table.back().until_bytes) line.fail("sizes must ascend");
    table.push_back({until, configuration_of(line)});
    if (hosts > 1 && table.back().configuration.protocol != Protocol::simple)
      line.fail("between hosts the protocol must be simple");
    open = until == kRest ? nullptr : &table;
  }
  if (open != nullptr)
    throw UsageError("profile, line " + std::to_string(number) + ": the last rule of a table must say 'rest'");
  return profile;
}

std::optional<Configuration> Profile::find(Collective collective, const Conditions& conditions, size_t bytes) const {
  const auto [ranks, own_cores, shared_buffers, hosts] = conditions;
  auto table = tables_.find({collective, ranks, hosts, own_cores, shared_buffers});
  if (table == tables_.end()) table = tables_.find({collective, ranks, hosts, own_cores, false});
  if (table == tables_.end()) return std::nullopt;
  const std::vector<Rule>& rules = table->second;  // the last one holds every size
  return std::lower_bound(rules.begin(), rules.end(), bytes,
                          [](const Rule& rule, size_t size) { return rule.until_bytes < size; })
      ->configuration;
}

std::string Profile::text() const {
  std::string text;
  for (const auto& [key, rules] : tables_) {
    const auto& [collective, ranks, hosts, own_cores, shared_buffers] = key;
    const std::string world =
        hosts == 1 ? std::to_string(ranks) : std::to_string(hosts) + 'x' + std::to_string(ranks / hosts);
    for (const auto& [until_bytes, configuration] : rules) {
      text += collective_name(collective);
      text += ' ' + world + (own_cores ? " own" : " shared");
      text += shared_buffers ? " shared " : " private ";
      text += until_bytes == kRest ? "rest" : std::to_string(until_bytes);
      text += ' ' + configuration.algorithm + ' ' + protocol_name(configuration.protocol) + ' ';
      text += std::to_string(configuration.slice_bytes) + (configuration.streaming ? " streaming " : " ordinary ");
      text += std::to_string(configuration.channels) + '\n';
    }
  }
  return text;
}

}  // namespace ringtree
