// See segment_message.h.
#include "core/engine/segment_message.h"

#include <sys/random.h>
#include <unistd.h>

#include "core/base/clock.h"

namespace ringtree {
namespace {

// Tells this process from all others of the host, also from those of other pid namespaces and from children made by
// fork().
uint64_t process_token() {
  static const uint64_t random = [] {
    uint64_t value = 0;
    if (getrandom(&value, sizeof value, 0) != static_cast<ssize_t>(sizeof value))
      value = static_cast<uint64_t>(now_ns());
    return value;
  }();
  return random ^ static_cast<uint64_t>(getpid());
}

}  // namespace

void write_segment(ByteWriter& writer, const Segment& segment) {
  writer.number(process_token(), 8).number(segment.id(), 8).number(segment.size(), 8);
}

AnnouncedSegment read_segment(ByteReader& reader) {
  AnnouncedSegment announced;
  announced.process = reader.number(8);
  announced.same_process = announced.process == process_token();
  announced.id = reader.number(8);
  announced.bytes = reader.number(8);
  return announced;
}

}  // namespace ringtree
