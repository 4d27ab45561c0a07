// Tests of printable(): what it leaves alone, what it escapes and where it ends.
#include <gtest/gtest.h>

#include "core/base/printable.h"

namespace ringtree {
namespace {

TEST(Printable, LeavesPlainAsciiAlone) {
  std::string plain;
  for (char c = ' '; c <= '~'; ++c) plain.push_back(c);
  EXPECT_EQ(printable(plain), plain);
}

TEST(Printable, EscapesEveryOtherByte) {
  EXPECT_EQ(printable(std::string_view("a\0\x1b[31m\n\x7f\x80\xc3\xa9\xff", 13)),
            "a\\x00\\x1b[31m\\x0a\\x7f\\x80\\xc3\\xa9\\xff");
}

TEST(Printable, EndsWhereItIsTold) {
  EXPECT_EQ(printable("abcdef", 6), "abcdef");
  EXPECT_EQ(printable("abcdefg", 6), "abcdef...");
  EXPECT_EQ(printable("", 0), "");
}

}  // namespace
}  // namespace ringtree
