// See tcp_port.h.
#include "core/transport/tcp_port.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/error.h"

namespace ringtree {
namespace {

// With so few streams it is cheaper to ask each than to ask which.
constexpr size_t kFewStreams = 2;
// What a stream takes before the next one gets its turn, where there are several.
constexpr size_t kShareBytes = size_t{32} << 10;
constexpr int64_t kNsPerMs = 1'000'000;
constexpr double kDrainSeconds = 10;  // what the kernels hold, over the slowest link that anybody would use

}  // namespace

TcpPort::TcpPort(bool with_crc, Fd wake)
    : with_crc_(with_crc), epoll_(::epoll_create1(EPOLL_CLOEXEC)), wake_(std::move(wake)) {
  if (!epoll_.valid()) throw WorldError("out of file descriptors: raise the limit (ulimit -n)");
  epoll_event event{EPOLLIN, {.ptr = nullptr}};
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wake_.get(), &event);
}

TcpPort::~TcpPort() = default;

void TcpPort::add_peer(int rank, std::vector<Fd> sockets) {
  auto made = std::make_unique<Peer>();
  made->rank = rank;
  for (Fd& socket : sockets) {
    auto stream = std::make_unique<TcpStream>(std::move(socket));
    // Edges, so that nothing needs to be told when a stream is full or has room again: readable and writable say what
    // the kernel said last.
    epoll_event event{EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, {.ptr = stream.get()}};
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, stream->fd(), &event) != 0)
      throw WorldError("cannot watch a TCP stream: too few file descriptors or too little memory");
    made->streams.push_back(std::move(stream));
  }
  num_streams_ += made->streams.size();
  if (by_rank_.size() <= static_cast<size_t>(rank)) by_rank_.resize(static_cast<size_t>(rank) + 1);
  by_rank_[static_cast<size_t>(rank)] = made.get();
  peers_.push_back(std::move(made));
}

bool TcpPort::has_peer(int rank) const {
  return static_cast<size_t>(rank) < by_rank_.size() && by_rank_[static_cast<size_t>(rank)] != nullptr;
}

TcpPort::Peer& TcpPort::peer(int rank) { return *by_rank_.at(static_cast<size_t>(rank)); }

uint32_t TcpPort::add_out(int rank, std::byte* memory, const LinkGeometry& geometry, int reader_index,
                          const SendEnd& end) {
  Peer& to = peer(rank);
  const std::lock_guard lock(links_mutex_);
  to.outs.push_back(std::make_unique<TcpOut>(memory, geometry, reader_index, end));
  return static_cast<uint32_t>(to.outs.size() - 1);
}

bool TcpPort::accept(int rank, uint32_t number, uint32_t peers_number) {
  if (!has_peer(rank)) return false;
  const std::lock_guard lock(links_mutex_);
  const Peer& from = peer(rank);
  if (number >= from.outs.size()) return false;
  from.outs[number]->accept(peers_number);
  return true;
}

TcpPort::Incoming TcpPort::add_in(int rank, const LinkGeometry& geometry, uint32_t peers_number) {
  Peer& from = peer(rank);
  from.ins.push_back(std::make_unique<TcpIn>(geometry, peers_number));
  return {static_cast<uint32_t>(from.ins.size() - 1), from.ins.back().get()};
}

std::byte* TcpPort::Peer::room_for(const TcpFrame& frame) {
  return frame.link < ins.size() ? ins[frame.link]->room_for(frame) : nullptr;
}

std::byte* TcpPort::Peer::room_of(const TcpFrame& frame) { return ins[frame.link]->room_of(frame); }

void TcpPort::Peer::deliver(const TcpFrame& frame) { ins[frame.link]->deliver(frame); }

bool TcpPort::Peer::credit(const TcpFrame& frame) {
  return frame.link < outs.size() && outs[frame.link]->credit(frame.number);
}

bool TcpPort::progress() {
  bool moved = false;
  for (const auto& each : peers_) moved |= !stopped_ && send_to(*each);
  if (num_streams_ <= kFewStreams) {
    for (const auto& each : peers_)
      for (const auto& stream : each->streams) stream->readable = true;
    // A stream that was full says so by an event only.
    for (const auto& each : peers_)
      for (const auto& stream : each->streams)
        if (!stream->writable) wait_for_events(0);
  } else {
    wait_for_events(0);
  }
  for (const auto& each : peers_) moved |= receive_from(*each);
  return moved;
}

// With several streams each takes its share in turn, or the first would take all that fits into its kernel buffers. The
// next turn goes to the one behind the last that took messages: as long as none of them is full all carry alike,
// however few messages there are at a time. (Were it counted by calls, those that send a credit alone would disturb
// that.)
bool TcpPort::send_to(Peer& to) {
  const size_t num_streams = to.streams.size();
  const size_t share = num_streams == 1 ? TcpStream::kBatchBytes : kShareBytes;
  const size_t first = to.next_stream;
  bool moved = false;
  for (bool more = true; more;) {
    more = false;
    for (size_t i = 0; i < num_streams; ++i) {
      const size_t turn = (first + i) % num_streams;
      TcpStream& stream = *to.streams[turn];
      if (!stream.can_send() || !stream.writable) continue;
      if (!stream.has_unsent() && fill(to, stream, share)) to.next_stream = (turn + 1) % num_streams;
      more |= stream.send();
      look_at(to, stream);
    }
    moved |= more;
  }
  return moved;
}

