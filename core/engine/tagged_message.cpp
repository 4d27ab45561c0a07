// See tagged_message.h.
#include "core/engine/tagged_message.h"

namespace ringtree {

std::string TaggedMessage::to_string() const {
  return std::string(sends ? "send of " : "recv of ") + std::to_string(bytes) + " bytes with tag " +
         std::to_string(tag) + (sends ? " to " : " from ") +
         (peer == kAnySource ? "any rank" : "rank " + std::to_string(peer));
}

}  // namespace ringtree
