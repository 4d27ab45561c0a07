// See handshake_message.h.
#include "core/net/handshake_message.h"

#include <algorithm>

#include "core/base/sha256.h"
#include "core/net/socket.h"

namespace ringtree {
namespace {

// Where the fields of a hello and of a reply are, in bytes.
constexpr size_t kRole = 8, kRank = 10, kCalledRank = 14, kStreamIndex = 18, kHelloZeros = 20, kHelloNonce = 48;
constexpr size_t kReplyNonce = 8, kReplyMac = 24, kReplyZeros = 56;

void put(std::string& message, size_t at, uint64_t value, size_t num_bytes) {
  for (size_t i = 0; i < num_bytes; ++i) message[at + i] = static_cast<char>(value >> (8 * i));
}

uint64_t get(std::string_view message, size_t at, size_t num_bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < num_bytes; ++i) value |= uint64_t{static_cast<unsigned char>(message[at + i])} << (8 * i);
  return value;
}

bool all_zero(std::string_view bytes) { return bytes.find_first_not_of('\0') == std::string_view::npos; }

std::string mac(std::string_view key, std::string_view side, std::string_view hello, std::string_view rest) {
  const Sha256Digest digest = hmac_sha256(key, std::string(side).append(hello).append(rest));
  return std::string(as_bytes(digest));
}

}  // namespace

Nonce random_nonce() {
  Nonce nonce;
  const std::string bytes = random_bytes(nonce.size());
  std::copy(bytes.begin(), bytes.end(), nonce.begin());
  return nonce;
}

std::string encode_hello(const Hello& hello, const Nonce& nonce) {
  std::string message(kHandshakeMagic);
  message.resize(kHelloBytes, '\0');
  put(message, kRole, static_cast<uint16_t>(hello.role), 2);
  put(message, kRank, hello.rank, 4);
  put(message, kCalledRank, hello.called_rank, 4);
  put(message, kStreamIndex, hello.stream_index, 2);
  return message.replace(kHelloNonce, nonce.size(), nonce.data(), nonce.size());
}

std::optional<Hello> decode_hello(std::string_view message) {
  if (message.size() != kHelloBytes || !message.starts_with(kHandshakeMagic)) return std::nullopt;
  const uint64_t role = get(message, kRole, 2);
  const bool role_exists =
      role >= static_cast<uint16_t>(HandshakeRole::control) && role <= static_cast<uint16_t>(HandshakeRole::store);
  if (!role_exists || !all_zero(message.substr(kHelloZeros, kHelloNonce - kHelloZeros))) return std::nullopt;
  return Hello{static_cast<HandshakeRole>(role), static_cast<uint32_t>(get(message, kRank, 4)),
               static_cast<uint32_t>(get(message, kCalledRank, 4)),
               static_cast<uint16_t>(get(message, kStreamIndex, 2))};
}

std::string encode_reply(std::string_view key, std::string_view hello_message, const Nonce& nonce) {
  const std::string_view nonce_bytes(nonce.data(), nonce.size());
  std::string reply(kHandshakeMagic);
  reply.append(nonce_bytes).append(mac(key, "callee", hello_message, nonce_bytes));
  reply.resize(kReplyBytes, '\0');
  return reply;
}

bool is_reply(std::string_view key, std::string_view hello_message, std::string_view reply) {
  if (reply.size() != kReplyBytes || !reply.starts_with(kHandshakeMagic)) return false;
  if (!all_zero(reply.substr(kReplyZeros))) return false;
  const std::string expected = mac(key, "callee", hello_message, reply.substr(kReplyNonce, kReplyMac - kReplyNonce));
  return equal_in_constant_time(reply.substr(kReplyMac, kProofBytes), expected);
}

std::string encode_proof(std::string_view key, std::string_view hello_message, std::string_view reply) {
  return mac(key, "caller", hello_message, reply);
}

bool is_proof(std::string_view key, std::string_view hello_message, std::string_view reply, std::string_view proof) {
  return equal_in_constant_time(proof, encode_proof(key, hello_message, reply));
}

}  // namespace ringtree
