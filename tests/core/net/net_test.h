// Helpers of this folder's tests: patience, the message of an exception, and addresses that must parse. Not for ranks:
// tests/core/bootstrap/rank_threads.h.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/net/address.h"

namespace ringtree::testing {

// Far longer than anything takes here, also with many jobs on few cores.
inline Deadline patience() { return Deadline::after_seconds(30.0); }

/// The message of the UsageError that `body` throws; "" if it throws none.
inline std::string usage_error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// What parse() makes of `text`; throws std::bad_optional_access if it makes nothing of it.
inline Address address_of(const std::string& text) { return Address::parse(text).value(); }

}  // namespace ringtree::testing
