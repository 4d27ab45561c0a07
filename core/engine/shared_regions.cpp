// See shared_regions.h. An announcement: buffer, region, shared or gone [, segment], and the descriptor with it.
#include "core/engine/shared_regions.h"

#include "core/bootstrap/wire.h"
#include "core/engine/segment_message.h"

namespace ringtree {

SharedOperand SharedRegions::look_up(Session& session, const void* at, size_t bytes, CallerLock* lock) {
  const uint64_t generation = shared_generation();
  if (generation != generation_) {
    take_back_the_gone(session, lock);
    ordinary_ = {};
    generation_ = generation;
  }
  // The rest takes a lock: what it found out about an ordinary array is kept.
  std::pair<const void*, size_t>& ordinary = ordinary_[(reinterpret_cast<uintptr_t>(at) >> 6) % ordinary_.size()];
  if (ordinary == std::pair(at, bytes)) return {};
  const std::byte* const first = static_cast<const std::byte*>(at);
  size_t unused = own_.size();
  for (size_t i = 0; i < own_.size(); ++i) {
    if (!own_[i].base) unused = i;
    if (own_[i].base && own_[i].base <= first && first + bytes <= own_[i].base + own_[i].bytes)
      return {own_[i].base, own_[i].region};
  }
  const std::shared_ptr<Segment> segment = find_shared(at, bytes);
  if (!segment || unused == kMaxSharedRegions) {
    ordinary = {at, bytes};
    return {};
  }
  if (unused == own_.size()) own_.push_back({{}, nullptr, 0, unused});
  Own& own = own_[unused];
  own = {segment, segment->data(), segment->size(), own.region + kMaxSharedRegions};
  tell(session, own.region, segment.get(), lock);
  return {own.base, own.region};
}

void SharedRegions::take_back_the_gone(Session& session, CallerLock* lock) {
  for (Own& own : own_) {
    if (!own.base) continue;
    if (own.segment.expired()) {
      own = {{}, nullptr, 0, own.region};
      tell(session, own.region, nullptr, lock);
    } else if (!find_shared(own.base, 1)) {
      own.bytes = 0;  // withdrawn: what was sent from there may be under way, but nothing follows
    }
  }
}

void SharedRegions::tell(Session& session, uint64_t region, const Segment* segment, CallerLock* lock) {
  ByteWriter writer = link_message(LinkMessage::buffer);
  writer.number(region, 8).number(segment ? 1 : 0, 1);
  if (segment) write_segment(writer, *segment);
  const std::string payload = writer.take();
  for (int peer = 0; peer < session.world_size(); ++peer) {
    if (peer == session.rank() || session.members().is_remote(peer)) continue;
    let_go(lock);
    session.mesh().send(peer, ControlType::link, payload, segment ? segment->fd() : -1);
  }
}

void SharedRegions::on_announcement(Session& session, int peer, ByteReader reader, Fd fd) {
  const uint64_t region = reader.number(8);
  const bool is_shared = reader.number(1) != 0;
  const AnnouncedSegment announced = is_shared ? read_segment(reader) : AnnouncedSegment{};
  if (!reader.done() || fd.valid() != is_shared) throw WorldError("malformed message about a shared buffer");
  const size_t at = static_cast<size_t>(peer);
  std::vector<std::shared_ptr<Segment>>& mapped = mapped_[at];
  mapped.resize(kMaxSharedRegions);
  std::shared_ptr<Segment>& place = mapped[region % kMaxSharedRegions];
  if (!is_shared) {  // nobody reads there any more: the peer takes a buffer back only when all have read what it sent
    tables_[at].clear(region);
    place = nullptr;
    return;
  }
  place = Segment::open(fd.release(), announced.bytes, announced.same_process, announced.id);
  tables_[at].set(region, place->data(), place->size());
  session.members().own_page().bell.wake();  // a message may have come before this word of its buffer
}

}  // namespace ringtree
