// See handshake.h.
#include "core/net/handshake.h"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <utility>

#include "core/net/socket.h"

namespace ringtree {
namespace {

// The key in a place that is wiped when it goes; where it came from is wiped here.
Secret take_key(std::string& key) {
  Secret kept = Secret::of(key);
  ::explicit_bzero(key.data(), key.size());
  return kept;
}

// What has come so far of a message that begins with it.
bool begins_with_magic(std::string_view message) {
  return message.substr(0, kHandshakeMagic.size()) == kHandshakeMagic.substr(0, message.size());
}

}  // namespace

CallerHandshake::CallerHandshake(std::string key, const Hello& hello, const Nonce& nonce)
    : key_(take_key(key)), hello_message_(encode_hello(hello, nonce)) {}

HandshakeState CallerHandshake::feed(std::string_view bytes) {
  if (bytes.size() > wanted()) return refuse();
  in_.append(bytes);
  if (state_ != State::more) return state_;
  if (!proved_ && !begins_with_magic(in_)) return refuse();
  if (in_.size() < answer_bytes()) return state_;
  if (proved_) return in_ == kAccepted ? state_ = State::done : refuse();
  if (!is_reply(key_.bytes(), hello_message_, in_)) return refuse();
  out_ = encode_proof(key_.bytes(), hello_message_, std::exchange(in_, {}));
  proved_ = true;
  return state_;
}

HandshakeState CallerHandshake::refuse() {
  out_.clear();
  return state_ = State::refused;
}

CalleeHandshake::CalleeHandshake(KeyOf key_of, const Nonce& nonce) : key_of_(std::move(key_of)), nonce_(nonce) {}

HandshakeState CalleeHandshake::feed(std::string_view bytes) {
  if (bytes.size() > wanted()) return refuse();
  in_.append(bytes);
  if (state_ != State::more) return state_;
  if (reply_.empty()) return take_hello();
  if (in_.size() < kProofBytes) return state_;
  if (!is_proof(key_.bytes(), hello_message_, reply_, in_)) return refuse();
  out_ = kAccepted;
  return state_ = State::done;
}

HandshakeState CalleeHandshake::take_hello() {
  if (!begins_with_magic(in_)) return refuse();
  if (in_.size() < kHelloBytes) return state_;
  const std::optional<Hello> hello = decode_hello(in_);
  std::optional<std::string> key = hello ? key_of_(*hello) : std::nullopt;
  if (!key) return refuse();
  key_ = take_key(*key);
  hello_ = *hello;
  hello_message_ = std::exchange(in_, {});
  reply_ = encode_reply(key_.bytes(), hello_message_, nonce_);
  out_ = reply_;
  return state_;
}

HandshakeState CalleeHandshake::refuse() {
  out_.clear();
  return state_ = State::refused;
}

const Hello& CalleeHandshake::hello() const {
  assert(state_ == State::done);
  return hello_;
}

bool perform(CallerHandshake& handshake, int socket, Deadline deadline) {
  if (!write_all(socket, handshake.first(), deadline)) return false;
  std::array<char, kReplyBytes> buffer;
  while (handshake.wanted() > 0) {
    if (!wait_for(socket, POLLIN, deadline)) return false;
    const ssize_t got = ::recv(socket, buffer.data(), handshake.wanted(), 0);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) return false;
    if (got > 0) handshake.feed({buffer.data(), static_cast<size_t>(got)});
    if (!write_all(socket, handshake.take_output(), deadline)) return false;
  }
  return handshake.state() == HandshakeState::done;
}

}  // namespace ringtree
