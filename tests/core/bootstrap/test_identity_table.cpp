// The table of ranks as values of a store: in one part and in several, and what is refused of a table that somebody
// else wrote. Not for who writes and reads it: test_exchange.cpp.
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/bootstrap/identity_table.h"

namespace ringtree::testing {
namespace {

std::string joined(const std::vector<std::string>& parts) {
  std::string all;
  for (const std::string& part : parts) all += part;
  return all;
}

TEST(IdentityTable, comes_back_from_however_many_parts) {
  const std::vector<std::string> records{"first", "", std::string(100, 'x'), "last"};
  // Header, four lengths and 109 bytes: 137.
  for (const size_t part_bytes : {12, 16, 17, 68, 69, 136, 137, 138, 1000}) {
    const std::vector<std::string> parts = encode_table(records, part_bytes);
    EXPECT_EQ(parts.size(), (137 + part_bytes - 1) / part_bytes);
    for (const std::string& part : parts) EXPECT_LE(part.size(), part_bytes);
    EXPECT_EQ(num_parts_of(parts.front(), part_bytes), parts.size());
    EXPECT_EQ(decode_table(joined(parts)), records);
  }
}

TEST(IdentityTable, that_is_cut_short_or_goes_on_is_not_read) {
  const std::string table = joined(encode_table({"first", "second"}));
  for (size_t size = 0; size < table.size(); ++size) EXPECT_EQ(decode_table(table.substr(0, size)), std::nullopt);
  EXPECT_EQ(decode_table(table + "x"), std::nullopt);
  for (size_t size = 0; size < 12; ++size) EXPECT_EQ(num_parts_of(table.substr(0, size)), std::nullopt);
}

TEST(IdentityTable, with_a_changed_byte_is_other_records_or_not_read) {
  const std::vector<std::string> records{"first", "second"};
  const std::string table = joined(encode_table(records));
  for (size_t at = 0; at < table.size(); ++at) {
    std::string changed = table;
    changed[at] = static_cast<char>(changed[at] ^ 0x5a);
    const bool is_of_a_record = (at >= 16 && at < 21) || at >= 25;
    EXPECT_EQ(decode_table(changed).has_value(), is_of_a_record) << "byte " << at;
    EXPECT_NE(decode_table(changed), records) << "byte " << at;
  }
}

TEST(IdentityTable, of_impossible_length_is_planned_for_by_nobody) {
  const auto header = [](const std::string& num_records, const std::string& body_bytes) {
    return joined(encode_table({"x"})).substr(0, 4) + num_records + body_bytes;
  };
  const std::string none(4, '\0'), one("\x01\0\0\0", 4), most("\xff\xff\xff\xff", 4), enough("\0\0\xf0\x01", 4);
  EXPECT_EQ(num_parts_of(header(one, enough)), 497U);  // 31 MiB of records in parts of 64 KiB, and the header
  EXPECT_EQ(num_parts_of(header(one, most)), std::nullopt);
  EXPECT_EQ(num_parts_of(header(most, enough)), std::nullopt);
  EXPECT_EQ(num_parts_of(header(none, none)), std::nullopt);
  EXPECT_EQ(num_parts_of(header(one, none)), std::nullopt);
}

TEST(IdentityTable, above_the_limit_is_refused) {
  const std::vector<std::string> records(32, std::string(size_t{1} << 20, 'x'));
  EXPECT_THROW(encode_table(records), UsageError);
}

}  // namespace
}  // namespace ringtree::testing
