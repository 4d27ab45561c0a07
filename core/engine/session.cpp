// See session.h.
#include "core/engine/session.h"

#include <algorithm>
#include <chrono>

namespace ringtree {

Session::Session(Store& store, int rank, int world_size, const Settings& settings, const std::string& prefix,
                 LinkRouter router, const OnceMet& once_met)
    : rank_(rank), world_size_(world_size), router_(std::move(router)), warn_(settings.warn) {
  const Deadline deadline = Deadline::after_seconds(settings.timeout_s);
  Rendezvous rendezvous(store, prefix, rank, world_size);
  rendezvous.guard(
      [&] {
        if (world_size < 1 || rank < 0 || rank >= world_size)
          throw UsageError("rank " + std::to_string(rank) + " is not within a world of " + std::to_string(world_size));
        settings.check(world_size);
        members_ = std::make_unique<Membership>(rank, world_size);
      },
      [] {});
  warned_.resize(static_cast<size_t>(world_size));
  router_.set(LinkMessage::page, [](Session& self, int peer, ByteReader body, Fd fd) {
    self.members_->add_page(peer, body, std::move(fd));
    self.notify([] {});
  });
  router_.set(LinkMessage::page_of_remote, [](Session& self, int peer, ByteReader body, const Fd&) {
    self.members_->add_page_of_remote(peer, body);
    self.notify([] {});
  });
  meet(store, settings, prefix, deadline);
  rendezvous.guard(
      [&] {
        members_->attach(*mesh_);
        once_met(rendezvous, *mesh_, deadline);  // may use the streams, which are the port's from then on
        make_port(settings);
        share_page(deadline);  // ends when every rank has come this far
      },
      [&] { close(); });
  members_->begin();
}

void Session::meet(Store& store, const Settings& settings, const std::string& prefix, Deadline deadline) {
  MeshEvents events;
  events.on_message = [this](int peer, ControlType type, const std::string& payload, int fd) {
    on_message(peer, type, payload, Fd(fd));
  };
  events.on_gone = [this](int peer, bool said_bye) { on_gone(peer, said_bye); };
  events.on_beat = [this] { on_beat(); };
  events.last_status = [this] { return RankStatus::of(members_->own_page(), {}).encode(); };
  mesh_ = std::make_unique<Mesh>(store, rank_, world_size_, deadline, std::move(events),
                                 MeshOptions{prefix, settings.agreed_text(), settings.network,
                                             settings.emulation ? "a cluster can be emulated on one host only" : ""});
}

void Session::make_port(const Settings& settings) {
  const std::vector<int>& hosts = mesh_->hosts();
  if (std::all_of(hosts.begin(), hosts.end(), [](int host) { return host == 0; })) return;
  port_ = std::make_unique<TcpPort>(settings.network.checksums, members_->own_page().bell.make_pollable());
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
  members_->own_segment().close_descriptor();  // every peer has it
}

void Session::share_page(Deadline deadline) {
  const std::string payloads[] = {members_->page_message(false), members_->page_message(true)};
  for (int peer = 0; peer < world_size_; ++peer) {
    if (peer == rank_) continue;
    const bool to_remote = members_->is_remote(peer);
    mesh_->send(peer, ControlType::link, payloads[to_remote ? 1 : 0], to_remote ? -1 : members_->own_segment().fd());
  }
  int absent = -1;
  const auto all_here = [&] {
    absent = members_->first_absent().value_or(-1);
    return absent < 0;
  };
  const bool complete =
      wait(all_here, [&] { return failed() || deadline.passed() || (absent >= 0 && members_->is_gone(absent)); });
  if (failed()) raise_failure();
  if (complete) return;
  if (!deadline.passed())
    throw EndedPeer(absent, members_->describe(absent) + " ended while the communicator was made");
  fail(FailureKind::timeout, members_->describe(absent) + " did not share its page in time");
  raise_failure();
}

// On the mesh's thread, like all that come.
void Session::on_status(int peer, std::string_view payload) {
  const std::optional<RankStatus> status = RankStatus::decode(payload);
  if (!status) throw WorldError("malformed status");
  if (!members_->show(peer, *status)) return;  // of this host, where its page is there to look at, or not yet set up
  if (status->asks) {
    RankStatus answer = RankStatus::of(members_->own_page(), status->asks, status->of_history);
    answer.of_history = status->of_history;
    tell_status(peer, answer);
  }
  rouse();
}

// One that is gone is found by the calls' watch; before the mesh stands there is nobody to tell.
void Session::tell_status(int peer, const RankStatus& status) {
  if (members_->mesh()) mesh_->send(peer, ControlType::status, status.encode());
}

void Session::ask_status(uint64_t sequence, bool of_history) {
  RankStatus status = RankStatus::of(members_->own_page(), sequence, of_history);
  status.asks = sequence;
  status.of_history = of_history;
  for (int peer = 0; peer < world_size_; ++peer)
    if (members_->is_remote(peer) && !members_->is_gone(peer)) tell_status(peer, status);
}

void Session::on_beat() {
  members_->own_page().beat_ns.store(now_ns(), std::memory_order_relaxed);  // a time, it publishes nothing
  if (!members_->mesh()) return;
  for (int peer = 0; peer < world_size_; ++peer)
    if (members_->is_remote(peer) && !members_->is_gone(peer))
      tell_status(peer, RankStatus::of(members_->own_page(), {}));
  warn_of_suspects();
}

// While a call of ours is under way; once for each time that a rank falls silent.
void Session::warn_of_suspects() {
  if (!warn_) return;
  const RankPage& own = members_->own_page();
  const uint64_t newest = own.board.newest();
  const bool waits = newest > own.completed.load(std::memory_order_acquire);  // pairs with the end of a call
  std::vector<bool> now(warned_.size());
  for (const int peer : members_->suspects()) {
    const size_t at = static_cast<size_t>(peer);
    now[at] = warned_[at] || (waits && !failed());
    if (!now[at] || warned_[at]) continue;
    const std::optional<CallDescription> call = own.board.find(newest);
    warn_(members_->describe(peer) + " has not been heard of for " + seconds_text(members_->silent_ns(peer)) +
          "; it is stopped or cut off. " + members_->describe(rank_) + " waits in " +
          (call ? collective_name(call->collective) : "call") + " #" + std::to_string(newest));
  }
  warned_ = std::move(now);
}

void Session::on_message(int peer, ControlType type, const std::string& payload, Fd fd) {
  try {
    if (type == ControlType::abort) {
      set_failure(Failure::decode(payload, world_size_)
                      .value_or(Failure{FailureKind::error, members_->describe(peer) + " gave up"}));
    } else if (type == ControlType::status) {
      on_status(peer, payload);
    } else {
      router_.route(*this, peer, payload, std::move(fd));
    }
  } catch (const std::exception& error) {
    set_failure({FailureKind::error, members_->describe(peer) + ": " + error.what()});
  }
}

void Session::on_gone(int peer, bool said_bye) {
  notify([&] { members_->set_gone(peer, said_bye); });
  rouse();
}

void Session::rouse() {
  attention_.store(true, std::memory_order_relaxed);
  members_->own_page().bell.wake();
}

bool Session::set_failure(Failure failure) {
  const bool first = failure_.set(std::move(failure));
  members_->own_page().failed.store(true, std::memory_order_release);  // pairs with CallWatch::compare_calls()
  notify([] {});
  rouse();
  return first;
}

// Ranks that die together are found one by one: of a peer's end all that are known to have died are told.
void Session::fail(FailureKind kind, const std::string& text, std::optional<int> peer) {
  Failure failure{kind, text};
  for (int rank = 0; kind == FailureKind::peer && rank < world_size_; ++rank)
    if (rank == peer || members_->has_died(rank)) failure.ranks.push_back(rank);
  if (set_failure(std::move(failure))) pass_on();
}

// Also what another rank told us: whoever raises may leave at once, and its bye must not reach a peer before the reason
// does, which may still be on its way there from the rank that found it.
void Session::pass_on() {
  if (!failure_.begin_telling()) return;
  const std::string payload = failure().encode();
  for (int peer = 0; peer < world_size_; ++peer)
    if (peer != rank_ && !members_->is_gone(peer)) mesh_->send(peer, ControlType::abort, payload);
}

void Session::raise_failure() {
  pass_on();
  failure().raise();
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
