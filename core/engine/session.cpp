// See session.h.
#include "core/engine/session.h"

#include <sched.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <new>

#include "core/base/printable.h"
#include "core/bootstrap/wire.h"
#include "core/transport/fence.h"

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

Session::Session(Store& store, int rank, int world_size, const Settings& settings, const std::string& prefix,
                 LinkHandler on_link, const std::function<void()>& once_met)
    : rank_(rank), world_size_(world_size), on_link_(std::move(on_link)) {
  if (world_size < 1 || rank < 0 || rank >= world_size)
    throw UsageError("rank " + std::to_string(rank) + " is not within a world of " + std::to_string(world_size));
  settings.check(world_size);
  const size_t n = static_cast<size_t>(world_size);
  gone_ = std::vector<std::atomic<int>>(n);
  segments_.resize(n);
  copies_.resize(n);
  pages_.resize(n);
  num_histories_ = std::vector<std::atomic<uint64_t>>(n);
  warned_.resize(n);
  const size_t own = static_cast<size_t>(rank);
  segments_[own] = Segment::create(sizeof(RankPage), "the page of rank " + std::to_string(rank));
  pages_[own] = new (segments_[own]->data()) RankPage;
  write_cpu_mask(*pages_[own]);
  pages_[own]->can_be_fenced = can_fence_everybody();

  const Deadline deadline = Deadline::after_seconds(settings.timeout_s);
  MeshEvents events;
  events.on_message = [this](int peer, ControlType type, const std::string& payload, int fd) {
    on_message(peer, type, payload, fd);
  };
  events.on_gone = [this](int peer, bool said_bye) { on_gone(peer, said_bye); };
  events.on_beat = [this] { on_beat(); };
  events.last_status = [this] { return RankStatus::of(own_page(), {}).encode(); };
  mesh_ = std::make_unique<Mesh>(store, rank, world_size, deadline, std::move(events),
                                 MeshOptions{prefix, settings.agreed_text(), settings.network});
  make_port(settings);
  known_mesh_.store(mesh_.get(), std::memory_order_release);
  once_met();
  share_page(deadline);                                  // ends when every rank has come this far
  began_ns_.store(now_ns(), std::memory_order_relaxed);  // a time, it publishes nothing
}

void Session::make_port(const Settings& settings) {
  const std::vector<int>& hosts = mesh_->hosts();
  if (std::all_of(hosts.begin(), hosts.end(), [](int host) { return host == 0; })) return;
  if (settings.emulation) throw UsageError("a cluster can be emulated on one host only");
  port_ = std::make_unique<TcpPort>(settings.network.checksums, own_page().bell.make_pollable());
  for (int peer = 0; peer < world_size_; ++peer)
    if (mesh_->is_remote(peer)) port_->add_peer(peer, mesh_->take_streams(peer));
}

Session::~Session() { close(); }

void Session::close(bool in_call) {
  if (!mesh_) return;
  if (failed() && !mesh_->forked()) pass_on();
  if (port_ && mesh_->forked()) {
    port_->close(TcpPort::Closing::copy);
  } else if (port_ && in_call) {
    port_->close(TcpPort::Closing::in_call);
  } else if (port_ && !failed()) {
    port_->drain();
  }
  mesh_->close();
  // After the goodbye: a peer that finds a stream ended must be able to hear why.
  if (port_) port_->close(TcpPort::Closing::at_once);
  segments_[static_cast<size_t>(rank_)]->close_descriptor();  // every peer has it
}

void Session::share_page(Deadline deadline) {
  const Segment& own = *segments_[static_cast<size_t>(rank_)];
  ByteWriter writer;
  writer.number(static_cast<uint8_t>(LinkMessage::page), 1);
  write_segment(writer, own);
  const std::string payload = writer.take();
  ByteWriter for_remote;
  for_remote.number(static_cast<uint8_t>(LinkMessage::page_of_remote), 1).number(own_page().can_be_fenced ? 1 : 0, 1);
  for (const uint64_t word : own_page().cpu_mask) for_remote.number(word, 8);
  const std::string payload_for_remote = for_remote.take();
  for (int peer = 0; peer < world_size_; ++peer) {
    if (peer == rank_) continue;
    if (is_remote(peer)) {
      mesh_->send(peer, ControlType::link, payload_for_remote);
    } else {
      mesh_->send(peer, ControlType::link, payload, own.fd());
    }
  }
  auto first_absent = [this] {
    for (int peer = 0; peer < world_size_; ++peer)
      if (!pages_[static_cast<size_t>(peer)]) return peer;
    return -1;
  };
  int absent = -1;  // written under the lock by ready, read by this thread
  const bool complete = wait(
      [&] {
        absent = first_absent();
        return absent < 0;
      },
      [&] {
        return failed() || deadline.passed() ||
               gone_[static_cast<size_t>(absent)].load(std::memory_order_acquire) != kHere;
      });
  if (failed()) raise_failure();
  if (complete) return;
  if (deadline.passed()) throw TimeoutError(describe(absent) + " did not share its page in time");
  throw PeerError(describe(absent) + " ended while the communicator was made");
}

