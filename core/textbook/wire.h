// How the messages of a round get from rank to rank. Two kinds: tcp_wire.h and mailbox_wire.h. What is done with them
// between rounds is walk.h's.
#pragma once

#include "core/textbook/bound_rounds.h"

namespace ringtree::textbook {

class Wire {
 public:
  Wire() = default;
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;
  virtual ~Wire() = default;

  /// Collective: gets ready for the messages of these rounds. Throws WorldError, UsageError.
  virtual void make_room(const BoundRounds& bound) = 0;

  /// Sends and receives all messages of a round, from and to their spots, all at once: sends of large chunks may have
  /// to wait until the peer receives, which itself sends. False: stopped, the watch knows why.
  virtual bool exchange(const BoundRound& round, const Memory& memory) = 0;
};

}  // namespace ringtree::textbook
