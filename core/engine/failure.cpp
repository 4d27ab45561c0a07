// See failure.h.
#include "core/engine/failure.h"

#include <algorithm>

#include "core/bootstrap/wire.h"

namespace ringtree {

void Failure::raise() const {
  switch (kind) {
    case FailureKind::peer:
      throw PeerError(text, ranks);
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

std::string Failure::encode() const {
  const size_t num_ranks = std::min(ranks.size(), kMaxRanks);
  ByteWriter writer;
  writer.number(static_cast<uint8_t>(kind), 1).number(num_ranks, 4);
  for (size_t i = 0; i < num_ranks; ++i) writer.number(static_cast<uint64_t>(ranks[i]), 4);
  return writer.bytes(text).take();
}

std::optional<Failure> Failure::decode(std::string_view payload, int world_size) {
  ByteReader reader(payload);
  const uint64_t kind = reader.number(1), num_ranks = reader.number(4);
  if (!reader.ok() || kind > static_cast<uint8_t>(FailureKind::error) || num_ranks > kMaxRanks) return std::nullopt;
  Failure failure{static_cast<FailureKind>(kind), {}};
  for (uint64_t i = 0; i < num_ranks; ++i) {
    const uint64_t rank = reader.number(4);
    if (rank < static_cast<uint64_t>(world_size)) failure.ranks.push_back(static_cast<int>(rank));
  }
  if (!reader.ok()) return std::nullopt;
  failure.text = reader.bytes(reader.num_left());
  // Another rank's Ctrl-C is not ours: here it is a peer that left.
  if (failure.kind == FailureKind::interrupted) failure.kind = FailureKind::peer;
  return failure;
}

}  // namespace ringtree