void Session::add_page(int peer, std::string_view payload, int fd) {
  ByteReader reader(payload);
  reader.number(1);
  const AnnouncedSegment announced = read_segment(reader);
  if (!reader.done() || announced.bytes != sizeof(RankPage)) {
    if (fd >= 0) ::close(fd);
    throw WorldError("malformed page message");
  }
  auto segment = Segment::open(fd, announced.bytes, announced.same_process, announced.id);
  notify([&] {
    const size_t at = static_cast<size_t>(peer);
    segments_[at] = std::move(segment);
    pages_[at] = reinterpret_cast<RankPage*>(segments_[at]->data());
  });
}

void Session::on_page_of_remote(int peer, std::string_view payload) {
  ByteReader reader(payload);
  reader.number(1);
  auto copy = std::make_unique<RankPage>();
  copy->can_be_fenced = reader.number(1) != 0;
  for (uint64_t& word : copy->cpu_mask) word = reader.number(8);
  if (!reader.done()) throw WorldError("malformed page message");
  notify([&] {
    const size_t at = static_cast<size_t>(peer);
    if (pages_[at]) throw WorldError("a page that was there already");
    copies_[at] = std::move(copy);
    pages_[at] = copies_[at].get();
  });
}

// On the mesh's thread, like all that come.
void Session::on_status(int peer, std::string_view payload) {
  const std::optional<RankStatus> status = RankStatus::decode(payload);
  if (!status) throw WorldError("malformed status");
  const size_t at = static_cast<size_t>(peer);
  if (!copies_[at]) return;  // of this host, where its page is there to look at, or not yet set up
  status->show_on(*copies_[at]);
  if (status->asks) {
    RankStatus answer = RankStatus::of(own_page(), status->asks, status->of_history);
    answer.of_history = status->of_history;
    tell_status(peer, answer);
  } else if (status->of_history) {
    num_histories_[at].fetch_add(1, std::memory_order_release);  // pairs with num_histories()
  }
  attention_.store(true, std::memory_order_relaxed);
  own_page().bell.wake();
}

void Session::tell_status(int peer, const RankStatus& status) {
  const Mesh* const mesh = known_mesh_.load(std::memory_order_acquire);  // pairs with the constructor
  if (!mesh) return;
  mesh_->send(peer, ControlType::status, status.encode());  // one that is gone is found by the calls' watch
}

void Session::ask_status(uint64_t sequence, bool of_history) {
  RankStatus status = RankStatus::of(own_page(), sequence, of_history);
  status.asks = sequence;
  status.of_history = of_history;
  for (int peer = 0; peer < world_size_; ++peer)
    if (is_remote(peer) && !is_gone(peer)) tell_status(peer, status);
}

void Session::on_beat() {
  own_page().beat_ns.store(now_ns(), std::memory_order_relaxed);  // a time, it publishes nothing
  if (!known_mesh_.load(std::memory_order_acquire)) return;       // pairs with the constructor
  if (port_)
    for (int peer = 0; peer < world_size_; ++peer)
      if (is_remote(peer) && !is_gone(peer)) tell_status(peer, RankStatus::of(own_page(), {}));
  warn_of_suspects();
}

int64_t Session::heard_ns(int peer) {
  const int64_t began = began_ns_.load(std::memory_order_relaxed);
  const int64_t heard = is_remote(peer) ? mesh_->heard_ns(peer) : page(peer).beat_ns.load(std::memory_order_relaxed);
  return std::max(began, heard);
}

std::vector<int> Session::suspects() {
  std::vector<int> silent;
  if (began_ns_.load(std::memory_order_relaxed) == 0) return silent;
  for (int peer = 0; peer < world_size_; ++peer)
    if (peer != rank_ && !is_gone(peer) && now_ns() - heard_ns(peer) > kSuspectNs) silent.push_back(peer);
  return silent;
}

