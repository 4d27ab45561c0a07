// A group of calls that run together: any number of collectives and transfers, with any number of communicators, given
// one after the other and begun at the end. Who calls several ranks or communicators from one thread needs it, and who
// sends and receives at once; it is what ncclGroupStart and ncclGroupEnd are for.
//
// Each communicator runs at the same time as the others. Of one communicator all transfers come first, at once, then
// its collectives in the order in which they were given. That order is the same on all ranks whatever the order in
// which a rank gave the two kinds, so ranks that call alike cannot lock up.
//
// For: C API and bindings. Not for: what must hold between ranks, which is the communicator's; nothing here is agreed.
#pragma once

#include <exception>
#include <memory>
#include <vector>

#include "core/engine/communicator.h"

namespace ringtree {

/// The calls of a group in the background. From any thread.
class GroupWork {
 public:
  /// True once all calls have ended, well or not.
  bool test() const;

  /// Waits until all have ended and throws what the first of those threw that failed, in the order of Group::run().
  /// TimeoutError: not all have ended within `timeout_s` seconds (0: no limit), which test() tells from a call's own.
  /// Interrupted: `interrupted` said so while waiting. The calls go on in both cases.
  void wait(double timeout_s = 0, InterruptCheck interrupted = nullptr) const;

 private:
  friend class Group;
  struct Begun {
    std::shared_ptr<Work> work;  // null: it could not be started
    std::exception_ptr error;    // why not
  };
  std::vector<Begun> begun_;
};

/// Used by one thread. Communicators, buffers, and schedules of the user's own, must live until the group has run.
class Group {
 public:
  /// Its counts are copied.
  void add(Communicator& communicator, const Call& call);
  /// The transfers of a communicator share a deadline: the latest that was given. 0: the communicator's.
  void add(Communicator& communicator, const Transfer& transfer, double timeout_s = 0);
  bool empty() const { return parts_.empty(); }

  /// Runs all and leaves the group empty. All are tried, also where one fails: the others of this rank's peers are
  /// under way. Throws what the first of those threw that failed: communicators in the order of their first call,
  /// of each its transfers, then its collectives. With several communicators an interrupt ends all of them.
  void run();
  /// The same in the background (Communicator::start); what fails is told by the work.
  GroupWork start();

 private:
  struct Part {
    Communicator* communicator = nullptr;
    std::vector<Transfer> transfers;
    double transfers_timeout_s = 0;
    std::vector<KeptCall> calls;
  };

  Part& part_of(Communicator& communicator);
  static void run_here(const Part& part);
  static GroupWork start(const std::vector<Part>& parts);

  std::vector<Part> parts_;
};

}  // namespace ringtree
