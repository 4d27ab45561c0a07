// Where exceptions end: what a body throws becomes a result and two texts, this thread's and the communicator's. No
// exception leaves the library. The mapping from C++ errors to results is in errors.cpp and nowhere else.
#pragma once

#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

#include "ringtree.h"

namespace ringtree::capi {

/// What this layer itself finds, with the result that it stands for.
struct ResultError : std::runtime_error {
  ResultError(rtResult_t code, const std::string& text) : std::runtime_error(text), result(code) {}
  rtResult_t result;
};

/// ResultError(rtInvalidArgument, …).
[[noreturn]] void refuse_argument(const std::string& text);
/// ResultError(rtInvalidUsage, …).
[[noreturn]] void refuse_usage(const std::string& text);

/// For a pointer through which a function returns something.
template <class Type>
Type& require_out(Type* pointer, const char* name) {
  if (!pointer) refuse_argument(std::string(name) + " is NULL");
  return *pointer;
}

/// For a duration that a caller gave: rtInvalidArgument unless it is 0 or above, and one that the clock can count.
void require_seconds(double seconds, const char* name);

/// Result and text of what was thrown. "" if there is no memory for the text.
std::pair<rtResult_t, std::string> describe(const std::exception_ptr& error) noexcept;

/// In a handler: the result of the exception that is being handled. Its text becomes this thread's last error and, if
/// `comm` is a communicator, also that one's.
rtResult_t keep_current_exception(rtComm_t comm) noexcept;

/// This thread's last error; "" if there was none.
const char* last_error_of_thread() noexcept;
void set_last_error_of_thread(const char* text) noexcept;

/// Runs `body`; rtSuccess, or the result of what it threw.
template <class Body>
rtResult_t guarded(rtComm_t comm, Body&& body) noexcept {
  try {
    body();
    return rtSuccess;
  } catch (...) {
    return keep_current_exception(comm);
  }
}

}  // namespace ringtree::capi
