// See fiber.h.
#include "tests/models/explorer/fiber.h"

#include <cstdint>
#include <cstdlib>

namespace ringtree::explorer {
namespace {

// makecontext passes ints only: a pointer travels as two.
void trampoline(unsigned entry_high, unsigned entry_low, unsigned argument_high, unsigned argument_low) {
  const auto whole = [](unsigned high, unsigned low) { return static_cast<uintptr_t>(uint64_t{high} << 32 | low); };
  const auto entry = reinterpret_cast<void (*)(void*)>(whole(entry_high, entry_low));
  entry(reinterpret_cast<void*>(whole(argument_high, argument_low)));
  std::abort();  // an entry that returned
}

}  // namespace

Fiber::Fiber(size_t stack_bytes) : stack_(new std::byte[stack_bytes]), stack_bytes_(stack_bytes) {}

void Fiber::prepare(void (*entry)(void*), void* argument) {
  getcontext(&context_);
  context_.uc_stack.ss_sp = stack_.get();
  context_.uc_stack.ss_size = stack_bytes_;
  context_.uc_link = nullptr;
  const auto high = [](auto pointer) { return static_cast<unsigned>(reinterpret_cast<uintptr_t>(pointer) >> 32); };
  const auto low = [](auto pointer) { return static_cast<unsigned>(reinterpret_cast<uintptr_t>(pointer)); };
  makecontext(&context_, reinterpret_cast<void (*)()>(trampoline), 4, high(entry), low(entry), high(argument),
              low(argument));
}

}  // namespace ringtree::explorer
