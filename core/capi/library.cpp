// What ringtree.h offers without a communicator: version, texts of results and failures, shared memory.
#include <map>
#include <memory>
#include <mutex>

#include "core/capi/errors.h"
#include "core/capi/handle.h"
#include "core/engine/failure.h"
#include "core/transport/shared_buffer.h"

static_assert(RT_MAJOR == RINGTREE_VERSION_MAJOR && RT_MINOR == RINGTREE_VERSION_MINOR &&
                  RT_PATCH == RINGTREE_VERSION_PATCH,
              "the version in ringtree.h is not the project's");

namespace ringtree::capi {
namespace {

struct SharedMemory {
  std::mutex mutex;  // protects `given_out`
  std::map<void*, std::shared_ptr<Segment>> given_out;
};

SharedMemory& shared_memory() {
  static auto* const memory = new SharedMemory;  // never destroyed: static destructors may give memory back
  return *memory;
}

// What ended the communicator, else the newest failure of a call with it.
std::string error_of(rtComm& comm) {
  if (comm.communicator)
    if (const auto failure = comm.communicator->failure()) return failure->text;
  return comm.error();
}

}  // namespace
}  // namespace ringtree::capi

using namespace ringtree;
using namespace ringtree::capi;

rtResult_t rtGetVersion(int* version) {
  return guarded(nullptr, [&] { require_out(version, "version") = RT_VERSION_CODE; });
}

const char* rtGetErrorString(rtResult_t result) {
  switch (result) {
    case rtSuccess:
      return "no error";
    case rtSystemError:
      return "a system call failed, or another rank failed";
    case rtInternalError:
      return "a bug in ringtree";
    case rtInvalidArgument:
      return "invalid argument";
    case rtInvalidUsage:
      return "invalid usage: the call is not allowed like this, or not now";
    case rtRemoteError:
      return "another rank died or left";
    case rtInProgress:
      return "not done yet";
    case rtTimeout:
      return "a deadline passed";
    case rtMismatch:
      return "the ranks are in different calls";
    case rtMaxResult:
      break;
  }
  return "unknown result";
}

const char* rtGetLastError(rtComm_t comm) {
  if (!comm) return last_error_of_thread();
  thread_local std::string text;  // another thread may change the communicator's while the caller reads this
  try {
    text = error_of(*comm);
  } catch (...) {
    text.clear();
  }
  return text.c_str();
}

rtResult_t rtMemAlloc(void** ptr, size_t size) {
  return guarded(nullptr, [&] {
    void*& given = require_out(ptr, "ptr");
    given = nullptr;
    const std::shared_ptr<Segment> segment = allocate_shared(size);
    SharedMemory& memory = shared_memory();
    const std::lock_guard lock(memory.mutex);
    memory.given_out[segment->data()] = segment;
    given = segment->data();
  });
}

rtResult_t rtMemFree(void* ptr) {
  return guarded(nullptr, [&] {
    if (!ptr) return;
    SharedMemory& memory = shared_memory();
    std::shared_ptr<Segment> last;  // goes after the lock, as it takes one itself
    const std::lock_guard lock(memory.mutex);
    const auto entry = memory.given_out.find(ptr);
    if (entry == memory.given_out.end()) refuse_argument("this memory is not from rtMemAlloc(), or was already freed");
    last = std::move(entry->second);
    memory.given_out.erase(entry);
  });
}
