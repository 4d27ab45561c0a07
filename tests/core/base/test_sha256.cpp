// Tests of sha256.h against vectors of NIST and RFC 4231, and around the borders of blocks against constants that
// Python's hashlib and hmac gave. Not of the time that the comparison takes.
#include <gtest/gtest.h>

#include <string>

#include "core/base/sha256.h"

namespace ringtree {
namespace {

std::string hex(const Sha256Digest& digest) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const uint8_t byte : digest) text.append({kDigits[byte >> 4], kDigits[byte & 15]});
  return text;
}

// In Python: bytes((7 * i + n) % 251 for i in range(n)).
std::string data_of(size_t num_bytes) {
  std::string data;
  for (size_t i = 0; i < num_bytes; ++i) data.push_back(static_cast<char>((7 * i + num_bytes) % 251));
  return data;
}

struct Known {
  size_t num_bytes;
  const char* digest;
};

TEST(Sha256, ExamplesOfNist) {
  EXPECT_EQ(hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hex(sha256(std::string(1'000'000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, LengthsAroundTheBordersOfBlocks) {
  const Known known[] = {
      {0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
      {1, "4bf5122f344554c53bde2ebb8cd2b7e3d1600ad631c385a5d7cce23c7785459a"},
      {31, "6c56c9f0cdd4759c04aa75b8583e11614c25b347c984ca4c6bcb1fdfb09fb268"},
      {54, "de583e181c4237ca50744362694ad929c7ea134a15396e08ec31a45266e17d1b"},
      {55, "d604dc83c754bb5890ec011f3fa0552324cb1412205b5a5e83fd17cd4afe57ed"},
      {56, "0371e3fd4911ce4109ac9aaddc0ebdfe28431802ef70a966cb245da585f2a37e"},
      {57, "bdce47d7bad9c7849a36531ae5ac19e3c4413c87c20f5d00ccda7dcd7c57bdb1"},
      {63, "de8f546e5d44d4fb35d25af2748ed9b6644d200d56b6b0b6e71b095b44348dc6"},
      {64, "35eb8c80b4af970a05040dd151d5edad6172957c1ded27e521fdcf526178feb3"},
      {65, "c96988663bcd3779da5b1c0e499742ff48bf6148d5c044326ce3e5845a80e6ab"},
      {118, "2106e02d575c6a07798c2a49c19e102472087a6ab1b1a7f99dfaf810c9da189a"},
      {119, "7fb3869648ad8420f2e1a20812a61ba45c3db01dc7b391d48c2a8c1d6f41be35"},
      {120, "9db2bb35e3e98f502b654e82f0051eebfa45015e36ed8c3a28d44586eff7372b"},
      {121, "431f7b6edfb2b0130ca659d8c7ce71dc6826b58def13b86c97da12271ddc960e"},
      {127, "f2a5ec436d60185c6d1c274da6d60d8e38d7de6b739c0fbd043d0de24db2b7ad"},
      {128, "086e64af3be4bef59202dea267776bbbbe6264ad9ff0b46345743fffc446238e"},
      {129, "e565f4d90d1ed354380468d6d343eb77934d2362da37e18371bfc631691f5cab"},
      {1000, "e66c6563e3797f84573ef7dfe3a460d5d579967297ef20150d89f0c6e358221e"},
  };
  for (const auto& [num_bytes, digest] : known) EXPECT_EQ(hex(sha256(data_of(num_bytes))), digest) << num_bytes;
}

TEST(HmacSha256, VectorsOfRfc4231) {
  EXPECT_EQ(hex(hmac_sha256(std::string(20, '\x0b'), "Hi There")),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(hex(hmac_sha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(hex(hmac_sha256(std::string(20, '\xaa'), std::string(50, '\xdd'))),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
  std::string counting;
  for (char byte = 1; byte <= 25; ++byte) counting.push_back(byte);
  EXPECT_EQ(hex(hmac_sha256(counting, std::string(50, '\xcd'))),
            "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b");
  EXPECT_EQ(hex(hmac_sha256(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
  EXPECT_EQ(hex(hmac_sha256(std::string(131, '\xaa'),
                            "This is a test using a larger than block-size key and a larger than block-size data. The "
                            "key needs to be hashed before being used by the HMAC algorithm.")),
            "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2");
}

TEST(HmacSha256, KeysAroundTheLengthOfABlock) {
  const Known known[] = {
      {0, "1dc61e6cec71e1b7ecd619e74f360f02cd3c27a07be4bb16b51e68614ab34fef"},
      {1, "a7e4ac23d0a9189a2edd28c3adaf308db674e8e587c5338e4630f80f27edf7b3"},
      {63, "d601c65e67e76e66780df38137265bedfe4c9e09db34351272955608a9271020"},
      {64, "aff6bd2c6240b8582c46cc8eb4d4d93598eaadee1873174ab4078ac3e33641b1"},
      {65, "0abb48ff143eec54bda68106086e3844e08a4f13cce679bf5cd0b4daccd44101"},
      {128, "d7b0f3f19188518845e1a1473fae3181bcfb8f241d8417ee4a608f13df8fd864"},
  };
  for (const auto& [num_bytes, digest] : known) {
    EXPECT_EQ(hex(hmac_sha256(data_of(num_bytes), "ringtree")), digest) << num_bytes;
  }
}

TEST(EqualInConstantTime, SeesEverySingleBit) {
  const std::string a = data_of(65);
  EXPECT_TRUE(equal_in_constant_time(a, data_of(65)));
  for (size_t bit = 0; bit < 8 * a.size(); ++bit) {
    std::string b = a;
    b[bit / 8] = static_cast<char>(b[bit / 8] ^ (1 << bit % 8));
    EXPECT_FALSE(equal_in_constant_time(a, b)) << bit;
  }
}

TEST(EqualInConstantTime, OtherLengthsDiffer) {
  EXPECT_TRUE(equal_in_constant_time("", ""));
  EXPECT_FALSE(equal_in_constant_time("", "a"));
  EXPECT_FALSE(equal_in_constant_time("ab", "a"));
  EXPECT_FALSE(equal_in_constant_time("a", std::string_view("a\0", 2)));
}

// Two differences must not cancel out, as they would in a sum.
TEST(EqualInConstantTime, DifferencesDoNotCancel) {
  EXPECT_FALSE(equal_in_constant_time("ab", "ba"));
  EXPECT_FALSE(equal_in_constant_time("aa", "bb"));
}

}  // namespace
}  // namespace ringtree
