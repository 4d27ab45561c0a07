// What comes on a control connection: frames through the reader, and what is in them: statuses, failures.
#include <sys/socket.h>

#include "core/base/fd.h"
#include "core/bootstrap/control_message.h"
#include "core/bootstrap/frame_reader.h"
#include "core/engine/failure.h"
#include "core/engine/rank_status.h"
#include "tests/fuzz/fuzz.h"

using namespace ringtree;

std::vector<std::string> fuzz_seeds() {
  RankStatus status;
  status.completed = 3;
  status.asks = 4;
  CallDescription call;
  call.sequence = 4;
  status.calls = {call};
  return {encode_control_frame(ControlType::link, "payload", false),
          encode_control_frame(ControlType::status, status.encode(), false),
          encode_control_frame(ControlType::abort, Failure{FailureKind::peer, "rank 1 died"}.encode(), false),
          encode_control_frame(ControlType::bye, "", false), encode_hello_frame({1, std::string(32, 'a')})};
}

void fuzz_one(std::string_view input) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0) fuzz_fail("no sockets");
  Fd far(ends[1]), near(ends[0]);
  FrameReader reader;
  std::vector<ControlMessage> messages;
  while (!input.empty()) {
    const ssize_t sent = ::send(far.get(), input.data(), std::min<size_t>(input.size(), 100), MSG_NOSIGNAL);
    if (sent <= 0) break;
    input.remove_prefix(static_cast<size_t>(sent));
    const FrameReader::State state = reader.read(near.get(), messages);
    if (state == FrameReader::State::broken || state == FrameReader::State::closed) break;
  }
  for (const ControlMessage& message : messages) {
    if (message.payload.size() > kMaxControlPayloadBytes) fuzz_fail("a payload beyond the limit");
    RankPage page;
    if (const auto status = RankStatus::decode(message.payload)) status->show_on(page);
    if (const auto failure = Failure::decode(message.payload, 8))
      for (const int rank : failure->ranks)
        if (rank < 0 || rank >= 8) fuzz_fail("a rank that the world does not have");
  }
}
