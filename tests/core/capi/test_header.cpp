// That ringtree.h means the same in C99 and in C++, and that the library's version is the header's. The C side is in
// header_in_c99.c.
#include <gtest/gtest.h>
#include <ringtree.h>

#include <cstring>
#include <string>

extern "C" {
rtConfig_t c99_config(void);
int c99_uses_the_header(void);
}

namespace {

TEST(Header, works_in_c99) { EXPECT_EQ(c99_uses_the_header(), 0) << "the check of that number in header_in_c99.c"; }

TEST(Header, initializes_alike_in_c_and_cpp) {
  const rtConfig_t in_c = c99_config(), in_cpp = RT_CONFIG_INITIALIZER;
  EXPECT_EQ(in_c.size, sizeof(rtConfig_t));
  EXPECT_EQ(in_c.size, in_cpp.size);
  EXPECT_EQ(in_c.timeout_s, in_cpp.timeout_s);
  EXPECT_EQ(in_c.memory_cap_bytes, in_cpp.memory_cap_bytes);
  EXPECT_EQ(in_c.num_channels, in_cpp.num_channels);
  EXPECT_EQ(in_c.shared_buffers, in_cpp.shared_buffers);
  EXPECT_EQ(in_c.deterministic, in_cpp.deterministic);
  EXPECT_EQ(in_c.rules_path, in_cpp.rules_path);
  EXPECT_EQ(in_c.interrupted, in_cpp.interrupted);
}

TEST(Header, is_of_the_librarys_version) {
  int version = 0;
  ASSERT_EQ(rtGetVersion(&version), rtSuccess);
  EXPECT_EQ(version, RT_VERSION(RT_MAJOR, RT_MINOR, RT_PATCH));
  EXPECT_EQ(rtGetVersion(nullptr), rtInvalidArgument);
}

TEST(UniqueIds, are_texts_that_differ) {
  rtUniqueId one, two;
  ASSERT_EQ(rtGetUniqueId(&one), rtSuccess);
  ASSERT_EQ(rtGetUniqueId(&two), rtSuccess);
  EXPECT_NE(std::memchr(one.internal, 0, sizeof one.internal), nullptr);
  EXPECT_STRNE(one.internal, two.internal);
}

}  // namespace
