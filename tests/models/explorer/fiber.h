// Threads that run one at a time: a stack each, switched by hand. The explorer decides at every atomic operation who
// goes on, thousands of times in a millisecond, which threads of the operating system could not do.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <memory>

namespace ringtree::explorer {

class Fiber {
 public:
  /// The stack that runs now: never started, only switched away from and back to.
  Fiber() = default;
  explicit Fiber(size_t stack_bytes);
  Fiber(const Fiber&) = delete;  // a context points into itself
  Fiber& operator=(const Fiber&) = delete;

  /// The next switch to it calls `entry(argument)`, which must never return.
  void prepare(void (*entry)(void*), void* argument);
  void switch_to(Fiber& other) { swapcontext(&context_, &other.context_); }

 private:
  ucontext_t context_{};
  std::unique_ptr<std::byte[]> stack_;
  size_t stack_bytes_ = 0;
};

}  // namespace ringtree::explorer