// While a call of ours is under way; once for each time that a rank falls silent.
void Session::warn_of_suspects() {
  const std::vector<int> silent = suspects();
  const uint64_t newest = own_page().board.newest();
  const bool waits = newest > own_page().completed.load(std::memory_order_acquire);  // pairs with the end of a call
  std::vector<bool> now(warned_.size());
  for (const int peer : silent) {
    const size_t at = static_cast<size_t>(peer);
    now[at] = warned_[at] || (waits && !failed());
    if (!now[at] || warned_[at]) continue;
    const std::optional<CallDescription> call = own_page().board.find(newest);
    std::fprintf(stderr, "ringtree: %s has not been heard of for %s; it is stopped or cut off. %s waits in %s #%llu\n",
                 describe(peer).c_str(), seconds_text(now_ns() - heard_ns(peer)).c_str(), describe(rank_).c_str(),
                 call ? collective_name(call->collective) : "call", static_cast<unsigned long long>(newest));
  }
  warned_ = std::move(now);
}

void Session::on_message(int peer, ControlType type, const std::string& payload, int fd) {
  try {
    if (type == ControlType::abort) {
      if (fd >= 0) ::close(fd);
      set_failure(Failure::decode(payload).value_or(Failure{FailureKind::error, describe(peer) + " gave up"}));
    } else if (type == ControlType::status) {
      on_status(peer, payload);
    } else if (!payload.empty() && payload[0] == static_cast<char>(LinkMessage::page)) {
      add_page(peer, payload, fd);
    } else if (!payload.empty() && payload[0] == static_cast<char>(LinkMessage::page_of_remote)) {
      on_page_of_remote(peer, payload);
    } else {
      on_link_(*this, peer, payload, fd);
    }
  } catch (const std::exception& error) {
    set_failure({FailureKind::error, describe(peer) + ": " + error.what()});
  }
}

void Session::on_gone(int peer, bool said_bye) {
  notify([&] {
    gone_[static_cast<size_t>(peer)].store(said_bye ? kSaidBye : kDied, std::memory_order_release);
  });  // pairs with first_missing()
  attention_.store(true, std::memory_order_relaxed);
  own_page().bell.wake();
}

std::string Session::describe(int rank) const {
  std::string text = "rank " + std::to_string(rank);
  if (const Mesh* mesh = known_mesh_.load(std::memory_order_acquire))
    text += " (pid " + std::to_string(mesh->peer(rank).pid) + (port_ ? " on " + host_text(*mesh, rank) : "") + ")";
  return text;
}

Failure Session::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_.value_or(Failure{});
}

bool Session::set_failure(Failure failure) {
  bool first = false;
  notify([&] {
    first = !failure_;
    if (first) failure_ = std::move(failure);
    failed_.store(true, std::memory_order_release);  // pairs with the acquire in failed()
  });
  attention_.store(true, std::memory_order_relaxed);
  own_page().bell.wake();
  return first;
}

void Session::fail(FailureKind kind, const std::string& text) {
  if (set_failure({kind, text})) pass_on();
}

// Also what another rank told us: whoever raises may leave at once, and its bye must not reach a peer before the reason
// does, which may still be on its way there from the rank that found it.
void Session::pass_on() {
  if (passed_on_.exchange(true, std::memory_order_relaxed)) return;  // relaxed: only who is first matters
  const std::string payload = failure().encode();
  for (int peer = 0; peer < world_size_; ++peer)
    if (peer != rank_ && gone_[static_cast<size_t>(peer)].load(std::memory_order_relaxed) == kHere)
      mesh_->send(peer, ControlType::abort, payload);
}

void Session::raise_failure() {
  pass_on();
  failure().raise();
}

std::optional<int> Session::first_missing(uint64_t sequence) const {
  for (int peer = 0; peer < world_size_; ++peer) {
    const size_t at = static_cast<size_t>(peer);
    if (gone_[at].load(std::memory_order_acquire) == kHere) continue;  // pairs with the release in on_gone()
    if (pages_[at]->completed.load(std::memory_order_acquire) < sequence)
      return peer;  // pairs with the store at the end of a call
  }
  return std::nullopt;
}

bool Session::wait(const std::function<bool()>& ready, const std::function<bool()>& give_up) {
  std::unique_lock lock(mutex_);
  while (!ready()) {
    lock.unlock();
    const bool stop = give_up();
    lock.lock();
    if (stop) return ready();
    if (!ready()) changed_.wait_for(lock, std::chrono::milliseconds(5));
  }
  return true;
}

void Session::notify(const std::function<void()>& change) {
  {
    const std::lock_guard lock(mutex_);
    change();
  }
  changed_.notify_all();
}

}  // namespace ringtree
