// The table of the protocols: names lead to protocols and back, what a slice may hold fits a slot.
#include <gtest/gtest.h>

#include <string>

#include "core/protocol/protocol.h"
#include "core/schedule/layout.h"

namespace ringtree {
namespace {

TEST(Protocols, are_found_by_their_names) {
  for (const ProtocolInfo& info : kProtocols) {
    EXPECT_EQ(protocol_from_name(info.name), info.protocol);
    EXPECT_EQ(require_protocol(info.name), info.protocol);
    EXPECT_STREQ(protocol_name(info.protocol), info.name) << "the table's order is that of the numbers";
  }
  EXPECT_EQ(protocol_from_name("LL"), std::nullopt);
  EXPECT_EQ(protocol_from_name(""), std::nullopt);
}

TEST(Protocols, an_unknown_name_is_an_error_that_says_what_there_is) {
  try {
    require_protocol("ll64");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_EQ(std::string(error.what()), "unknown protocol 'll64'; choose from: simple, ll, ll128");
  }
}

TEST(Protocols, slices_are_whole_cache_lines_and_no_longer_than_slots) {
  for (const ProtocolInfo& info : kProtocols) {
    EXPECT_EQ(info.slice_bytes % 64, 0u) << info.name;
    EXPECT_LE(info.slice_bytes, kSlotBytes) << info.name;
  }
}

}  // namespace
}  // namespace ringtree
