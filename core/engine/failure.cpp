// See failure.h.
#include "core/engine/failure.h"

namespace ringtree {

void Failure::raise() const {
  switch (kind) {
    case FailureKind::peer:
      throw PeerError(text);
    case FailureKind::timeout:
      throw TimeoutError(text);
    case FailureKind::mismatch:
      throw MismatchError(text);
    case FailureKind::interrupted:
      throw Interrupted(text);
    case FailureKind::error:
      break;
  }
  throw WorldError(text);
}

std::string Failure::encode() const { return std::string(1, static_cast<char>(kind)) + text; }

std::optional<Failure> Failure::decode(std::string_view payload) {
  if (payload.empty() || static_cast<uint8_t>(payload[0]) > static_cast<uint8_t>(FailureKind::error))
    return std::nullopt;
  Failure failure{static_cast<FailureKind>(payload[0]), std::string(payload.substr(1))};
  // Another rank's Ctrl-C is not ours: here it is a peer that left.
  if (failure.kind == FailureKind::interrupted) failure.kind = FailureKind::peer;
  return failure;
}

}  // namespace ringtree