// One message a link and round, so that none keeps the others waiting. True if there were any.
bool TcpPort::fill(Peer& to, TcpStream& stream, size_t share) {
  const size_t num_outs = to.outs.size();
  bool any = false;
  for (size_t idle = 0; idle < num_outs && stream.has_room(share);) {
    TcpOut& out = *to.outs[to.next_out];
    to.next_out = to.next_out + 1 == num_outs ? 0 : to.next_out + 1;
    if (!out.may_leave()) {
      ++idle;
      continue;
    }
    idle = 0;
    const TcpOut::Message message = out.take(with_crc_);
    stream.add(message.frame, message.payload, &out, message.number);
    any = true;
  }
  // A reader tells of what it consumed when much of the window is used up, or for free with something else that it
  // sends.
  for (const auto& in : to.ins) {
    if (!stream.has_room(TcpStream::kBatchBytes)) break;
    if (any ? in->owed() == 0 : !in->owes_much()) continue;
    TcpFrame frame;
    frame.type = TcpFrameType::credit;
    frame.link = in->peers_number();
    frame.number = in->settle();
    stream.add(frame, {}, nullptr, 0);
  }
  return any;
}

bool TcpPort::receive_from(Peer& from) {
  bool moved = false;
  for (const auto& stream : from.streams) {
    if (!stream->readable || stream->broken()) continue;
    moved |= stream->receive(from);
    look_at(from, *stream);
  }
  return moved;
}

void TcpPort::look_at(Peer& peer, const TcpStream& stream) {
  if (!stream.broken() || peer.faulty) return;
  peer.faulty = true;
  faults_.push_back({peer.rank, stream.reason(), stream.corrupt(), now_ns()});
}

bool TcpPort::flushed(const Peer& peer) {
  for (const auto& stream : peer.streams)
    if (!stream->flushed()) return false;
  for (const auto& out : peer.outs)
    if (!out->empty()) return false;
  // Credits that a peer needs before it can go on: the next call may be long in coming.
  const bool takes = std::any_of(peer.streams.begin(), peer.streams.end(), [](const auto& s) { return s->can_send(); });
  return !takes || std::none_of(peer.ins.begin(), peer.ins.end(), [](const auto& in) { return in->owes_much(); });
}

bool TcpPort::flushed() const {
  return std::all_of(peers_.begin(), peers_.end(), [](const auto& each) { return flushed(*each); });
}

bool TcpPort::flushed(int rank) const { return !has_peer(rank) || flushed(*by_rank_[static_cast<size_t>(rank)]); }

bool TcpPort::ended(int rank) const {
  if (!has_peer(rank)) return true;
  const auto& streams = by_rank_[static_cast<size_t>(rank)]->streams;
  return std::all_of(streams.begin(), streams.end(), [](const auto& stream) { return stream->broken(); });
}

int TcpPort::wait_for_events(int timeout_ms) {
  std::array<epoll_event, 32> events;
  const int num = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), timeout_ms);
  for (int i = 0; i < num; ++i) {
    const epoll_event& event = events[static_cast<size_t>(i)];
    if (!event.data.ptr) {
      char rung[16];
      while (::recv(wake_.get(), rung, sizeof rung, MSG_DONTWAIT) > 0) continue;
      continue;
    }
    auto& stream = *static_cast<TcpStream*>(event.data.ptr);
    if ((event.events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) stream.ending = true;
    if ((event.events & EPOLLIN) != 0 || stream.ending) stream.readable = true;
    if ((event.events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0) stream.writable = true;
  }
  return num;
}

void TcpPort::sleep(int64_t until_ns) {
  const int64_t left = until_ns - now_ns();
  if (left <= 0) return;
  wait_for_events(static_cast<int>(std::min<int64_t>((left + kNsPerMs - 1) / kNsPerMs, 1000)));
}

uint64_t TcpPort::bytes_sent() const {
  uint64_t sum = 0;
  for (const auto& each : peers_)
    for (const auto& stream : each->streams) sum += stream->bytes_sent();
  return sum;
}

uint64_t TcpPort::bytes_received() const {
  uint64_t sum = 0;
  for (const auto& each : peers_)
    for (const auto& stream : each->streams) sum += stream->bytes_received();
  return sum;
}

// The streams are not ended: a peer that waits for a third rank would see an end long before it hears that this rank
// leaves in order.
void TcpPort::drain() {
  if (closed_.load(std::memory_order_relaxed)) return;  // its own thread closed it, or had it closed before
  const Deadline deadline = Deadline::after_seconds(kDrainSeconds);
  for (;;) {
    bool waits = false;
    for (const auto& each : peers_)
      for (const auto& stream : each->streams) {
        stream->readable = true;
        if (!stream->broken()) stream->receive(*each);
        waits |= !stream->broken() && !stream->all_acknowledged();
      }
    if (!waits || deadline.passed()) return;
    ::poll(nullptr, 0, 1);
  }
}

void TcpPort::close(Closing how) {
  if (closed_.exchange(true, std::memory_order_relaxed)) return;  // relaxed: only who is first matters
  for (const auto& each : peers_)
    for (const auto& stream : each->streams) {
      if (how == Closing::in_call) {
        ::shutdown(stream->fd(), SHUT_RDWR);
      } else {
        stream->close();
      }
    }
}

}  // namespace ringtree
