/* See driver_data.h. The loops are written so that compilers vectorise them: at 256 MB, writing and checking must not
 * take longer than what is timed. */
#include "driver_data.h"

#include <string.h>

/* The best instructions that the machine has, without asking for a build on it. Not under sanitizers, whose run time is
 * not up yet when the loader picks the variant. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__) && \
    !defined(__SANITIZE_ADDRESS__)
#define EVERY_X86 __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define EVERY_X86
#endif

enum { kBlock = 1024 }; /* elements summed at a time: 4 KB, so checking leaves the caches to the buffers */

/* What is the same for a stretch of 2^32 elements of one rank. */
typedef struct Key {
  uint32_t flip, add;
} Key;

/* SplitMix64's output function (Steele, Lea & Flood 2014). */
static uint64_t mix64(uint64_t word) {
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
  return word ^ (word >> 31);
}

static Key make_key(DriverData data, int rank, size_t index) {
  uint64_t word = mix64(data.seed + 0x9e3779b97f4a7c15u);
  word = mix64(word ^ data.batch);
  word = mix64(word ^ data.pair);
  word = mix64(word ^ (uint64_t)rank);
  word = mix64(word ^ ((uint64_t)index >> 32));
  return (Key){(uint32_t)word, (uint32_t)(word >> 32)};
}

/* 32 bits throughout, because that many more fit into a vector; the low bits of `index` only. */
static inline int32_t element(Key key, uint32_t index) {
  uint32_t word = (index ^ key.flip) * 0x9e3779b1u + key.add;
  word = (word ^ (word >> 15)) * 0x85ebca77u;
  word ^= word >> 13;
  return (int32_t)(word & 4095u) - 2048;
}

int driver_element(DriverData data, int rank, size_t index) {
  return element(make_key(data, rank, index), (uint32_t)index);
}

/* Elements to take at once from `index` on, of `left`: blocks end at multiples of kBlock, which divide 2^32, so one key
 * serves a block. */
static size_t block_length(size_t index, size_t left) {
  const size_t room = kBlock - index % kBlock;
  return left < room ? left : room;
}

EVERY_X86 void driver_fill(DriverData data, int rank, float* to, size_t count) {
  for (size_t start = 0; start < count; start += kBlock) {
    float block[kBlock];
    const Key key = make_key(data, rank, start);
    const uint32_t low = (uint32_t)start;
    const size_t length = block_length(start, count - start);
    for (uint32_t i = 0; i < length; ++i) block[i] = (float)element(key, low + i);
    memcpy((char*)to + start * sizeof(float), block, length * sizeof(float));
  }
}

EVERY_X86 size_t driver_count_wrong(DriverData data, DriverSource source, const float* output, size_t count) {
  size_t wrong = 0;
  for (size_t done = 0; done < count;) {
    float found[kBlock];
    int32_t sums[kBlock] = {0};
    const size_t index = source.start + done, length = block_length(index, count - done);
    const uint32_t low = (uint32_t)index;
    for (int rank = source.first_rank; rank < source.first_rank + source.num_ranks; ++rank) {
      const Key key = make_key(data, rank, index);
      for (uint32_t i = 0; i < length; ++i) sums[i] += element(key, low + i);
    }
    memcpy(found, (const char*)output + done * sizeof(float), length * sizeof(float));
    uint32_t wrong_here = 0;
    for (uint32_t i = 0; i < length; ++i) wrong_here += found[i] != (float)sums[i];
    wrong += wrong_here;
    done += length;
  }
  return wrong;
}
