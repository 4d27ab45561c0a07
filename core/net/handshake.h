// Mutual proof that both ends of a connection know a key, before anything else is allocated or parsed: two state
// machines without sockets, fed with what arrived. Each holds at most 64 bytes of input, and none that belongs to what
// follows. handshake_message.h says what is sent and what that proves. Not for encryption, nor for deadlines and how
// many callers may wait: the owner of the sockets decides that.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/clock.h"
#include "core/net/handshake_message.h"
#include "core/net/secret.h"

namespace ringtree {

enum class HandshakeState {
  more,     // wanted() more bytes are awaited
  done,     // the other end knows the key
  refused,  // it does not, or is something else: close the socket, say nothing
};

/// The side that connected. Send first(), feed what comes, send take_output() after each. One thread at a time.
class CallerHandshake {
 public:
  using State = HandshakeState;

  /// An empty key proves nothing. `nonce` is given by tests only.
  CallerHandshake(std::string key, const Hello& hello, const Nonce& nonce = random_nonce());

  /// The hello, to be sent first.
  const std::string& first() const { return hello_message_; }

  /// Takes what was received, in any pieces, at most wanted() bytes at a time: more are refused, and a wrong magic is
  /// at its first wrong byte: other programs say less than a reply has bytes, and then wait.
  State feed(std::string_view bytes);
  State state() const { return state_; }

  /// How many bytes may be read from the socket now; 0 when there is nothing to wait for.
  size_t wanted() const { return state_ == State::more ? answer_bytes() - in_.size() : 0; }

  /// What is to be sent, once: the proof. Done is it when the callee has said that it accepts that.
  std::string take_output() { return std::exchange(out_, {}); }

 private:
  size_t answer_bytes() const { return proved_ ? kAccepted.size() : kReplyBytes; }
  State refuse();

  Secret key_;
  std::string hello_message_;
  std::string in_;
  std::string out_;
  bool proved_ = false;  // the reply was right and answered
  State state_ = State::more;
};

/// The side that was connected to. Feed what comes, send take_output() after each, also when done. One thread at a
/// time.
class CalleeHandshake {
 public:
  using State = HandshakeState;
  /// The key for a caller that says this, or empty to refuse it without an answer. Must refuse a hello whose called
  /// rank is somebody else: else a go-between may connect a caller to the wrong rank, or to itself, and both proofs
  /// would hold. The caller has proved nothing yet: allocate nothing on its word.
  using KeyOf = std::function<std::optional<std::string>(const Hello&)>;

  /// `nonce` is given by tests only.
  explicit CalleeHandshake(KeyOf key_of, const Nonce& nonce = random_nonce());

  /// As for the caller. A wrong magic is refused at its first wrong byte, and never answered.
  State feed(std::string_view bytes);
  State state() const { return state_; }
  size_t wanted() const { return state_ == State::more ? message_bytes() - in_.size() : 0; }
  std::string take_output() { return std::exchange(out_, {}); }

  /// What the caller said; only once done.
  const Hello& hello() const;

 private:
  size_t message_bytes() const { return reply_.empty() ? kHelloBytes : kProofBytes; }
  State take_hello();
  State refuse();

  KeyOf key_of_;
  Nonce nonce_;
  Secret key_ = Secret::none();
  Hello hello_;
  std::string hello_message_;
  std::string reply_;  // empty until the hello was answered
  std::string in_;
  std::string out_;
  State state_ = State::more;
};

/// The caller's side of a whole handshake on the non-blocking, connected `socket`: waits for the answer and reads
/// nothing behind it. False at the deadline, or when the other end refused, was refused or went.
bool perform(CallerHandshake& handshake, int socket, Deadline deadline);

}  // namespace ringtree
