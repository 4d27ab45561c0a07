// See shadow.h.
#include "tests/models/explorer/shadow.h"

namespace ringtree::explorer {

void Shadow::initialise(const void* address, size_t bytes) {
  Object& object = objects_[address];
  object = Object{};
  object.bytes = bytes;
  object.written = true;
}

ShadowVerdict Shadow::read(const void* address, size_t bytes, const Clock& clock, size_t thread, size_t event) {
  Object& object = objects_[address];
  if (!object.written) return {ShadowVerdict::never_written, 0};
  if (object.bytes != bytes) return {ShadowVerdict::other_extent, 0};
  if (object.writer != thread && clock.at[object.write_entry] < object.write_time)
    return {ShadowVerdict::races_with_write, object.write_event};
  object.reads.at[Clock::ordinary(thread)] = clock.at[Clock::ordinary(thread)];
  object.read_events[thread] = event;
  return {};
}

ShadowVerdict Shadow::write(const void* address, size_t bytes, const Clock& clock, size_t thread, size_t event,
                            bool non_temporal) {
  Object& object = objects_[address];
  if (object.bytes != 0 && object.bytes != bytes) return {ShadowVerdict::other_extent, 0};
  if (object.written && object.writer != thread && clock.at[object.write_entry] < object.write_time)
    return {ShadowVerdict::races_with_write, object.write_event};
  for (size_t reader = 0; reader < kMaxThreads; ++reader) {
    const size_t entry = Clock::ordinary(reader);
    if (reader != thread && object.reads.at[entry] > clock.at[entry])
      return {ShadowVerdict::races_with_read, object.read_events[reader]};
  }
  object.bytes = bytes;
  object.written = true;
  object.writer = thread;
  object.write_entry = non_temporal ? Clock::non_temporal(thread) : Clock::ordinary(thread);
  // A non-temporal store belongs to the time after the next drain, which nobody has seen yet.
  object.write_time = clock.at[object.write_entry] + (non_temporal ? 1 : 0);
  object.write_event = event;
  object.reads = Clock{};
  return {};
}

}  // namespace ringtree::explorer
