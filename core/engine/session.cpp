// See session.h.
#include "core/engine/session.h"

#include <sched.h>
#include <sys/random.h>
#include <unistd.h>

#include <chrono>
#include <new>

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
  pages_.resize(n);
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
  mesh_ = std::make_unique<Mesh>(store, rank, world_size, deadline, std::move(events),
                                 MeshOptions{prefix, settings.agreed_text()});
  known_mesh_.store(mesh_.get(), std::memory_order_release);
  once_met();
  share_page(deadline);  // ends when every rank has come this far
}

Session::~Session() { close(); }

void Session::close() {
  if (!mesh_) return;
  if (failed() && !mesh_->forked()) pass_on();
  mesh_->close();
  segments_[static_cast<size_t>(rank_)]->close_descriptor();  // every peer has it
}

void Session::share_page(Deadline deadline) {
  const Segment& own = *segments_[static_cast<size_t>(rank_)];
  ByteWriter writer;
  writer.number(static_cast<uint8_t>(LinkMessage::page), 1);
  write_segment(writer, own);
  const std::string payload = writer.take();
  for (int peer = 0; peer < world_size_; ++peer)
    if (peer != rank_) mesh_->send(peer, ControlType::link, payload, own.fd());
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

void Session::on_message(int peer, ControlType type, const std::string& payload, int fd) {
  try {
    if (type == ControlType::abort) {
      if (fd >= 0) ::close(fd);
      set_failure(Failure::decode(payload).value_or(Failure{FailureKind::error, describe(peer) + " gave up"}));
    } else if (!payload.empty() && payload[0] == static_cast<char>(LinkMessage::page)) {
      add_page(peer, payload, fd);
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
    text += " (pid " + std::to_string(mesh->peer(rank).pid) + ")";
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
