// CallerLock: a lock that whoever makes calls holds, and that other ranks of its process may need: Python's. A small
// call is done sooner than such a lock is given back and taken again, so its caller keeps it until the call has to
// wait.
#pragma once

namespace ringtree {

class CallerLock {
 public:
  /// Gives the lock back, unless that was done before; the caller takes it again when its call has returned. Called on
  /// the calling thread before anything that may wait for another thread or rank, or that takes long. Does not throw.
  virtual void let_go() = 0;

 protected:
  ~CallerLock() = default;
};

/// Null: the caller holds none.
inline void let_go(CallerLock* lock) {
  if (lock) lock->let_go();
}

}  // namespace ringtree
