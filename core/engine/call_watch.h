// What a rank looks at while its call waits: has the communicator failed, has somebody gone, is somebody in another
// call, is it too late, does the user want to stop? Whatever it finds ends the communicator with a text that names
// ranks, pids, collective and sequence number.
#pragma once

#include <optional>

#include "core/base/clock.h"
#include "core/engine/caller_lock.h"
#include "core/engine/executor.h"
#include "core/engine/session.h"

namespace ringtree {

/// What a timeout tells of each rank, for people: "; rank 1 (pid 4) is in all_reduce #3, 4096 bytes done".
std::string hang_report(Session& session);

/// What ends a call because a stream of a peer broke off though the peer has not left; "" if nothing does. A peer that
/// dies is noticed by its control connection as well, which gets a moment for that.
std::string broken_stream(Session& session);

/// Asked now and then during a wait whether the user wants to stop (Ctrl-C): not 0. Any thread that calls collectives.
/// As C has it, so that a C program's own function (rtConfig_t) is called as it is.
using InterruptCheck = int (*)();

class CallWatch final : public Watch {
 public:
  /// `words`: Board::words_of(call). `lock`: may be null.
  CallWatch(Session& session, const CallDescription& call, const Board::Words& words, double timeout_s,
            InterruptCheck interrupted, CallerLock* lock)
      : session_(session), call_(call), words_(words), timeout_s_(timeout_s), interrupted_(interrupted), lock_(lock) {}

  bool attention() const override { return session_.attention(); }
  /// Shows the peers which call this is, unless they were shown already: they look when they wait, and so that it does
  /// not delay the call's first messages, it is done after these.
  void first_wait() override { show(); }
  void show() {
    if (!shown_) session_.members().own_page().board.post(call_.sequence, words_);
    shown_ = true;
  }
  void before_waits() override { let_go(lock_); }
  bool inspect() override;
  void note_progress(size_t done_bytes) override {
    session_.members().own_page().done_bytes.store(done_bytes, std::memory_order_relaxed);  // for people
  }

  /// The message of a call that is not ours came from `peer`.
  void report_mismatch(int peer);

 private:
  /// Fails the communicator if a peer has begun another call under this call's number.
  void compare_calls();
  /// After a moment of waiting: ranks of other hosts are asked which call they are in.
  void ask_others();
  void check_gone();
  void check_streams();
  void check_deadline();
  void check_interrupt();
  std::string call_text() const;  // "all_reduce #17 (…)"
  std::string who_said_what(const CallDescription& mine) const;

  Session& session_;
  const CallDescription& call_;
  const Board::Words& words_;
  bool shown_ = false;
  double timeout_s_;
  std::optional<Deadline> deadline_;  // from the first inspection: a call that need not wait reads no clock
  InterruptCheck interrupted_;
  CallerLock* lock_;
  int64_t next_interrupt_check_ns_ = 0;
  int64_t ask_at_ns_ = 0;  // 0: not yet decided
};

}  // namespace ringtree
