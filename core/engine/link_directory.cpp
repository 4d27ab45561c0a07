// See link_directory.h.
#include "core/engine/link_directory.h"

#include <unistd.h>

#include <algorithm>
#include <limits>

namespace ringtree {
namespace {

std::vector<int> sorted(std::vector<int> readers) {
  std::sort(readers.begin(), readers.end());
  return readers;
}

constexpr size_t kLinkAlignment = 4096;

size_t aligned(size_t bytes) { return (bytes + kLinkAlignment - 1) / kLinkAlignment * kLinkAlignment; }

}  // namespace

LinkGeometry LinkDirectory::geometry(const OutgoingKey& key) const {
  return {static_cast<int>(key.readers.size()), kSlots, kSlotBytes};
}

bool LinkDirectory::remote(int peer) const {
  return settings_.emulation && settings_.emulation->host_of(peer) != settings_.emulation->host_of(session_->rank());
}

Nic LinkDirectory::nic() const {
  if (!settings_.emulation) return {};
  const Cluster& cluster = *settings_.emulation;
  const int first_of_host = cluster.host_of(session_->rank()) * cluster.ranks_per_host;
  return Nic(&session_->page(first_of_host).nic, session_->rank() - first_of_host, cluster.ranks_per_host,
             cluster.alpha_s, cluster.beta_Bps);
}

void LinkDirectory::announce(const Program& program, uint64_t plan_key, int num_channels) {
  std::set<OutgoingKey> needed, missing;
  for (const Step& step : program.steps())
    for (int channel = 0; channel < num_channels && !step.send_to.empty(); ++channel)
      needed.insert({sorted(step.send_to), step.send_tag, channel});
  for (const OutgoingKey& key : needed)
    if (!outgoing_.contains(key)) missing.insert(key);
  make_links(missing);
  std::map<int, std::set<OutgoingKey>> by_reader;
  for (const OutgoingKey& key : needed)
    for (int reader : key.readers) by_reader[reader].insert(key);
  for (const auto& [reader, keys] : by_reader) tell(reader, keys, plan_key);
}

void LinkDirectory::make_links(const std::set<OutgoingKey>& keys) {
  if (keys.empty()) return;
  size_t bytes = 0;
  for (const OutgoingKey& key : keys) bytes += aligned(geometry(key).bytes());
  if (outgoing_bytes_ + bytes > settings_.memory_cap_bytes)
    throw UsageError("links need " + std::to_string((outgoing_bytes_ + bytes) >> 10) + " KB of shared memory on " +
                     session_->describe(session_->rank()) + ", more than its cap of " +
                     std::to_string(settings_.memory_cap_bytes >> 10) +
                     " KB; raise memory_cap or use an algorithm with fewer peers");
  const auto segment = Segment::create(bytes, "links");
  outgoing_bytes_ += bytes;
  size_t offset = 0;
  for (const OutgoingKey& key : keys) {
    const LinkGeometry shape = geometry(key);
    construct_link(segment->data() + offset, shape);
    std::vector<ReaderRoute> routes;
    for (int reader : key.readers) routes.push_back({&session_->page(reader).bell, remote(reader)});
    outgoing_[key] = {segment, offset,
                      std::make_unique<SendEnd>(segment->data() + offset, shape, std::move(routes), nic())};
    offset += aligned(shape.bytes());
  }
}

// One message a segment, since a message carries one descriptor; almost always there is one.
void LinkDirectory::tell(int reader, const std::set<OutgoingKey>& keys, uint64_t plan_key) {
  std::map<Segment*, std::vector<const OutgoingKey*>> by_segment;
  for (const OutgoingKey& key : keys) by_segment[outgoing_.at(key).segment.get()].push_back(&key);
  for (const auto& [segment, links] : by_segment) {
    ByteWriter writer;
    writer.number(static_cast<uint8_t>(LinkMessage::links), 1).number(plan_key, 8);
    write_segment(writer, *segment);
    writer.number(links.size(), 4);
    for (const OutgoingKey* key : links) {
      const auto place = std::lower_bound(key->readers.begin(), key->readers.end(), reader) - key->readers.begin();
      writer.number(static_cast<uint64_t>(key->tag), 4)
          .number(static_cast<uint64_t>(key->channel), 4)
          .number(outgoing_.at(*key).offset, 8);
      writer.number(key->readers.size(), 4).number(static_cast<uint64_t>(place), 4);
    }
    const bool is_new = told_segments_[reader].insert(segment->id()).second;
    session_->mesh().send(reader, ControlType::link, writer.take(),
                          is_new ? segment->fd() : -1);  // a reader that is gone is found by the call's watch
  }
}

void LinkDirectory::on_announcement(Session& session, int peer, std::string_view payload, int fd) {
  ByteReader reader(payload);
  const bool is_links = reader.number(1) == static_cast<uint8_t>(LinkMessage::links);
  const uint64_t plan_key = reader.number(8);
  const AnnouncedSegment announced = read_segment(reader);
  const uint64_t num_links = reader.number(4);
  if (!reader.ok() || !is_links || num_links > kMaxControlPayloadBytes) {
    if (fd >= 0) ::close(fd);
    throw WorldError("malformed link message");
  }
  const SegmentKey key{peer, announced.process, announced.id};
  std::shared_ptr<Segment> fresh;
  if (fd >= 0) fresh = Segment::open(fd, announced.bytes, announced.same_process, announced.id);
  session.notify([&] {
    if (fresh) segments_[key] = fresh;
    const auto known = segments_.find(key);
    if (known == segments_.end()) throw WorldError("links in shared memory that was never announced");
    for (uint64_t i = 0; i < num_links; ++i) {
      const int tag = static_cast<int>(reader.number(4)), channel = static_cast<int>(reader.number(4));
      Incoming link;
      link.segment = known->second;
      link.offset = reader.number(8);
      const uint64_t num_readers = reader.number(4), index = reader.number(4);
      if (!reader.ok() || num_readers > static_cast<uint64_t>(session.world_size()) || index >= num_readers)
        throw WorldError("malformed link message");
      link.geometry = {static_cast<int>(num_readers), kSlots, kSlotBytes};
      link.reader_index = static_cast<int>(index);
      const size_t bytes = link.geometry.bytes();
      if (link.offset % alignof(LinkHead) != 0 || bytes > link.segment->size() ||
          link.offset > link.segment->size() - bytes)
        throw WorldError("a link that lies outside its shared memory");
      incoming_[{plan_key, peer, tag, channel}] = {key, std::move(link)};
    }
    if (!reader.done()) throw WorldError("malformed link message");
  });
}

void LinkDirectory::close_descriptors() {
  for (const auto& [key, link] : outgoing_) link.segment->close_descriptor();
}

SendEnd* LinkDirectory::send_end(const std::vector<int>& readers, int tag, int channel) {
  return outgoing_.at({sorted(readers), tag, channel}).end.get();
}

RecvEnd* LinkDirectory::recv_end(int peer, int tag, int channel) {
  std::pair<SegmentKey, Incoming> found;
  const bool ready = session_->wait(
      [&] {
        const auto entry = incoming_.find({plan_key_, peer, tag, channel});
        if (entry != incoming_.end()) found = entry->second;
        return entry != incoming_.end();
      },
      give_up_);
  if (!ready) session_->raise_failure();
  const Incoming& link = found.second;
  std::unique_ptr<RecvEnd>& end = recv_ends_[found.first][{link.offset, link.reader_index}];
  if (!end)
    end = std::make_unique<RecvEnd>(link.segment->data() + link.offset, link.geometry, link.reader_index,
                                    &session_->page(peer).bell, peer);
  return end.get();
}

}  // namespace ringtree
