// Links between hosts: the part of LinkDirectory that goes through the session's port. Who sends tells the reader which
// link a plan means; the reader makes memory for it and accepts; from then on messages may leave.
#include "core/engine/link_directory.h"

namespace ringtree {

//   links_of_remote, plan, number of links, {tag, channel, number}…
void LinkDirectory::tell_remote(int reader, const std::set<OutgoingKey>& keys) {
  ByteWriter writer = link_message(LinkMessage::links_of_remote);
  writer.number(plan_key_, 8).number(keys.size(), 4);
  for (const OutgoingKey& key : keys) {
    Outgoing& link = outgoing_.at(key);
    if (!link.end) make_end(key, link);
    if (!link.numbers.contains(reader)) {
      const auto place = std::lower_bound(key.readers.begin(), key.readers.end(), reader) - key.readers.begin();
      link.numbers[reader] = session_->port()->add_out(reader, link.segment->data() + link.offset, geometry(key),
                                                       static_cast<int>(place), *link.end);
    }
    writer.number(static_cast<uint64_t>(key.tag), 4)
        .number(static_cast<uint64_t>(key.channel), 4)
        .number(link.numbers[reader], 4);
  }
  session_->mesh().send(reader, ControlType::link, writer.take());  // one that is gone is found by the call's watch
}

void LinkDirectory::on_remote_announcement(Session& session, int peer, ByteReader reader) {
  const uint64_t plan_key = reader.number(8), num_links = reader.number(4);
  if (!reader.ok() || num_links > kMaxControlPayloadBytes) throw WorldError("malformed link message");
  session.notify([&] {
    for (uint64_t i = 0; i < num_links && reader.ok(); ++i) {
      const int tag = static_cast<int>(reader.number(4)), channel = static_cast<int>(reader.number(4));
      const auto number = static_cast<uint32_t>(reader.number(4));
      if (reader.ok()) remote_incoming_[{plan_key, peer, tag, channel}] = number;
    }
  });
  if (!reader.done()) throw WorldError("malformed link message");
  session.members().own_page().bell.wake();  // a transfer may wait for its link (point_to_point.h)
}

RecvEnd* LinkDirectory::remote_recv_end(int peer, int tag, int channel) {
  uint32_t number = 0;
  const bool ready = wait_for([&] {
    const auto entry = remote_incoming_.find({plan_key_, peer, tag, channel});
    if (entry != remote_incoming_.end()) number = entry->second;
    return entry != remote_incoming_.end();
  });
  if (!ready) session_->raise_failure();
  FromRemote& link = from_remote_[{peer, number}];
  if (link.end) return link.end.get();
  const LinkGeometry geometry{1, kSlots, kSlotBytes};
  reserve(geometry.bytes(), "links from other hosts need");
  link.incoming = session_->port()->add_in(peer, geometry, number);
  // Nobody to ring: the sender is told by credits, of which the port takes care. No buffers to look into either.
  link.end = std::make_unique<RecvEnd>(make_recv_end(link.incoming.link->memory(), geometry, 0, {},
                                                     &session_->members().own_page().bell, peer, nullptr, fenced_));
  link.end->set_placement(link.incoming.link);
  ByteWriter writer = link_message(LinkMessage::accept);
  writer.number(number, 4).number(link.incoming.number, 4);
  session_->mesh().send(peer, ControlType::link, writer.take());
  return link.end.get();
}

void LinkDirectory::on_accept(Session& session, int peer, ByteReader reader) {
  const auto number = static_cast<uint32_t>(reader.number(4)), peers_number = static_cast<uint32_t>(reader.number(4));
  if (!reader.done() || !session.port() || !session.port()->accept(peer, number, peers_number))
    throw WorldError("malformed acceptance of a link");
  session.members().own_page().bell.wake();  // what waited for it can leave
}

}  // namespace ringtree
