// See membership.h.
#include "core/engine/membership.h"

#include <sched.h>

#include <algorithm>
#include <new>

#include "core/base/printable.h"
#include "core/engine/link_router.h"
#include "core/engine/segment_message.h"
#include "core/transport/fence.h"

namespace ringtree {
namespace {

void write_cpu_mask(RankPage& page) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  if (sched_getaffinity(0, sizeof cpus, &cpus) != 0) return;  // an empty mask: counted as sharing cores
  for (size_t cpu = 0; cpu < 64 * kCpuMaskWords && cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &cpus)) page.cpu_mask[cpu / 64] |= uint64_t{1} << (cpu % 64);
}

// Its name; where two hosts have one (network namespaces, containers), with what tells them apart.
std::string host_text(const Mesh& mesh, int rank) {
  const PeerIdentity& identity = mesh.peer(rank);
  return printable(identity.host_id.empty() ? identity.host_name : identity.host_id) + ", host " +
         std::to_string(mesh.hosts()[static_cast<size_t>(rank)]);
}

}  // namespace

Membership::Membership(int rank, int world_size)
    : rank_(rank),
      world_size_(world_size),
      segments_(static_cast<size_t>(world_size)),
      copies_(segments_.size()),
      pages_(segments_.size()),
      gone_(segments_.size()),
      num_histories_(segments_.size()) {
  auto segment = Segment::create(sizeof(RankPage), "the page of rank " + std::to_string(rank));
  auto* const page = new (segment->data()) RankPage;
  write_cpu_mask(*page);
  page->can_be_fenced = can_fence_everybody();
  segments_[static_cast<size_t>(rank)] = std::move(segment);
  pages_[static_cast<size_t>(rank)] = page;
}

std::string Membership::describe(int rank) const {
  std::string text = "rank " + std::to_string(rank);
  const Mesh* const known = mesh();
  if (!known) return text;
  const bool several = std::any_of(known->hosts().begin(), known->hosts().end(), [](int host) { return host != 0; });
  return text + " (pid " + std::to_string(known->peer(rank).pid) + (several ? " on " + host_text(*known, rank) : "") +
         ")";
}

std::string Membership::page_message(bool to_remote) {
  ByteWriter writer = link_message(to_remote ? LinkMessage::page_of_remote : LinkMessage::page);
  if (!to_remote) {
    write_segment(writer, own_segment());
    return writer.take();
  }
  writer.number(own_page().can_be_fenced ? 1 : 0, 1);
  for (const uint64_t word : own_page().cpu_mask) writer.number(word, 8);
  return writer.take();
}

void Membership::add_page(int peer, ByteReader body, Fd fd) {
  const AnnouncedSegment announced = read_segment(body);
  if (!body.done() || announced.bytes != sizeof(RankPage)) throw WorldError("malformed page message");
  add(peer, Segment::open(fd.release(), announced.bytes, announced.same_process, announced.id), nullptr);
}

void Membership::add_page_of_remote(int peer, ByteReader body) {
  auto copy = std::make_unique<RankPage>();
  copy->can_be_fenced = body.number(1) != 0;
  for (uint64_t& word : copy->cpu_mask) word = body.number(8);
  if (!body.done()) throw WorldError("malformed page message");
  add(peer, nullptr, std::move(copy));
}

void Membership::add(int peer, std::shared_ptr<Segment> segment, std::unique_ptr<RankPage> copy) {
  const std::lock_guard lock(mutex_);
  const size_t at = static_cast<size_t>(peer);
  if (pages_[at]) throw WorldError("a page that was there already");
  pages_[at] = segment ? reinterpret_cast<RankPage*>(segment->data()) : copy.get();
  segments_[at] = std::move(segment);
  copies_[at] = std::move(copy);
}

std::optional<int> Membership::first_absent() const {
  const std::lock_guard lock(mutex_);
  const auto found = std::find(pages_.begin(), pages_.end(), nullptr);
  return found == pages_.end() ? std::nullopt : std::optional(static_cast<int>(found - pages_.begin()));
}

// On the mesh's thread, as are copies_ filled.
bool Membership::show(int peer, const RankStatus& status) {
  const size_t at = static_cast<size_t>(peer);
  if (!copies_[at]) return false;
  status.show_on(*copies_[at]);
  if (!status.asks && status.of_history)
    num_histories_[at].fetch_add(1, std::memory_order_release);  // pairs with num_histories()
  return true;
}

std::optional<int> Membership::first_missing(uint64_t sequence) const {
  for (int peer = 0; peer < world_size_; ++peer)
    if (is_gone(peer) && pages_[static_cast<size_t>(peer)]->completed.load(std::memory_order_acquire) < sequence)
      return peer;  // pairs with the store at the end of a call
  return std::nullopt;
}

int64_t Membership::silent_ns(int peer) {
  const int64_t began = began_ns_.load(std::memory_order_relaxed);
  const int64_t heard = is_remote(peer) ? mesh()->heard_ns(peer) : page(peer).beat_ns.load(std::memory_order_relaxed);
  return now_ns() - std::max(began, heard);
}

std::vector<int> Membership::suspects() {
  std::vector<int> silent;
  if (began_ns_.load(std::memory_order_relaxed) == 0) return silent;
  for (int peer = 0; peer < world_size_; ++peer)
    if (peer != rank_ && !is_gone(peer) && silent_ns(peer) > kSuspectNs) silent.push_back(peer);
  return silent;
}

}  // namespace ringtree
