// Tests of crc32c.h: every variant against the vectors of RFC 3720 and a bit-by-bit reference, at every alignment and
// cut in two anywhere. Not of its speed.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/crc32c.h"

namespace ringtree {
namespace {

// Division of polynomials as one does it by hand, a bit at a time; slow and obvious.
uint32_t bitwise(const unsigned char* data, size_t bytes, uint32_t crc) {
  crc = ~crc;
  for (size_t bit = 0; bit < 8 * bytes; ++bit) {
    const bool carry = ((crc ^ data[bit / 8] >> bit % 8) & 1) != 0;
    crc >>= 1;
    if (carry) crc ^= 0x82f63b78;
  }
  return ~crc;
}

std::vector<unsigned char> random_bytes_of(size_t bytes, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<unsigned char> data(bytes);
  for (unsigned char& byte : data) byte = static_cast<unsigned char>(random());
  return data;
}

class Crc32c : public ::testing::TestWithParam<Crc32cVariant> {
 protected:
  static uint32_t of(std::string_view text) { return GetParam().crc32c(text.data(), text.size(), 0); }
};

TEST_P(Crc32c, VectorsOfRfc3720) {
  std::string up, down;
  for (int i = 0; i < 32; ++i) {
    up.push_back(static_cast<char>(i));
    down.push_back(static_cast<char>(31 - i));
  }
  EXPECT_EQ(of(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(of(std::string(32, '\xff')), 0x62a8ab43u);
  EXPECT_EQ(of(up), 0x46dd794eu);
  EXPECT_EQ(of(down), 0x113fdb5cu);
  std::string scsi_read(48, '\0');  // a command PDU of iSCSI that reads
  const std::pair<size_t, int> set[] = {{0, 0x01},  {1, 0xc0},  {16, 0x14}, {22, 0x04},
                                        {27, 0x14}, {31, 0x18}, {32, 0x28}, {40, 0x02}};
  for (const auto& [at, byte] : set) scsi_read[at] = static_cast<char>(byte);
  EXPECT_EQ(of(scsi_read), 0xd9963a56u);
  EXPECT_EQ(of("123456789"), 0xe3069283u);  // the "check" of catalogues of CRCs
}

TEST_P(Crc32c, EveryAlignmentAndLengthAsBitByBit) {
  const auto data = random_bytes_of(16 + 200, 20260101);
  for (size_t shift = 0; shift < 16; ++shift) {
    for (size_t bytes = 0; bytes <= 200; ++bytes) {
      ASSERT_EQ(GetParam().crc32c(data.data() + shift, bytes, 0), bitwise(data.data() + shift, bytes, 0))
          << bytes << " bytes, " << shift << " behind the start";
    }
  }
}

TEST_P(Crc32c, MuchAsBitByBit) {
  const auto data = random_bytes_of(100'003, 20260102);
  EXPECT_EQ(GetParam().crc32c(data.data(), data.size(), 0), bitwise(data.data(), data.size(), 0));
}

TEST_P(Crc32c, ContinuesWhereAnotherEnded) {
  const auto data = random_bytes_of(100, 20260103);
  const uint32_t whole = bitwise(data.data(), data.size(), 0);
  for (size_t cut = 0; cut <= data.size(); ++cut) {
    const uint32_t first = GetParam().crc32c(data.data(), cut, 0);
    EXPECT_EQ(GetParam().crc32c(data.data() + cut, data.size() - cut, first), whole) << cut;
  }
}

TEST_P(Crc32c, SeesEverySingleBit) {
  auto data = random_bytes_of(64, 20260104);
  const uint32_t whole = GetParam().crc32c(data.data(), data.size(), 0);
  for (size_t bit = 0; bit < 8 * data.size(); ++bit) {
    const auto mask = static_cast<unsigned char>(1 << bit % 8);
    data[bit / 8] ^= mask;
    EXPECT_NE(GetParam().crc32c(data.data(), data.size(), 0), whole) << bit;
    data[bit / 8] ^= mask;
  }
}

TEST_P(Crc32c, NothingChangesNothing) {
  EXPECT_EQ(GetParam().crc32c(nullptr, 0, 0), 0u);
  EXPECT_EQ(GetParam().crc32c(nullptr, 0, 0xdeadbeef), 0xdeadbeefu);
}

INSTANTIATE_TEST_SUITE_P(Variants, Crc32c, ::testing::ValuesIn(crc32c_variants().begin(), crc32c_variants().end()),
                         [](const auto& of) { return std::string(of.param.name); });

TEST(Crc32cDispatch, ComputesLikeItsVariants) {
  const auto data = random_bytes_of(1'001, 20260105);
  EXPECT_EQ(crc32c(data.data(), data.size()), bitwise(data.data(), data.size(), 0));
  EXPECT_EQ(crc32c(data.data() + 1, 1'000, crc32c(data.data(), 1)), bitwise(data.data(), data.size(), 0));
}

}  // namespace
}  // namespace ringtree
