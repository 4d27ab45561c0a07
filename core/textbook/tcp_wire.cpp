// See tcp_wire.h. Sockets never block; when none can go on, the rank sleeps in poll() until one can.
#include "core/textbook/tcp_wire.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>

#include "core/textbook/tcp_connect.h"

namespace ringtree::textbook {
namespace {

constexpr int kLookMs = 20;  // between two looks at what may stop the call

/// What is left of header and data when `done` bytes of both have passed.
size_t rest_of(std::byte* header, size_t header_bytes, std::byte* data, size_t bytes, size_t done,
               std::array<iovec, 2>& parts) {
  size_t num_parts = 0;
  if (done < header_bytes) parts[num_parts++] = {header + done, header_bytes - done};
  const size_t of_data = done > header_bytes ? done - header_bytes : 0;
  parts[num_parts++] = {data + of_data, bytes - of_data};
  return num_parts;
}

}  // namespace

TcpWire::TcpWire(Mesh& mesh, Inbox& inbox, Watch& watch)
    : watch_(watch),
      sockets_(connect_peers(mesh, inbox, watch)),
      out_(sockets_.size()),
      in_(sockets_.size()),
      entries_(sockets_.size()) {}

void TcpWire::make_room(const BoundRounds& bound) {
  for (size_t peer = 0; peer < sockets_.size(); ++peer) {
    out_[peer].messages.reserve(static_cast<size_t>(bound.sending[peer].num_letters));
    in_[peer].messages.reserve(static_cast<size_t>(bound.hearing[peer].num_letters));
  }
}

bool TcpWire::exchange(const BoundRound& round, const Memory& memory) {
  for (const PeerCount& to : round.to) out_[static_cast<size_t>(to.peer)].begin();
  for (const PeerCount& from : round.from) in_[static_cast<size_t>(from.peer)].begin();
  for (const BoundMessage& message : round.sends) out_[static_cast<size_t>(message.peer)].add(message);
  for (const BoundMessage& message : round.recvs) in_[static_cast<size_t>(message.peer)].add(message);
  for (;;) {
    bool moved = false, open = false;
    const auto note = [&](Progress progress, const Flow& flow) {
      moved |= progress == Progress::some;
      open |= flow.is_open();
      return progress != Progress::stopped;
    };
    for (const PeerCount& to : round.to)
      if (!note(push(to.peer, memory), out_[static_cast<size_t>(to.peer)])) return false;
    for (const PeerCount& from : round.from)
      if (!note(pull(from.peer, memory), in_[static_cast<size_t>(from.peer)])) return false;
    if (!open) return true;
    if (!moved && !wait_for_room_or_data(round)) return false;
  }
}

TcpWire::Progress TcpWire::push(int peer, const Memory& memory) {
  Flow& flow = out_[static_cast<size_t>(peer)];
  Progress progress = Progress::none;
  while (flow.is_open()) {
    const BoundMessage& message = *flow.messages[flow.next];
    flow.header = {message.bytes};
    std::array<iovec, 2> parts;
    msghdr whole{};
    whole.msg_iov = parts.data();
    whole.msg_iovlen = rest_of(reinterpret_cast<std::byte*>(&flow.header), sizeof(Header), memory.at(message.spot),
                               message.bytes, flow.done, parts);
    const ssize_t sent = ::sendmsg(sockets_[static_cast<size_t>(peer)].get(), &whole, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return progress;
    if (sent < 0) return ended(peer);
    pass(flow, sent);
    progress = Progress::some;
  }
  return progress;
}

TcpWire::Progress TcpWire::pull(int peer, const Memory& memory) {
  Flow& flow = in_[static_cast<size_t>(peer)];
  Progress progress = Progress::none;
  while (flow.is_open()) {
    const BoundMessage& message = *flow.messages[flow.next];
    std::array<iovec, 2> parts;
    msghdr whole{};
    whole.msg_iov = parts.data();
    whole.msg_iovlen = rest_of(reinterpret_cast<std::byte*>(&flow.header), sizeof(Header), memory.at(message.spot),
                               message.bytes, flow.done, parts);
    const ssize_t got = ::recvmsg(sockets_[static_cast<size_t>(peer)].get(), &whole, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return progress;
    if (got <= 0) return ended(peer);
    const bool had_header = flow.done >= sizeof(Header);
    // No more than this message's own bytes were asked for, whatever its header says.
    if (!had_header && flow.done + static_cast<size_t>(got) >= sizeof(Header) && flow.header.bytes != message.bytes) {
      watch_.fail_length(peer, flow.header.bytes, message.bytes);
      return Progress::stopped;
    }
    pass(flow, got);
    progress = Progress::some;
  }
  return progress;
}

void TcpWire::pass(Flow& flow, ssize_t bytes) {
  flow.done += static_cast<size_t>(bytes);
  if (flow.done < sizeof(Header) + flow.messages[flow.next]->bytes) return;
  flow.done = 0;
  ++flow.next;
}

TcpWire::Progress TcpWire::ended(int peer) {
  watch_.fail_closed(peer);
  return Progress::stopped;
}

bool TcpWire::wait_for_room_or_data(const BoundRound& round) {
  for (pollfd& entry : entries_) entry = {-1, 0, 0};
  int awaited = -1;
  const auto want = [&](int peer, const Flow& flow, short events) {
    const size_t at = static_cast<size_t>(peer);
    if (!flow.is_open()) return;
    entries_[at].fd = sockets_[at].get();
    entries_[at].events = static_cast<short>(entries_[at].events | events);
    awaited = peer;
  };
  for (const PeerCount& to : round.to) want(to.peer, out_[static_cast<size_t>(to.peer)], POLLOUT);
  for (const PeerCount& from : round.from) want(from.peer, in_[static_cast<size_t>(from.peer)], POLLIN);
  if (::poll(entries_.data(), entries_.size(), kLookMs) > 0) return true;
  return !watch_.look(awaited);
}

}  // namespace ringtree::textbook
