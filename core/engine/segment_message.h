// How a segment is announced in a link message: which process made it, its id there, its size. The descriptor goes
// beside the message.
#pragma once

#include "core/bootstrap/wire.h"
#include "core/transport/segment.h"

namespace ringtree {

void write_segment(ByteWriter& writer, const Segment& segment);

/// What write_segment() wrote, not yet mapped.
struct AnnouncedSegment {
  bool same_process = false;  // the announcing rank is a thread of this process
  uint64_t process = 0, id = 0, bytes = 0;
};
AnnouncedSegment read_segment(ByteReader& reader);

}  // namespace ringtree
