// Helpers of the tests of TCP between ranks: connected sockets, ports with their doorbells, the ends of links over them
// with messages that tell what they are, and a peer that writes whatever bytes a test wants. All in one process; the
// other rank is a port of its own or the test itself.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/base/crc32c.h"
#include "core/net/tcp_socket.h"
#include "core/transport/link.h"
#include "core/transport/tcp_port.h"
#include "tests/core/sanitized.h"
#include "tests/core/transport/aligned_bytes.h"

namespace ringtree::testing {

inline Deadline patience() { return Deadline::after_seconds(60); }

/// Two ends of a TCP connection over the loopback interface. `buffer_bytes`: of the kernel's buffers, 0: as they are.
inline std::pair<Fd, Fd> tcp_pair(int buffer_bytes = 0) {
  const auto limit = [&](int socket) {
    if (buffer_bytes == 0) return;
    ::setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &buffer_bytes, sizeof buffer_bytes);
    ::setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &buffer_bytes, sizeof buffer_bytes);
    const int segment_bytes = 536;  // or the window would mostly be too small for a segment, and wait for timers
    ::setsockopt(socket, IPPROTO_TCP, TCP_MAXSEG, &segment_bytes, sizeof segment_bytes);
  };
  const SocketResult listener = listen_tcp(*Address::parse("127.0.0.1:0"), 4);
  if (listener.error != 0) throw std::runtime_error(errno_text("no listener", listener.error));
  limit(listener.socket.get());
  Fd caller(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  limit(caller.get());
  const Address to = *local_address(listener.socket.get());
  if (::connect(caller.get(), to.raw(), to.size()) != 0) throw std::runtime_error(errno_text("no connection", errno));
  ::fcntl(caller.get(), F_SETFL, O_NONBLOCK);
  SocketResult callee = accept_connection(listener.socket.get());
  if (callee.error != 0) throw std::runtime_error(errno_text("nobody connected", callee.error));
  send_at_once(caller.get());
  send_at_once(callee.socket.get());
  return {std::move(caller), std::move(callee.socket)};
}

/// A port with its doorbell.
struct BellPort {
  explicit BellPort(bool with_crc = false) : port(with_crc, bell.make_pollable()) {}
  Doorbell bell;
  TcpPort port;
};

inline constexpr size_t kTcpSlotBytes = 4096;

