// The three kinds of failure and nothing else. UsageError: the caller's mistake, the message says what to do.
// WorldError: something outside failed (a peer died, a deadline passed); the message names rank, pid, collective and
// sequence number. Bugs of ours are assert()s. The data path throws neither: it returns a status and the control path
// throws.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace ringtree {

struct UsageError : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

struct WorldError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A peer's process ended or it left the communicator while it was still needed. `ranks`: which, in order, and with it
/// those that were known to have died by then; empty for one that refused to meet and says why, and where ranks lost
/// each other though none is known to have ended.
struct PeerError : WorldError {
  explicit PeerError(const std::string& what, std::vector<int> of = {}) : WorldError(what), ranks(std::move(of)) {}
  std::vector<int> ranks;
};

/// A wait passed its deadline. `ranks`: those that had not come to meet, in order, of many perhaps the first, or the
/// one that did not answer while links were probed; empty where all had, where there was no time to find one that had,
/// and once the communicator is made.
struct TimeoutError : WorldError {
  explicit TimeoutError(const std::string& what, std::vector<int> of = {}) : WorldError(what), ranks(std::move(of)) {}
  std::vector<int> ranks;
};

/// Ranks called different collectives, sizes, dtypes, ops or algorithms; the message says who said what.
struct MismatchError : WorldError {
  using WorldError::WorldError;
};

}  // namespace ringtree
