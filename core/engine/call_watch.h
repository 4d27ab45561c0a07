// What a rank looks at while its call waits: has the communicator failed, has somebody gone, is somebody in another
// call, is it too late, does the user want to stop? Whatever it finds ends the communicator with a text that names
// ranks, pids, collective and sequence number.
#pragma once

#include "core/base/clock.h"
#include "core/engine/executor.h"
#include "core/engine/session.h"

namespace ringtree {

/// Asked now and then during a wait whether the user wants to stop (Ctrl-C). Any thread that calls collectives.
using InterruptCheck = bool (*)();

class CallWatch final : public Watch {
 public:
  CallWatch(Session& session, const CallDescription& call, double timeout_s, InterruptCheck interrupted)
      : session_(session),
        call_(call),
        timeout_s_(timeout_s),
        deadline_(Deadline::after_seconds(timeout_s)),
        interrupted_(interrupted) {}

  bool attention() const override { return session_.attention(); }
  bool inspect() override;

  /// Fails the communicator if a peer has begun another call under this call's number.
  void compare_calls();
  /// The message of a call that is not ours came from `peer`.
  void report_mismatch(int peer);

 private:
  void check_gone();
  void check_deadline();
  void check_interrupt();
  std::string call_text() const;  // "all_reduce #17 (…)"
  std::string who_said_what() const;

  Session& session_;
  const CallDescription& call_;
  double timeout_s_;
  Deadline deadline_;
  InterruptCheck interrupted_;
  int64_t next_interrupt_check_ns_ = 0;
};

}  // namespace ringtree
