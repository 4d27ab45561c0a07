// Link messages: what ranks tell each other over the mesh beside aborts and statuses, namely where their pages, links
// and shared buffers lie and where survivors meet. The first byte says which kind it is. One router a communicator
// gives each to who takes it; one that nobody takes ends the communicator. Not for how a kind is written and read: that
// is its taker's.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>

#include "core/base/fd.h"
#include "core/bootstrap/wire.h"

namespace ringtree {

class Session;

enum class LinkMessage : uint8_t {
  page = 1,
  links = 2,
  buffer = 3,
  page_of_remote = 4,
  links_of_remote = 5,
  accept = 6,
  meeting = 7
};

/// The beginning of one.
inline ByteWriter link_message(LinkMessage kind) {
  ByteWriter writer;
  writer.number(static_cast<uint8_t>(kind), 1);
  return writer;
}

class LinkRouter {
 public:
  /// Called on the mesh's monitor thread, possibly before the session's constructor has returned. `body`: what follows
  /// the kind. `fd`: what came with it, if anything. May throw WorldError, which ends the communicator.
  using Taker = std::function<void(Session& session, int peer, ByteReader body, Fd fd)>;

  /// Before the session is made.
  void set(LinkMessage kind, Taker taker) { takers_[static_cast<size_t>(kind)] = std::move(taker); }
  /// Throws WorldError if nobody takes it, and what its taker throws.
  void route(Session& session, int peer, std::string_view payload, Fd fd) const;

 private:
  std::array<Taker, 8> takers_;  // by kind; none at 0
};

}  // namespace ringtree
