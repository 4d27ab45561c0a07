// What tests expect of explorations, with the trace in the message when it is not so.
#pragma once

#include <gtest/gtest.h>

#include "tests/models/explorer/explorer.h"

namespace ringtree::explorer {

/// Every execution was tried, and none went wrong.
inline void expect_right(const Result& result) {
  EXPECT_EQ(result.fault, Fault::none) << result.what;
  EXPECT_TRUE(result.is_exhaustive) << "not all executions were tried: " << result.executions << " and "
                                    << result.redundant << " redundant ones";
}

/// Some execution went wrong in this way.
inline void expect_fault(const Result& result, Fault fault) {
  EXPECT_EQ(result.fault, fault) << fault_name(fault) << " was expected after " << result.executions
                                 << " executions, not " << (result.fault == Fault::none ? "none" : result.what);
}

/// Some execution read what no happens-before edge said was written: too early, or while it was written.
inline void expect_unordered(const Result& result) {
  EXPECT_TRUE(result.fault == Fault::race || result.fault == Fault::uninitialised) << result.what;
}

}  // namespace ringtree::explorer
