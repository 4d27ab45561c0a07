// Runs a fuzz target without any tool: `fuzz_X [executions] [seed]`. Mutates the target's seeds and whatever it made of
// them before, prints the seed, and says how many executions it was. Run it under ASan and UBSan (`make fuzz`).
// Compiled with -DRINGTREE_LIBFUZZER it is libFuzzer's entry instead, which is led by coverage.
#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "tests/fuzz/fuzz.h"

void fuzz_fail(const char* what) {
  std::fprintf(stderr, "fuzzing found: %s\n", what);
  std::abort();
}

#ifdef RINGTREE_LIBFUZZER
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz_one({reinterpret_cast<const char*>(data), size});
  return 0;
}
#else
namespace {

using Random = std::mt19937_64;
constexpr size_t kLongest = 4096;
constexpr size_t kPool = 256;

size_t below(Random& random, size_t end) { return end == 0 ? 0 : static_cast<size_t>(random() % end); }

// One of the changes that find faults in decoders: bits, bytes, numbers at the edges, lengths, pieces moved about.
void mutate(std::string& input, const std::vector<std::string>& pool, Random& random) {
  static constexpr uint64_t kEdges[] = {
      0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, uint64_t{1} << 63, ~uint64_t{0}};
  const size_t at = below(random, input.size() + 1);
  switch (random() % 7) {
    case 0:
      if (at < input.size()) input[at] = static_cast<char>(input[at] ^ (1 << random() % 8));
      break;
    case 1:
      if (at < input.size()) input[at] = static_cast<char>(random());
      break;
    case 2: {
      const uint64_t edge = kEdges[below(random, std::size(kEdges))];
      const size_t width = size_t{1} << random() % 4;
      for (size_t i = 0; i < width && at + i < input.size(); ++i) input[at + i] = static_cast<char>(edge >> (8 * i));
      break;
    }
    case 3:
      input.resize(at);
      break;
    case 4:
      input.insert(at, std::string(1 + below(random, 16), static_cast<char>(random())));
      break;
    case 5: {
      const std::string& other = pool[below(random, pool.size())];
      const size_t from = below(random, other.size() + 1);
      input.insert(at, other.substr(from, below(random, 64)));
      break;
    }
    default:
      input += pool[below(random, pool.size())];
  }
  if (input.size() > kLongest) input.resize(kLongest);
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t executions = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 20'000;
  const uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 20'261'122;
  std::printf("%s: seed %" PRIu64 "\n", argv[0], seed);
  std::fflush(stdout);
  Random random(seed);
  std::vector<std::string> pool = fuzz_seeds();
  for (const std::string& input : pool) fuzz_one(input);
  const size_t num_seeds = pool.size();
  const auto start = std::chrono::steady_clock::now();
  for (uint64_t i = 0; i < executions; ++i) {
    std::string input = pool[below(random, pool.size())];
    const size_t changes = 1 + below(random, 4);
    for (size_t k = 0; k < changes; ++k) mutate(input, pool, random);
    fuzz_one(input);
    if (random() % 64 != 0) continue;  // some live on, so that changes add up; the seeds always do
    if (pool.size() < kPool) {
      pool.push_back(std::move(input));
    } else {
      pool[num_seeds + below(random, kPool - num_seeds)] = std::move(input);
    }
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("%s: %" PRIu64 " executions in %.0f s, nothing found\n", argv[0], executions, seconds);
  return 0;
}
#endif
