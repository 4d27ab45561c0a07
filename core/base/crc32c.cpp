// See crc32c.h. The polynomial's bits are reflected, as in iSCSI: the lowest bit of a byte comes first.
//
// The instruction takes 8 bytes in 3 cycles, one after the other. Three chains side by side would hide that latency and
// be up to three times as fast, for a table that joins the chains; rejected until a profile asks for it.
#include "core/base/crc32c.h"

#include <array>

#if defined(__x86_64__)
#include <nmmintrin.h>

#include <cstring>
#endif

namespace ringtree {
namespace {

constexpr uint32_t kPolynomial = 0x82f63b78;  // 0x1edc6f41 reflected
constexpr size_t kWord = 8;

using Table = std::array<std::array<uint32_t, 256>, kWord>;

// table[k][b]: what byte b followed by k zero bytes does to the CRC. With all eight, eight bytes are looked up at once
// instead of one behind the other ("slicing-by-8", Kounavis and Berry 2005).
constexpr Table make_table() {
  Table table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? kPolynomial : 0);
    table[0][byte] = crc;
  }
  for (size_t zeros = 1; zeros < kWord; ++zeros) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint32_t before = table[zeros - 1][byte];
      table[zeros][byte] = before >> 8 ^ table[0][before & 0xff];
    }
  }
  return table;
}

constexpr Table kTable = make_table();

uint32_t crc32c_table(const void* data, size_t bytes, uint32_t crc) {
  const auto* at = static_cast<const unsigned char*>(data);
  crc = ~crc;
  for (; bytes >= kWord; bytes -= kWord, at += kWord) {
    // Byte by byte, so that the order of bytes in this processor's words does not matter.
    crc = kTable[7][at[0] ^ (crc & 0xff)] ^ kTable[6][at[1] ^ (crc >> 8 & 0xff)] ^
          kTable[5][at[2] ^ (crc >> 16 & 0xff)] ^ kTable[4][at[3] ^ crc >> 24] ^ kTable[3][at[4]] ^ kTable[2][at[5]] ^
          kTable[1][at[6]] ^ kTable[0][at[7]];
  }
  for (; bytes > 0; --bytes, ++at) crc = crc >> 8 ^ kTable[0][(crc ^ *at) & 0xff];
  return ~crc;
}

#if defined(__x86_64__)
// The attribute compiles this function alone for SSE4.2; no function of a header is called in it, of which the linker
// might keep this copy for all (as core/reduce/codecs.h explains).
__attribute__((target("sse4.2"))) uint32_t crc32c_sse42(const void* data, size_t bytes, uint32_t crc) {
  const auto* at = static_cast<const unsigned char*>(data);
  uint64_t wide = ~crc;
  for (; bytes >= kWord; bytes -= kWord, at += kWord) {
    uint64_t word;
    std::memcpy(&word, at, kWord);
    wide = _mm_crc32_u64(wide, word);
  }
  auto narrow = static_cast<uint32_t>(wide);
  for (; bytes > 0; --bytes, ++at) narrow = _mm_crc32_u8(narrow, *at);
  return ~narrow;
}

constexpr Crc32cVariant kVariants[] = {{"table", crc32c_table}, {"sse42", crc32c_sse42}};

size_t num_variants() { return __builtin_cpu_supports("sse4.2") ? 2 : 1; }
#else
constexpr Crc32cVariant kVariants[] = {{"table", crc32c_table}};

size_t num_variants() { return 1; }
#endif

}  // namespace

std::span<const Crc32cVariant> crc32c_variants() { return {kVariants, num_variants()}; }

uint32_t crc32c(const void* data, size_t bytes, uint32_t crc) {
  static const Crc32cVariant fastest = crc32c_variants().back();
  return fastest.crc32c(data, bytes, crc);
}

}  // namespace ringtree
