// What an rtComm_t points to: a communicator, the store that it was made through, and what the C API keeps beside it.
// A handle is never given back to the system, so that one which was destroyed can be told from one that is alive
// without reading freed memory. That costs a few hundred bytes for each communicator that a process ever makes.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/bootstrap/store.h"
#include "core/engine/communicator.h"
#include "ringtree.h"

/// Named as in ringtree.h. Destroying is not for while another thread uses it; errors may be kept from any thread.
struct rtComm {
  /// Through which the ranks met; shared with what was split off, which may be split again. Null after rtCommShrink(),
  /// whose communicators keep theirs themselves.
  std::shared_ptr<ringtree::Store> store;
  std::unique_ptr<ringtree::Communicator> communicator;  // null: destroyed
  /// Of rtRedOpCreatePreMulSum(), by number; empty: free.
  std::vector<std::optional<double>> factors;
  /// rtBarrier()'s, whose buffers must live until a group has run.
  int32_t barrier_input = 1, barrier_output = 0;

  /// Of rtCommSetTimeout(): 0 means the communicator's. Atomic, as messages are posted from any thread.
  std::atomic<double> timeout_s{0};

  void keep_error(const std::string& text);
  std::string error() const;

 private:
  mutable std::mutex mutex_;  // protects error_
  std::string error_;         // "" if there was none
};

namespace ringtree::capi {

rtComm_t make_handle(std::shared_ptr<Store> store, std::unique_ptr<Communicator> communicator);

/// Throws rtInvalidArgument if `comm` is NULL or was destroyed.
rtComm& require(rtComm_t comm);

}  // namespace ringtree::capi
