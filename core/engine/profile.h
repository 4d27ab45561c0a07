// A measured profile: which configuration `auto` runs for a collective at a size, where this machine was measured. Only
// the rules, as text that all ranks can hold alike; where the file lies, whether it is this machine's and how the rules
// were found is Python's (ringtree/comm/profile.py, ringtree/tune). Not for algorithms: a rule's algorithm is a word
// here.
//
// The text has one rule a line, ten words that are each followed by one space or the end of the line:
//
//     all_reduce 2 own private 4096 one_shot ll128 0 ordinary 1
//     all_reduce 2 own private rest two_shot simple 65536 streaming 1
//     all_reduce 2x4 own private rest hierarchical_ring simple 0 ordinary 1
//     |          | |   |       |    |        |      |     |         channels
//     |          | |   |       |    |        |      |     ordinary or streaming: copies past the caches
//     |          | |   |       |    |        |      bytes of a slice; 0: as the plan cuts
//     |          | |   |       |    algorithm protocol
//     |          | |   |       sizes up to and including so many bytes, of those above the rule before; rest: all above
//     |          | |   buffers: private, or shared: peers read them in place (core/transport/shared_buffer.h)
//     |          | own: a core for every rank; shared: fewer cores than ranks
//     |          ranks; on several hosts: hosts x ranks of each, which are neighbours
//     collective
//
// Bytes are those of the whole vector, as in core/schedule/cost_summary.h: all blocks where there is one a rank. Of an
// all_to_all those that one rank sends. The rules of one (collective, ranks, cores, buffers) stand together, ascending,
// and end with `rest`.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/protocol/protocol.h"
#include "core/schedule/collective.h"

namespace ringtree {

/// How a collective is run; what a rule chooses.
struct Configuration {
  std::string algorithm;
  Protocol protocol = Protocol::simple;
  size_t slice_bytes = 0;  // 0: as the plan cuts
  bool streaming = false;
  int channels = 1;

  bool operator==(const Configuration&) const = default;
  /// For reasons that people read: "two_shot/simple, slices of 32768 bytes, streaming, 2 channels".
  std::string to_string() const;
};

class Profile {
 public:
  /// Reads the text above; an empty one is a profile without rules. Throws UsageError that names the line.
  static Profile parse(std::string_view text);

  /// What else than its size a call's rule depends on.
  struct Conditions {
    int ranks = 1;
    bool own_cores = false;
    bool shared_buffers = false;
    int hosts = 1;  // of as many ranks each, which are neighbours; 0: other groups, for which there is no rule
  };

  /// The rule for `bytes` bytes. Where shared buffers were not measured, that for private ones. None if this collective
  /// was not measured with so many ranks on so many hosts, or not with (without) a core for each: nothing is concluded
  /// from other worlds, and the model decides.
  std::optional<Configuration> find(Collective collective, const Conditions& conditions, size_t bytes) const;

  /// Canonical: the same rules give the same text, in the order of collectives, ranks, hosts, shared before own cores,
  /// private before shared buffers.
  std::string text() const;

  bool empty() const { return tables_.empty(); }

 private:
  struct Rule {
    size_t until_bytes = 0;  // SIZE_MAX: rest
    Configuration configuration;
  };
  using Key = std::tuple<Collective, int, int, bool, bool>;  // ranks, hosts, own cores, shared buffers
  std::map<Key, std::vector<Rule>> tables_;
};

}  // namespace ringtree