/// The byte at `index` of a message; tells messages that are lost, repeated, torn or swapped.
inline std::byte byte_of(uint64_t link, uint64_t number, size_t index) {
  return static_cast<std::byte>((number * 2'654'435'761u + link * 40'503 + index * 97) >> 4);
}
inline std::vector<std::byte> payload_of(uint64_t link, uint64_t number, size_t bytes) {
  std::vector<std::byte> payload(bytes);
  for (size_t i = 0; i < bytes; ++i) payload[i] = byte_of(link, number, i);
  return payload;
}
inline uint32_t fingerprint_of(uint64_t link, uint64_t number) {
  return static_cast<uint32_t>(link * 1'000'003 + number);
}
/// Nothing, what fits into a line just so, and just not, and the largest.
inline size_t bytes_of(uint64_t number) {
  constexpr size_t kSizes[] = {0, 1, kInlineBytes, kInlineBytes + 1, 1'000, kTcpSlotBytes};
  return kSizes[number % std::size(kSizes)];
}

/// The sending end of a link to another host.
struct LinkSender {
  explicit LinkSender(uint64_t name_of_link, int num_slots = kMaxLinkSlots)
      : name(name_of_link), geometry{1, num_slots, kTcpSlotBytes}, memory(aligned_bytes(geometry.bytes())) {
    construct_link(memory.get(), geometry);
    end = std::make_unique<SendEnd>(make_send_end(memory.get(), geometry, {}, {{&reader_bell, false}}, true, {}));
  }
  /// Publishes the next message if there is room for it.
  bool send(size_t bytes) {
    if (!end->has_free_slot()) return false;
    const std::vector<std::byte> payload = payload_of(name, end->next(), bytes);
    if (bytes > 0) std::memcpy(end->room(bytes), payload.data(), bytes);
    end->publish(fingerprint_of(name, end->next()), bytes, 0);
    return true;
  }
  uint64_t num_sent() const { return end->next(); }

  uint64_t name;
  LinkGeometry geometry;
  AlignedBytes memory;
  Doorbell reader_bell;
  std::unique_ptr<SendEnd> end;
};

/// The reading end of one.
struct LinkReceiver {
  LinkReceiver(uint64_t name_of_link, TcpIn& link)
      : name(name_of_link),
        end(std::make_unique<RecvEnd>(
            make_recv_end(link.memory(), link.geometry(), 0, {}, &sender_bell, 1, nullptr, true))) {
    end->set_placement(&link);
  }
  /// Consumes the next message, if it is there and right; a wrong one fails the test.
  bool receive(size_t bytes) {
    if (!end->has_message()) return false;
    const uint64_t number = end->next();
    EXPECT_EQ(end->fingerprint(), fingerprint_of(name, number)) << "link " << name << ", message " << number;
    EXPECT_EQ(end->locate(bytes), SharedTable::Found::here);
    const std::vector<std::byte> wanted = payload_of(name, number, bytes);
    EXPECT_TRUE(bytes == 0 || std::memcmp(end->data(), wanted.data(), bytes) == 0)
        << "link " << name << ", message " << number << " of " << bytes << " bytes";
    end->release(false, 0);
    return true;
  }
  uint64_t num_received() const { return end->next(); }

  uint64_t name;
  Doorbell sender_bell;
  std::unique_ptr<RecvEnd> end;
};

/// A link from `from` (rank 0) to `to` (rank 1), or the other way round, that both have accepted.
struct LinkOverPorts {
  LinkOverPorts(uint64_t name, TcpPort& from, int from_rank, TcpPort& to, int num_slots = kMaxLinkSlots)
      : sender(name, num_slots) {
    const int to_rank = 1 - from_rank;
    const uint32_t number = from.add_out(to_rank, sender.memory.get(), sender.geometry, 0, *sender.end);
    const TcpPort::Incoming incoming = to.add_in(from_rank, sender.geometry, number);
    receiver = std::make_unique<LinkReceiver>(name, *incoming.link);
    if (!from.accept(to_rank, number, incoming.number)) throw std::runtime_error("not accepted");
  }
  LinkSender sender;
  std::unique_ptr<LinkReceiver> receiver;
};

/// Two ports, of ranks 0 and 1, that are each other's peer.
struct PortPair {
  explicit PortPair(int num_streams, bool with_crc = false, int buffer_bytes = 0)
      : ends{BellPort(with_crc), BellPort(with_crc)} {
    std::vector<Fd> here, there;
    for (int i = 0; i < num_streams; ++i) {
      auto [a, b] = tcp_pair(buffer_bytes);
      here.push_back(std::move(a));
      there.push_back(std::move(b));
    }
    port(0).add_peer(1, std::move(here));
    port(1).add_peer(0, std::move(there));
  }
  TcpPort& port(int rank) { return ends[rank].port; }
  void expect_no_faults() {
    for (int rank : {0, 1})
      for (const TcpFault& fault : port(rank).faults()) ADD_FAILURE() << "rank " << rank << ": " << fault.reason;
  }
  BellPort ends[2];
};

/// A port of rank 0 whose peer, rank 1, is the test: it writes and reads the bytes itself.
struct RawPeer {
  explicit RawPeer(int num_streams = 1, int num_links = 1, int buffer_bytes = 0) {
    std::vector<Fd> ends;
    for (int i = 0; i < num_streams; ++i) {
      auto [a, b] = tcp_pair(buffer_bytes);
      ends.push_back(std::move(a));
      sockets.push_back(std::move(b));
    }
    port().add_peer(1, std::move(ends));
    const LinkGeometry geometry{1, kMaxLinkSlots, kTcpSlotBytes};
    for (int i = 0; i < num_links; ++i)
      receivers.push_back(
          std::make_unique<LinkReceiver>(static_cast<uint64_t>(i), *port().add_in(1, geometry, 0).link));
  }
  TcpPort& port() { return end.port; }

  /// The frame of a message that would be right.
  static TcpFrame frame(uint32_t sequence, uint32_t link, uint32_t number, size_t bytes) {
    const std::vector<std::byte> payload = payload_of(link, number, bytes);
    return {TcpFrameType::message,
            true,
            link,
            sequence,
            number,
            static_cast<uint32_t>(bytes),
            fingerprint_of(link, number),
            crc32c(payload.data(), bytes)};
  }
  /// A frame as it travels, with the payload that a right one has; of one that is far too long, the beginning.
  static std::string bytes(const TcpFrame& frame) {
    const TcpHeader header = encode_tcp_frame(frame);
    std::string text(reinterpret_cast<const char*>(header.data()), header.size());
    if (frame.type != TcpFrameType::message) return text;
    const std::vector<std::byte> payload =
        payload_of(frame.link, frame.number, std::min<size_t>(frame.bytes, 2 * kTcpSlotBytes));
    return text.append(reinterpret_cast<const char*>(payload.data()), payload.size());
  }
  void write(std::string_view data, size_t stream = 0) {
    ASSERT_TRUE(write_all(sockets[stream].get(), data, patience()));
  }
  /// Lets the port take `num_bytes` in all, or find that the stream is of no use.
  void let_it_read(uint64_t num_bytes) {
    const Deadline deadline = patience();
    while (port().bytes_received() < num_bytes && port().faults().empty() && !deadline.passed()) port().progress();
  }
  /// The first fault; waits for it.
  TcpFault fault() {
    const Deadline deadline = patience();
    while (port().faults().empty() && !deadline.passed()) port().progress();
    return port().faults().empty() ? TcpFault{-1, "none", false, 0} : port().faults().front();
  }

  BellPort end;
  std::vector<Fd> sockets;  // the test's ends
  std::vector<std::unique_ptr<LinkReceiver>> receivers;
};

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace ringtree::testing
