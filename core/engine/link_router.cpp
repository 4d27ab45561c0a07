// See link_router.h.
#include "core/engine/link_router.h"

#include <string>

#include "core/base/error.h"

namespace ringtree {

void LinkRouter::route(Session& session, int peer, std::string_view payload, Fd fd) const {
  ByteReader reader(payload);
  const uint64_t kind = reader.number(1);
  if (!reader.ok()) throw WorldError("sent an empty link message");
  if (kind >= takers_.size() || !takers_[kind])
    throw WorldError("sent a link message of unknown kind " + std::to_string(kind));
  takers_[kind](session, peer, reader, std::move(fd));
}

}  // namespace ringtree
