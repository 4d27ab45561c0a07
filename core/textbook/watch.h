// Why a call must stop: a peer died or left, a peer gave up, the deadline passed, the user interrupts, a peer is in
// another call. The first reason counts, here and, by a message to all peers, on every rank. Not for waiting itself:
// waiting.h, inbox.h and the wires ask here.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/bootstrap/mesh.h"

namespace ringtree::textbook {

/// Asked now and then during a wait whether the user wants to stop (Ctrl-C): not 0.
using InterruptCheck = int (*)();

enum class Trouble { peer, timeout, mismatch, interrupted };

class Watch {
 public:
  Watch(int rank, int world_size);

  /// What the mesh's monitor thread calls.
  void on_gone(int peer, bool said_bye);
  void on_abort(const std::string& text);
  /// Once the mesh stands; until then peers have no pids and nothing is told to them.
  void attach(Mesh& mesh);
  void set_interrupt_check(InterruptCheck check) { interrupted_ = check; }

  /// A call, or getting ready for one, begins: `what` names it and outlives it; `sequence` 0: it has no number.
  void begin(const std::string& what, uint64_t sequence, double timeout_s);

  /// Looks at all that may stop a wait but peers that are gone. True: stop. Takes a microsecond.
  bool look(int awaited);
  bool is_gone(int peer) const {
    // acquire, pairs with the release in on_gone(): what the peer did before it left is seen.
    return gone_[static_cast<size_t>(peer)].load(std::memory_order_acquire) != kHere;
  }
  bool failed() const { return failed_.load(std::memory_order_acquire); }  // pairs with the release in set_failure()

  /// The first reason wins; it is told to all peers.
  void fail(Trouble trouble, const std::string& text);
  void fail_gone(int peer);
  void fail_length(int peer, uint64_t announced, uint64_t expected);
  /// The connection with `peer` has ended. Waits a moment for the reason, which comes another way.
  void fail_closed(int peer);
  [[noreturn]] void raise();

  std::string describe(int rank) const;  // "rank 2 (pid 4711)"
  bool is_in_this_process(int peer) const;

 private:
  enum Gone : int { kHere = 0, kSaidBye = 1, kDied = 2 };

  bool set_failure(Trouble trouble, const std::string& text);
  void pass_on();
  std::string call_text() const;

  const int rank_;
  const std::string* what_ = nullptr;
  uint64_t sequence_ = 0;
  double timeout_s_ = 0;
  Deadline deadline_;
  int64_t next_interrupt_check_ns_ = 0;
  InterruptCheck interrupted_ = nullptr;
  std::vector<std::atomic<int>> gone_;
  std::atomic<bool> failed_{false}, passed_on_{false};
  std::atomic<Mesh*> mesh_{nullptr};  // release in attach(), acquire where it is read
  mutable std::mutex mutex_;          // protects trouble_ and text_
  std::condition_variable changed_;
  Trouble trouble_ = Trouble::peer;
  std::string text_;
};

}  // namespace ringtree::textbook
