// Rendezvous: one meeting of ranks in a store: its keys, and the word of the first rank that refuses, which reaches all
// others whatever they are doing then. A rank that cannot go on leaves its reason in the store before its sockets
// close; who waits for a key looks for such a word now and then, and who sees another rank go looks before it says so.
// Not for how ranks find and check each other: exchange.h, connect_mesh.h, connect_remote.h.
#pragma once

#include <exception>
#include <string>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/bootstrap/store.h"

namespace ringtree {

/// Thrown where a rank ended while others connected to it: why, the word that it left may say.
struct EndedPeer : PeerError {
  EndedPeer(int rank, const std::string& what) : PeerError(what, {rank}) {}
};

class Rendezvous {
 public:
  /// `store` must outlive it. Keys begin with `prefix`, which is new for each communicator. Of a single rank: the store
  /// is not used.
  Rendezvous(Store& store, std::string prefix, int rank, int world_size)
      : store_(store), prefix_(std::move(prefix)), rank_(rank), world_size_(world_size) {}

  void set(const std::string& key, const std::string& value) { store_.set(prefix_ + "/" + key, value); }
  /// Waits until a rank sets it, as Store::get(), or until one refuses: throws what that one left.
  std::string get(const std::string& key, Deadline deadline);

  /// Makes the meeting fail on all other ranks, with MismatchError and `reason`, and stays as guard() does. False: the
  /// store has ended, or this rank serves it and no other has heard the reason.
  bool refuse(const std::string& reason);

  /// Runs `body`, a part of the meeting. If it throws: leaves the reason for the others, then calls `hang_up()`, which
  /// closes what they may notice, then stays for a moment (2 s at most; of more than 1,000 ranks 2 ms for each) if this
  /// rank serves the store, until all know.
  /// Throws what `body` threw, but the word of the first rank that refused where that was only that others went, or a
  /// deadline.
  template <class Body, class HangUp>
  void guard(const Body& body, const HangUp& hang_up) {
    try {
      body();
    } catch (...) {
      const std::exception_ptr why = leave_word(std::current_exception());
      hang_up();
      stay();
      std::rethrow_exception(why);
    }
  }

 private:
  struct Word;
  static Word word_of(const std::exception_ptr& why, int rank);
  std::exception_ptr leave_word(std::exception_ptr why);
  void stay();
  int64_t longest_look_ns() const;  // between two looks for a word

  Store& store_;
  const std::string prefix_;
  const int rank_, world_size_;
  // Set by leave_word(), for stay().
  int ended_ = -1;  // a rank that is known to come no more
  double patience_s_ = 0;
};

}  // namespace ringtree
