// What strangers say before they have proved anything: to the callee, and, as a false callee, to the caller. Nobody who
// does not know the key is ever believed.
#include "core/net/handshake.h"
#include "tests/fuzz/fuzz.h"

using namespace ringtree;

namespace {

const std::string kKey = "the key that strangers do not know";
constexpr Nonce kNonce{'n'};

std::string whole(const std::string& key) {
  CallerHandshake caller(key, Hello{HandshakeRole::data, 3, 1, 0}, kNonce);
  CalleeHandshake callee([&](const Hello&) { return std::optional(key); }, Nonce{'m'});
  callee.feed(caller.first());
  const std::string reply = callee.take_output();
  caller.feed(reply);
  return caller.first() + caller.take_output() + reply;
}

template <class Handshake>
void feed_all(Handshake& handshake, std::string_view input, const char* believed) {
  while (!input.empty() && handshake.wanted() > 0) {
    const size_t piece = std::min(handshake.wanted(), input.size());
    handshake.feed(input.substr(0, piece));
    handshake.take_output();
    input.remove_prefix(piece);
  }
  if (handshake.state() == HandshakeState::done) fuzz_fail(believed);
}

}  // namespace

std::vector<std::string> fuzz_seeds() { return {whole("another key of the same length, no"), whole("short")}; }

void fuzz_one(std::string_view input) {
  CalleeHandshake callee(
      [](const Hello& hello) { return hello.called_rank == 1 ? std::optional(kKey) : std::nullopt; });
  feed_all(callee, input, "a caller that did not know the key");
  CallerHandshake caller(kKey, Hello{HandshakeRole::control, 2, 1, 0});
  feed_all(caller, input, "a callee that did not know the key");
}
