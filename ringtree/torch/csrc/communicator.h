// Communicator: one of libringtree's, met through PyTorch's store, and left when it goes.
#pragma once

#include <ringtree.h>

#include <chrono>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace ringtree_torch {

/// A timeout as the library takes it, in which 0 is none: at least a millisecond.
double seconds_of(std::chrono::milliseconds time);

class Communicator {
 public:
  /// Meets the other ranks; blocks until all have come. `name` tells the communicators of one group apart. The id goes
  /// through `store`, under a number that each rank counts by itself, so that a group which is made again with the same
  /// store finds no old id. Without the GIL. Errors as check().
  /// `rules`: a file by which algorithms are chosen (rtConfig_t), "" for none.
  Communicator(c10d::Store& store, const std::string& name, int rank, int size, std::chrono::milliseconds timeout,
               const std::string& rules);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  rtComm_t get() const { return comm_; }
  /// Of this communicator alone, alike on all ranks.
  const std::string& id() const { return id_; }
  /// Of the calls that follow; for the thread that makes them.
  void set_timeout(std::chrono::milliseconds timeout);
  /// Leaves in order; the calls that this rank has started are done first. Later calls fail.
  void leave();
  /// What has become of it. From any thread.
  rtResult_t state() const;
  /// Ends it on all ranks. From any thread.
  void abort(const std::string& reason);

 private:
  rtComm_t comm_ = nullptr;
  std::string id_;
  std::chrono::milliseconds timeout_;
};

}  // namespace ringtree_torch
