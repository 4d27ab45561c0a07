// Why a communicator stopped working. The first failure wins, on every rank; every later call reports it again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace ringtree {

enum class FailureKind : uint8_t {
  peer = 0,         // a rank died or left
  timeout = 1,      // a deadline passed
  mismatch = 2,     // the ranks are in different calls
  interrupted = 3,  // this rank's user stopped it (Ctrl-C)
  error = 4,        // something else failed on a rank in mid-call
};

/// This rank was told to stop by its own user; bindings turn it into their language's own exception.
struct Interrupted : WorldError {
  using WorldError::WorldError;
};

struct Failure {
  FailureKind kind = FailureKind::error;
  std::string text;
  std::vector<int> ranks = {};  // of a peer's: as PeerError::ranks

  [[noreturn]] void raise() const;
  /// As the payload of an abort message, and back: of the ranks at most kMaxRanks, and none that is not of this world;
  /// nothing if the payload is not one.
  std::string encode() const;
  static std::optional<Failure> decode(std::string_view payload, int world_size);

  static constexpr size_t kMaxRanks = 4096;
};

}  // namespace ringtree
