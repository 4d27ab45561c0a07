// ThreadSanitizer must still see a race for an operand of a kernel or for its result, though it is kept out of the
// kernels' loops (core/reduce/watched_kernels.h). Only under ThreadSanitizer; what kernels compute: tests/core/reduce.
// Not in that folder, whose tests it does not run.
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>
#include <vector>

#include "core/reduce/kernels.h"

#if defined(__SANITIZE_THREAD__)

namespace ringtree {
namespace {

constexpr size_t kCount = 1'000;

/// Another thread writes to one element of `raced` while `use` may read or write it. Ends the process.
template <class Use>
void race_for(std::vector<float>& raced, const Use& use) {
  std::thread writer([&] { raced[kCount / 2 + 1] = 1; });
  use();
  writer.join();
  std::exit(0);
}

TEST(WatchedKernelsDeathTest, races_for_what_a_kernel_reads_and_writes_are_found) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  std::vector<float> a(kCount), b(kCount), c(kCount), out(kCount);
  const void* const inputs[] = {a.data(), b.data(), c.data()};
  const auto fold = [&] { fold_kernel(Dtype::kFloat32, ReduceOp::sum)(out.data(), inputs, 3, kCount); };
  const auto finish = [&] { finish_kernel(Dtype::kFloat32, ReduceOp::avg)(out.data(), kCount, 3); };
  const auto scale = [&] { scale_kernel(Dtype::kFloat32, ReduceOp::premul_sum)(out.data(), a.data(), kCount, 2); };
  const auto found = ::testing::ExitedWithCode(66);  // what the sanitizer makes of any exit after a race
  EXPECT_EXIT(race_for(a, fold), found, "data race");
  EXPECT_EXIT(race_for(c, fold), found, "data race");
  EXPECT_EXIT(race_for(out, fold), found, "data race");
  EXPECT_EXIT(race_for(out, finish), found, "data race");
  EXPECT_EXIT(race_for(a, scale), found, "data race");
  EXPECT_EXIT(race_for(out, scale), found, "data race");
  EXPECT_EXIT(race_for(b, scale), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace ringtree

#endif
