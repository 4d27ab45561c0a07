// A call whose plan exists allocates nothing: counted by replacing the allocator of this test program. Sanitizers bring
// their own allocator, so there the counter does not exist and neither do the tests.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

#include <gtest/gtest.h>

#include <algorithm>
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

// Makes the calls once, then counts what `num_rounds` more rounds of them allocate on this rank.
void expect_none(Communicator& communicator, const std::vector<AlgorithmRef>& algorithms,
                 const std::vector<size_t>& counts, int num_rounds) {
  std::vector<float> data(*std::max_element(counts.begin(), counts.end()), 1);
  std::vector<Call> calls;
  for (const AlgorithmRef& algorithm : algorithms)
    for (size_t count : counts) {
      Call& call = calls.emplace_back();
      call.op = ReduceOp::max;
      call.count = count;
      call.input = call.output = data.data();
      call.algorithm = algorithm;
    }
  const auto call_all = [&] {
    for (const Call& call : calls) communicator.run(call);
  };
  call_all();
  const long before = num_allocations;
  for (int i = 0; i < num_rounds; ++i) call_all();
  if (num_allocations != before) throw std::runtime_error(std::to_string(num_allocations - before) + " allocations");
}

constexpr const char* kNames[] = {"ring", "tree", "two_shot", "halving_doubling", "recursive_doubling", "auto"};

TEST(Allocations, there_are_none_in_a_call_whose_plan_exists) {
  for (const ProtocolInfo& info : kProtocols)
    for (const char* name : kNames)
      for (size_t count : {0, 10, 100'000})
        expect_all_well(run_communicators(3, test_settings(),
                                          [&](Communicator& communicator) {
                                            expect_none(communicator, {by(name, info.protocol)}, {count}, 50);
                                          }),
                        std::string(name) + ", " + info.name + ", count " + std::to_string(count));
}

// What a training loop does: the same few sizes again and again. (Kinds that share a place in PreparedCalls push each
// other out and are prepared again; these do not.)
TEST(Allocations, there_are_none_in_calls_that_take_turns) {
  expect_all_well(run_communicators(2, test_settings(), [&](Communicator& communicator) {
    expect_none(communicator, {by("ring"), by("two_shot")}, {1, 20, 333, 4'444}, 20);
  }));
}

// Events have their memory before the call; what a call adds is a few words about it, however many slices it has.
TEST(Allocations, there_are_none_in_the_slice_steps_of_a_traced_call) {
  expect_all_well(run_communicators(2, test_settings(), [&](Communicator& communicator) {
    std::vector<float> data(size_t{4} << 20, 1.0f);
    Call call;
    call.op = ReduceOp::max;
    call.count = data.size();
    call.input = call.output = data.data();
    call.algorithm = by("ring");
    communicator.run(call);
    communicator.start_trace(100'000);
    communicator.run(call);
    const long before = num_allocations;
    communicator.run(call);
    const long added = num_allocations - before;
    const Trace trace = communicator.take_trace();
    if (trace.events.size() < 700)
      throw std::runtime_error("too few events to be sure");  // 3 steps of 128 slices, twice
    if (added > 2) throw std::runtime_error(std::to_string(added) + " allocations");
  }));
}

}  // namespace
}  // namespace ringtree::testing

#endif
