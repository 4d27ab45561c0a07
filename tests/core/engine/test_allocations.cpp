// A call whose plan exists allocates nothing: counted by replacing the allocator of this test program. Sanitizers bring
// their own allocator, so there the counter does not exist and neither do the tests.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "tests/core/engine/rank_threads.h"

namespace {

thread_local long num_allocations = 0;

}  // namespace

void* operator new(size_t bytes) {
  ++num_allocations;
  if (void* memory = std::malloc(bytes > 0 ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace ringtree::testing {
namespace {

TEST(Allocations, are_counted) {
  const long before = num_allocations;
  const std::vector<int> some(100);
  EXPECT_EQ(num_allocations - before, 1) << some.size();
}

TEST(Allocations, there_are_none_in_a_call_whose_plan_exists) {
  for (const char* name : {"ring", "tree", "two_shot", "halving_doubling", "auto"}) {
    expect_all_well(run_communicators(3, test_settings(),
                                      [&](Communicator& communicator) {
                                        std::vector<float> data(100'000, 1);
                                        CallArguments call;
                                        call.op = ReduceOp::max;
                                        call.count = data.size();
                                        call.input = call.output = data.data();
                                        const AlgorithmRef algorithm{name, nullptr, 0};
                                        communicator.call(call, algorithm);
                                        const long before = num_allocations;
                                        for (int i = 0; i < 50; ++i) communicator.call(call, algorithm);
                                        const long count = num_allocations - before;
                                        if (count != 0) throw std::runtime_error(std::to_string(count));
                                      }),
                    name);
  }
}

}  // namespace
}  // namespace ringtree::testing

#endif
