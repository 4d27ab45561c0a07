// The messages by which two ends of a connection prove to each other that they know a key, as bytes and as values.
// Fixed sizes; numbers little endian. Not for their order: handshake.h. The last one, callee -> caller, is one byte:
// the proof was accepted. A caller without it does not know whether the callee had given it up meanwhile.
//
//   caller -> callee, 64 bytes          callee -> caller, 64 bytes       caller -> callee, 32 bytes
//    0 magic "RTHELLO1"                  0 magic                          0 HMAC(key, "caller" | hello | reply)
//    8 role            2                 8 callee's nonce   16
//   10 caller's rank   4                24 HMAC(key, "callee" | hello | callee's nonce)   32
//   14 rank called     4                56 zeros             8
//   18 stream index    2
//   20 zeros          28
//   48 caller's nonce 16
//
// Why this proves it: each side's HMAC covers a nonce that the other side has just drawn, so no message of an earlier
// connection fits (replay); the words "callee" and "caller" keep one side's proof from being the other's (reflection);
// the hello is covered, so nobody can change on the way what the connection is for. What is sent later is not covered:
// somebody who sits between the two can change or read it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ringtree {

inline constexpr size_t kHelloBytes = 64;
inline constexpr size_t kReplyBytes = 64;
inline constexpr size_t kProofBytes = 32;
inline constexpr std::string_view kAccepted = "\x06";
inline constexpr std::string_view kHandshakeMagic = "RTHELLO1";

using Nonce = std::array<char, 16>;

/// Drawn anew for every handshake, from the kernel.
Nonce random_nonce();

/// What a connection is for.
enum class HandshakeRole : uint16_t { control = 1, data = 2, store = 3 };

/// What the caller says about the connection that it asks for.
struct Hello {
  HandshakeRole role = HandshakeRole::control;
  uint32_t rank = 0;         // the caller's
  uint32_t called_rank = 0;  // whom it wants to reach: who is somebody else must refuse
  uint16_t stream_index = 0;

  friend bool operator==(const Hello&, const Hello&) = default;
};

std::string encode_hello(const Hello& hello, const Nonce& nonce);
/// Empty unless `message` is a whole hello: magic, a role that exists, and zeros where they belong.
std::optional<Hello> decode_hello(std::string_view message);

/// The callee's answer to the hello `hello_message`.
std::string encode_reply(std::string_view key, std::string_view hello_message, const Nonce& nonce);
/// Whether `reply` is an answer to `hello_message` by somebody who knows the key.
bool is_reply(std::string_view key, std::string_view hello_message, std::string_view reply);

/// The caller's proof, and whether `proof` is it.
std::string encode_proof(std::string_view key, std::string_view hello_message, std::string_view reply);
bool is_proof(std::string_view key, std::string_view hello_message, std::string_view reply, std::string_view proof);

}  // namespace ringtree
