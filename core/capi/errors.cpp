// See errors.h.
#include "core/capi/errors.h"

#include <new>
#include <utility>

#include "core/base/error.h"
#include "core/capi/handle.h"

namespace ringtree::capi {
namespace {

thread_local std::string last_error;

// Result and text of the exception that is being handled. The order matters: what is derived comes before its base.
std::pair<rtResult_t, std::string> describe_current_exception() {
  try {
    throw;
  } catch (const ResultError& error) {
    return {error.result, error.what()};
  } catch (const UsageError& error) {
    return {rtInvalidUsage, error.what()};
  } catch (const PeerError& error) {
    return {rtRemoteError, error.what()};
  } catch (const TimeoutError& error) {
    return {rtTimeout, error.what()};
  } catch (const MismatchError& error) {
    return {rtMismatch, error.what()};
  } catch (const WorldError& error) {
    return {rtSystemError, error.what()};
  } catch (const std::bad_alloc&) {
    return {rtSystemError, "out of memory"};
  } catch (const std::exception& error) {
    return {rtInternalError, std::string("a bug in ringtree: ") + error.what()};
  } catch (...) {
    return {rtInternalError, "a bug in ringtree: something was thrown that is not an exception"};
  }
}

}  // namespace

void refuse_argument(const std::string& text) { throw ResultError(rtInvalidArgument, text); }
void refuse_usage(const std::string& text) { throw ResultError(rtInvalidUsage, text); }

void require_seconds(double seconds, const char* name) {
  constexpr double kMost = 1e9;  // 31 years; nanoseconds since the machine started must fit 64 bits
  if (!(seconds >= 0) || seconds > kMost) refuse_argument(std::string(name) + " must be within 0..1e9 seconds");
}

std::pair<rtResult_t, std::string> describe(const std::exception_ptr& error) noexcept {
  try {
    std::rethrow_exception(error);
  } catch (...) {
    try {
      return describe_current_exception();
    } catch (...) {
      return {rtSystemError, ""};
    }
  }
}

rtResult_t keep_current_exception(rtComm_t comm) noexcept {
  try {
    auto [result, text] = describe_current_exception();
    if (comm) comm->keep_error(text);
    last_error = std::move(text);
    return result;
  } catch (...) {  // no memory for the text
    last_error.clear();
    return rtSystemError;
  }
}

const char* last_error_of_thread() noexcept { return last_error.c_str(); }

void set_last_error_of_thread(const char* text) noexcept {
  try {
    last_error = text;
  } catch (...) {
    last_error.clear();
  }
}

}  // namespace ringtree::capi
