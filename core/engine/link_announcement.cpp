// How a rank tells the readers of its links where they lie, and what it makes of what it is told: the part of
// LinkDirectory that speaks over the mesh. Every number that a peer sent is checked before it is used.
#include <algorithm>

#include "core/engine/link_directory.h"
#include "core/engine/segment_message.h"

namespace ringtree {

// One message a segment, since a message carries one descriptor; almost always there is one.
//   links, plan, segment, number of links, {tag, channel, offset, readers, place among them, own slots?}…, pool?
//   [family, offset]
void LinkDirectory::tell(int reader, const std::set<OutgoingKey>& keys) {
  std::map<std::shared_ptr<Segment>, std::vector<const OutgoingKey*>> by_segment;
  for (const OutgoingKey& key : keys) by_segment[outgoing_.at(key).segment].push_back(&key);
  Exchange* pool = nullptr;
  if (const auto untold = untold_exchanges(); untold.contains(reader)) pool = untold.at(reader);
  if (pool) by_segment[pool->memory.segment];
  for (const auto& [segment, links] : by_segment) {
    ByteWriter writer = link_message(LinkMessage::links);
    writer.number(plan_key_, 8);
    write_segment(writer, *segment);
    writer.number(links.size(), 4);
    for (const OutgoingKey* key : links) {
      const auto place = std::lower_bound(key->readers.begin(), key->readers.end(), reader) - key->readers.begin();
      writer.number(static_cast<uint64_t>(key->tag), 4)
          .number(static_cast<uint64_t>(key->channel), 4)
          .number(outgoing_.at(*key).offset, 8);
      writer.number(key->readers.size(), 4).number(static_cast<uint64_t>(place), 4).number(key->family == 0 ? 1 : 0, 1);
    }
    const bool has_pool = pool && pool->memory.segment == segment;
    writer.number(has_pool ? 1 : 0, 1);
    if (has_pool) writer.number(family_key_, 8).number(pool->memory.offset, 8);
    const bool is_new = told_segments_[reader].insert(segment->id()).second;
    session_->mesh().send(reader, ControlType::link, writer.take(),
                          is_new ? segment->fd() : -1);  // a reader that is gone is found by the call's watch
  }
  if (pool) pool->told = true;
}

void LinkDirectory::on_announcement(Session& session, int peer, ByteReader reader, Fd fd) {
  const uint64_t plan_key = reader.number(8);
  const AnnouncedSegment announced = read_segment(reader);
  const uint64_t num_links = reader.number(4);
  if (!reader.ok() || num_links > kMaxControlPayloadBytes) throw WorldError("malformed link message");
  const SegmentKey key{peer, announced.process, announced.id};
  std::shared_ptr<Segment> fresh;
  if (fd.valid()) fresh = Segment::open(fd.release(), announced.bytes, announced.same_process, announced.id);
  session.notify([&] {
    if (fresh) segments_[key] = fresh;
    const auto known = segments_.find(key);
    if (known == segments_.end()) throw WorldError("links in shared memory that was never announced");
    for (uint64_t i = 0; i < num_links; ++i) {
      const int tag = static_cast<int>(reader.number(4)), channel = static_cast<int>(reader.number(4));
      Incoming link{known->second, key, reader.number(8), {}, 0};
      const uint64_t num_readers = reader.number(4), index = reader.number(4);
      const bool own_slots = reader.number(1) != 0;
      if (!reader.ok() || num_readers > static_cast<uint64_t>(session.world_size()) || index >= num_readers)
        throw WorldError("malformed link message");
      link.geometry = {static_cast<int>(num_readers), kSlots, own_slots ? kSlotBytes : 0};
      link.reader_index = static_cast<int>(index);
      const size_t bytes = link.geometry.bytes();
      if (link.offset % kLineBytes != 0 || bytes > link.segment->size() || link.offset > link.segment->size() - bytes)
        throw WorldError("a link that lies outside its shared memory");
      incoming_[{plan_key, peer, tag, channel}] = std::move(link);
    }
    if (reader.number(1) != 0) {
      const uint64_t family = reader.number(8), offset = reader.number(8);
      if (!reader.ok() || offset % kLineBytes != 0 || offset >= known->second->size())
        throw WorldError("a pool of slots that lies outside its shared memory");
      announced_pools_[{family, peer}] = {known->second, offset};
    }
    if (!reader.done()) throw WorldError("malformed link message");
  });
  session.members().own_page().bell.wake();  // a transfer may wait for its link (point_to_point.h)
}

}  // namespace ringtree
