// See link_directory.h. What is announced to a reader, and how: link_announcement.cpp.
#include "core/engine/link_directory.h"

#include <algorithm>

namespace ringtree {
namespace {

std::vector<int> sorted(std::vector<int> readers) {
  std::sort(readers.begin(), readers.end());
  return readers;
}

constexpr size_t kPage = 4096;

size_t aligned(size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

/// How many links with one reader `program` has to each rank, on one channel.
std::map<int, std::set<int>> tags_to_single_readers(const Program& program) {
  std::map<int, std::set<int>> tags;
  for (const Step& step : program.steps())
    if (step.send_to.size() == 1) tags[step.send_to[0]].insert(step.send_tag);
  return tags;
}

}  // namespace

LinkGeometry LinkDirectory::geometry(const OutgoingKey& key) const {
  return {static_cast<int>(key.readers.size()), kSlots, key.family != 0 ? 0 : kSlotBytes};
}

LinkDirectory::OutgoingKey LinkDirectory::key_of(const std::vector<int>& readers, int tag, int channel) const {
  const bool exchanges = readers.size() == 1 && exchanges_.contains({family_key_, readers[0]});
  return {sorted(readers), tag, channel, protocol_, exchanges ? family_key_ : 0};
}

bool LinkDirectory::can_read_in_place(const std::vector<int>& readers) const {
  return std::none_of(readers.begin(), readers.end(),
                      [&](int reader) { return session_->members().is_remote(reader); });
}

bool LinkDirectory::are_on_other_hosts(const std::vector<int>& readers) const {
  return std::all_of(readers.begin(), readers.end(), [&](int reader) { return session_->members().is_remote(reader); });
}

bool LinkDirectory::on_other_emulated_host(int peer) const {
  return settings_.emulation && settings_.emulation->host_of(peer) != settings_.emulation->host_of(session_->rank());
}

Nic LinkDirectory::nic() const {
  if (!settings_.emulation) return {};
  const Cluster& cluster = *settings_.emulation;
  const int first_of_host = cluster.host_of(session_->rank()) * cluster.ranks_per_host;
  return Nic(&session_->members().page(first_of_host).nic, session_->rank() - first_of_host, cluster.ranks_per_host,
             cluster.alpha_s, cluster.beta_Bps);
}

void LinkDirectory::begin_plan(const Schedule& schedule, const Program& program, uint64_t plan_key,
                               const PlanFamily& family, Protocol protocol, int num_channels,
                               std::function<bool()> give_up) {
  plan_key_ = plan_key;
  family_key_ = family.key;
  protocol_ = protocol;
  num_channels_ = num_channels;
  give_up_ = std::move(give_up);
  // ll and ll128 need to know a message's slot before it is there; emulated links stamp their slots.
  if (uses_pools(protocol)) find_exchanges(schedule, program, family);
  std::set<OutgoingKey> needed, missing;
  for (const Step& step : program.steps())
    for (int channel = 0; channel < num_channels && !step.send_to.empty(); ++channel)
      needed.insert(key_of(step.send_to, step.send_tag, channel));
  for (const OutgoingKey& key : needed)
    if (!outgoing_.contains(key)) missing.insert(key);
  make_memory(missing);
  std::map<int, std::set<OutgoingKey>> by_reader;
  for (const OutgoingKey& key : needed)
    for (int reader : key.readers) by_reader[reader].insert(key);
  for (const auto& [peer, exchange] : untold_exchanges()) by_reader[peer];  // who only sends to us needs its slots, too
  for (const auto& [reader, keys] : by_reader) {
    if (session_->members().is_remote(reader)) {
      tell_remote(reader, keys);
    } else {
      tell(reader, keys);
    }
  }
}

// Of the pairs of this host that the plan uses. Both ranks of a pair look at the same programs, so both find the same.
void LinkDirectory::find_exchanges(const Schedule& schedule, const Program& program, const PlanFamily& family) {
  const int rank = session_->rank();
  std::set<int> peers;
  for (const auto& [peer, tags] : tags_to_single_readers(program)) peers.insert(peer);
  for (const Step& step : program.steps())
    for (const Endpoint& from : step.recv)
      if (!peers.contains(from.peer) && tags_to_single_readers(schedule.program(from.peer)).contains(rank))
        peers.insert(from.peer);
  std::vector<std::map<int, std::set<int>>> ours;
  for (const auto& each : family.schedules) ours.push_back(tags_to_single_readers(each->program(rank)));
  for (const int peer : peers) {
    if (session_->members().is_remote(peer) || exchanges_.contains({family_key_, peer})) continue;
    std::set<int> to_peer, to_us;
    for (size_t i = 0; i < family.schedules.size(); ++i) {
      const auto theirs = tags_to_single_readers(family.schedules[i]->program(peer));
      if (const auto found = ours[i].find(peer); found != ours[i].end())
        to_peer.insert(found->second.begin(), found->second.end());
      if (const auto found = theirs.find(rank); found != theirs.end())
        to_us.insert(found->second.begin(), found->second.end());
    }
    if (to_peer.empty() || to_us.empty()) continue;
    Exchange& exchange = exchanges_[{family_key_, peer}];
    exchange.own_links = static_cast<int>(to_peer.size()) * num_channels_;
    exchange.peer_links = static_cast<int>(to_us.size()) * num_channels_;
    if (exchange.geometry().num_slots > kMaxPoolSlots)
      throw UsageError(schedule.shape().name + ": more links between two ranks than a pool can serve");
  }
}

// The pools of this family that this rank makes and that their peers do not know yet, by peer.
std::map<int, LinkDirectory::Exchange*> LinkDirectory::untold_exchanges() {
  std::map<int, Exchange*> found;
  for (auto& [key, exchange] : exchanges_)
    if (key.first == family_key_ && key.second > session_->rank() && !exchange.told) found[key.second] = &exchange;
  return found;
}

// One segment for all links and pools that the plan adds.
void LinkDirectory::make_memory(const std::set<OutgoingKey>& keys) {
  const std::map<int, Exchange*> pools = untold_exchanges();
  if (keys.empty() && pools.empty()) return;
  size_t bytes = 0;
  for (const OutgoingKey& key : keys) bytes += aligned(geometry(key).bytes());
  for (const auto& [peer, pool] : pools) bytes += aligned(pool->geometry().bytes());
  reserve(bytes, "links need");
  const auto segment = Segment::create(bytes, "links");
  size_t offset = 0;
  for (const OutgoingKey& key : keys) {
    construct_link(segment->data() + offset, geometry(key));
    outgoing_[key] = {segment, offset, nullptr, {}};
    offset += aligned(geometry(key).bytes());
  }
  for (const auto& [peer, pool] : pools) {
    construct_pool(segment->data() + offset, pool->geometry());
    pool->memory = {segment, offset};
    offset += aligned(pool->geometry().bytes());
  }
}

void LinkDirectory::reserve(size_t bytes, const char* what) {
  if (outgoing_bytes_ + bytes > settings_.memory_cap_bytes)
    throw UsageError(std::string(what) + " " + std::to_string((outgoing_bytes_ + bytes) >> 10) +
                     " KB of shared memory on " + session_->members().describe(session_->rank()) +
                     ", more than its cap of " + std::to_string(settings_.memory_cap_bytes >> 10) +
                     " KB; raise memory_cap or use an algorithm with fewer peers");
  outgoing_bytes_ += bytes;
}

LinkPool LinkDirectory::pool_with(int peer) {
  const ExchangeKey key{family_key_, peer};
  const auto entry = exchanges_.find(key);
  if (entry == exchanges_.end()) return {};
  Exchange& exchange = entry->second;
  const bool is_lower = session_->rank() < peer;
  if (!exchange.memory.segment) {  // the peer, the lower rank, makes it
    const bool ready = wait_for([&] {
      const auto announced = announced_pools_.find(key);
      if (announced != announced_pools_.end()) exchange.memory = announced->second;
      return announced != announced_pools_.end();
    });
    if (!ready) session_->raise_failure();
    if (exchange.geometry().bytes() > exchange.memory.segment->size() - exchange.memory.offset)
      throw WorldError("a pool of slots that lies outside its shared memory");
  }
  std::byte* const memory = exchange.memory.segment->data() + exchange.memory.offset;
  if (!exchange.side) exchange.side = exchange_side(memory, exchange.geometry(), is_lower, exchange.own_links);
  return {exchange.side.get(), memory + exchange.geometry().slots_at(), kSlotBytes, &exchange.own_ends};
}

bool LinkDirectory::wait_for(const std::function<bool()>& ready) { return session_->wait(ready, give_up_); }

bool LinkDirectory::is_announced(uint64_t plan_key, int peer, int tag) {
  const PlanLink link{plan_key, peer, tag, 0};
  return session_->wait([&] { return incoming_.contains(link) || remote_incoming_.contains(link); },
                        [] { return true; });
}

void LinkDirectory::close_descriptors() {
  for (const auto& [key, link] : outgoing_) link.segment->close_descriptor();
  // Of pools that are in no segment of a link of ours: in a gather the root makes them and sends nothing. The lower
  // rank makes a pool; the other's is the same object where ranks are threads, and its maker may still hand it out.
  for (const auto& [key, exchange] : exchanges_)
    if (session_->rank() < key.second && exchange.memory.segment) exchange.memory.segment->close_descriptor();
}

SendEnd* LinkDirectory::send_end(const std::vector<int>& readers, int tag, int channel) {
  const OutgoingKey key = key_of(readers, tag, channel);
  Outgoing& link = outgoing_.at(key);
  if (!link.end) make_end(key, link);
  return link.end.get();
}

// Readers of other hosts are rung by nobody: whoever publishes sends as soon as it waits. Its own bell stands for them.
void LinkDirectory::make_end(const OutgoingKey& key, Outgoing& link) {
  const LinkPool pool = key.family != 0 ? pool_with(key.readers[0]) : LinkPool{};
  std::vector<ReaderRoute> routes;
  for (int reader : key.readers) {
    const int rung = session_->members().is_remote(reader) ? session_->rank() : reader;
    routes.push_back({&session_->members().page(rung).bell, on_other_emulated_host(reader)});
  }
  link.end = std::make_unique<SendEnd>(
      make_send_end(link.segment->data() + link.offset, geometry(key), pool, std::move(routes), fenced_, nic()));
  if (pool.own_links) pool.own_links->push_back(link.end.get());
}

RecvEnd* LinkDirectory::recv_end(int peer, int tag, int channel) {
  if (session_->members().is_remote(peer)) return remote_recv_end(peer, tag, channel);
  Incoming link;
  const bool ready = wait_for([&] {
    const auto entry = incoming_.find({plan_key_, peer, tag, channel});
    if (entry != incoming_.end()) link = entry->second;
    return entry != incoming_.end();
  });
  if (!ready) session_->raise_failure();
  std::unique_ptr<RecvEnd>& end = recv_ends_[link.segment_key][{link.offset, link.reader_index}];
  if (!end) {
    const LinkPool pool = link.geometry.slot_bytes == 0 ? pool_with(peer) : LinkPool{};
    if (link.geometry.slot_bytes == 0 && !pool.side)
      throw WorldError(session_->members().describe(peer) +
                       " announced a link over a pool that this rank does not know");
    end = std::make_unique<RecvEnd>(make_recv_end(link.segment->data() + link.offset, link.geometry, link.reader_index,
                                                  pool, &session_->members().page(peer).bell, peer,
                                                  &shared_->table(peer), fenced_));
  }
  return end.get();
}

}  // namespace ringtree
