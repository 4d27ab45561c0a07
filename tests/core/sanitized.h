// Whether a sanitizer watches, with which everything takes longer: tests then repeat less. Nothing is left out that
// threads, waits or links could go wrong in.
#pragma once

namespace ringtree::testing {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

/// Always, but under a sanitizer: there all up to 9, and 16, 17, 33 and 64. For tests that go through many numbers of
/// ranks in one thread: what lies between runs the same lines on arrays of other lengths, and that the schedules are
/// right for these too is seen without a sanitizer.
constexpr bool worth_running(int num_ranks) {
  if (!kSanitized || num_ranks <= 9) return true;
  return num_ranks == 16 || num_ranks == 17 || num_ranks == 33 || num_ranks == 64;
}

}  // namespace ringtree::testing
