// What comes on a data stream between two ranks: headers, payloads, credits, cut anywhere. The target is a port with
// one peer, as a rank has it after the handshake.
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <optional>

#include "core/transport/tcp_port.h"
#include "tests/fuzz/fuzz.h"

namespace {

using namespace ringtree;

constexpr LinkGeometry kGeometry{1, 8, 256};

TcpFrame message(uint32_t number, uint32_t bytes, uint32_t sequence) {
  TcpFrame frame;
  frame.number = number;
  frame.bytes = bytes;
  frame.sequence = sequence;
  frame.fingerprint = 7;
  return frame;
}

std::string text_of(const TcpFrame& frame) {
  const TcpHeader header = encode_tcp_frame(frame);
  return std::string(reinterpret_cast<const char*>(header.data()), header.size()) + std::string(frame.bytes, 'x');
}

// Headers whose checksum is right whatever was changed in them: mutations would else hardly get past it. The first byte
// of the input says whether the rest is taken so.
std::string with_right_checksums(std::string_view input) {
  std::string out;
  uint32_t sequence = 0;
  while (input.size() >= 14) {
    TcpFrame frame;
    frame.type = input[0] % 2 == 0 ? TcpFrameType::message : TcpFrameType::credit;
    const auto number = [&](size_t at) {
      return static_cast<uint32_t>(static_cast<unsigned char>(input[at]) |
                                   static_cast<unsigned char>(input[at + 1]) << 8 |
                                   static_cast<unsigned char>(input[at + 2]) << 16);
    };
    frame.link = number(1) % 4;
    frame.number = number(4) % 2 == 0 ? number(4) : number(4) % 16;
    frame.bytes = frame.type == TcpFrameType::credit ? 0 : number(7) % 512;
    frame.has_payload_crc = frame.type == TcpFrameType::message && input[10] % 4 == 0;
    frame.sequence = input[11] % 32 == 1 ? number(10) : sequence++;
    const TcpHeader header = encode_tcp_frame(frame);
    out.append(reinterpret_cast<const char*>(header.data()), header.size());
    out.append(frame.bytes, static_cast<char>(input[12]));
    input.remove_prefix(14);
  }
  return out + std::string(input);
}

}  // namespace

std::vector<std::string> fuzz_seeds() {
  std::vector<std::string> seeds;
  seeds.push_back(std::string(1, '\1') + text_of(message(0, 8, 0)) + text_of(message(1, 200, 1)));
  seeds.push_back(std::string(1, '\1') + text_of(message(3, 256, 0)) + text_of(message(0, 0, 1)));
  seeds.push_back(std::string(1, '\0') + std::string(14 * 4, '\2'));
  seeds.push_back(std::string(1, '\0') + std::string(14, '\1') + std::string(14, '\0'));
  return seeds;
}

void fuzz_one(std::string_view input) {
  if (input.empty()) return;
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0) fuzz_fail("no sockets");
  Fd far(ends[1]);
  static const Fd nobody(::dup(0));
  TcpPort port(false, Fd(::dup(nobody.get())));
  std::vector<Fd> streams;
  streams.emplace_back(ends[0]);
  port.add_peer(1, std::move(streams));
  const TcpPort::Incoming in = port.add_in(1, kGeometry, 0);
  Doorbell bell;
  RecvEnd reader = make_recv_end(in.link->memory(), kGeometry, 0, {}, &bell, 1, nullptr, true);
  const std::string bytes = input[0] % 2 == 1 ? std::string(input.substr(1)) : with_right_checksums(input.substr(1));
  for (size_t at = 0; at < bytes.size() && port.faults().empty();) {
    const size_t piece = std::min(bytes.size() - at, size_t{1} + static_cast<unsigned char>(input[0]) * 7u);
    const ssize_t sent = ::send(far.get(), bytes.data() + at, piece, MSG_NOSIGNAL);
    if (sent > 0) at += static_cast<size_t>(sent);
    port.progress();
    while (reader.has_message()) {
      if (reader.locate(256) != SharedTable::Found::here) fuzz_fail("a message that is nowhere");
      reader.release(false, 0);
    }
    if (sent <= 0) break;
  }
}
