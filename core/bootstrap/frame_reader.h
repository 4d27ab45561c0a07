// FrameReader: the bytes and descriptors that arrive on one control socket, cut into whole messages. One a socket, used
// by one thread. Holds at most one frame and one read, whatever the peer claims; owns every descriptor until it hands
// it out. Not for sending, and it interprets no payload.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "core/base/fd.h"
#include "core/bootstrap/control_message.h"

namespace ringtree {

struct ControlMessage {
  ControlType type = ControlType::abort;
  std::string payload;
  Fd descriptor;  // not valid when the message carried none
};

class FrameReader {
 public:
  enum class State {
    more,    // something was read, there may be more
    idle,    // nothing is there now
    closed,  // the other end is closed and all was read
    broken,  // not frames of ours, or a descriptor was lost (our process may not open more): drop the socket
  };

  /// One read of the non-blocking `socket`; appends the messages that are now complete to `out`, also when it ends
  /// closed or broken.
  State read(int socket, std::vector<ControlMessage>& out);

 private:
  bool take_messages(std::vector<ControlMessage>& out);

  std::string in_;
  std::deque<Fd> descriptors_;  // arrived, their frame not yet complete
};

}  // namespace ringtree
