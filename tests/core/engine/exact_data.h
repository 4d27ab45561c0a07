// Data whose sums are exact, as a function of (seed, rank, index), and the check of one collective call against a plain
// loop: every output element, input left alone, guard bytes around all buffers. Not here: which calls to make.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/engine/communicator.h"
#include "core/transport/shared_buffer.h"

namespace ringtree::testing {

/// SplitMix64 (Steele, Lea & Flood 2014) of the three.
inline uint64_t random_word(uint64_t seed, int rank, size_t index) {
  uint64_t word = seed * 0x9e3779b97f4a7c15u + (static_cast<uint64_t>(rank) << 48) + index;
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
  return word ^ (word >> 31);
}

/// Integers wrap, so any bits will do; floats are small integers, whose sums are exact in any order.
template <typename Item>
Item exact_item(uint64_t seed, int rank, size_t index) {
  const uint64_t word = random_word(seed, rank, index);
  if constexpr (std::is_floating_point_v<Item>) return static_cast<Item>(static_cast<int>(word % 31) - 15);
  return static_cast<Item>(word);
}

/// What all ranks hold, and the sum over them, element by element.
template <typename Item>
struct World {
  World(uint64_t seed, int num_ranks, size_t length) : sum(length, Item{0}) {
    for (int rank = 0; rank < num_ranks; ++rank) {
      std::vector<Item>& mine = held.emplace_back(length);
      for (size_t i = 0; i < length; ++i) {
        mine[i] = exact_item<Item>(seed, rank, i);
        sum[i] = static_cast<Item>(sum[i] + mine[i]);
      }
    }
  }
  std::vector<std::vector<Item>> held;  // by rank
  std::vector<Item> sum;
};

/// A buffer between guard bytes, at any alignment. Starts out as garbage.
class GuardedBuffer {
 public:
  /// `shared`: in memory that other ranks can map.
  GuardedBuffer(size_t bytes, size_t misalignment, bool shared = false) : bytes_(bytes), at_(kGuard + misalignment) {
    if (shared) {
      segment_ = allocate_shared(num_all());
    } else {
      ordinary_.resize(num_all());
    }
    std::memset(all(), 0xA5, num_all());
    if (bytes > 0) std::memset(data(), 0xEE, bytes);
  }
  std::byte* data() { return all() + at_; }
  bool guards_intact() {
    for (size_t i = 0; i < at_; ++i)
      if (all()[i] != std::byte{0xA5}) return false;
    for (size_t i = at_ + bytes_; i < num_all(); ++i)
      if (all()[i] != std::byte{0xA5}) return false;
    return true;
  }

 private:
  static constexpr size_t kGuard = 64;

  size_t num_all() const { return at_ + bytes_ + kGuard; }
  std::byte* all() { return segment_ ? segment_->data() : ordinary_.data(); }

  size_t bytes_, at_;
  std::vector<std::byte> ordinary_;
  std::shared_ptr<Segment> segment_;
};

struct CheckedCall {
  Collective collective = Collective::all_reduce;
  AlgorithmRef algorithm;
  Dtype dtype = Dtype::kInt64;
  size_t count = 0;  // as in CallArguments
  int root = 0;
  bool in_place = false;
  size_t shift = 0;         // the data begins at this index of the world's, so that no two calls look alike
  size_t misalignment = 0;  // bytes
  bool shared = false;      // the buffers are such that peers can read them in place

  std::string to_string() const {
    std::string text = std::string(collective_name(collective)) + " by " + algorithm.name;
    if (algorithm.protocol) text += std::string("/") + protocol_name(*algorithm.protocol);
    if (algorithm.slice_bytes > 0) text += ", slices of " + std::to_string(algorithm.slice_bytes);
    if (algorithm.streaming) text += *algorithm.streaming ? ", streaming" : ", not streaming";
    return text + ", " + dtype_name(dtype) + ", count " + std::to_string(count) + ", root " + std::to_string(root) +
           (in_place ? ", in place" : ", out of place") + ", shift " + std::to_string(shift) +
           (misalignment > 0 ? ", " + std::to_string(misalignment) + " bytes off" : "") + (shared ? ", shared" : "");
  }
};

/// Makes the call on this rank and checks all that it may and may not have changed. Throws std::runtime_error that says
/// what is wrong.
template <typename Item>
void make_checked_call(Communicator& communicator, const World<Item>& world, const CheckedCall& call) {
  const int n = communicator.world_size(), rank = communicator.rank();
  const size_t own = static_cast<size_t>(rank), item = sizeof(Item);
  const size_t length = call.count * (has_blocks(call.collective) ? static_cast<size_t>(n) : 1);
  if (call.shift + length > world.sum.size()) throw std::runtime_error(call.to_string() + ": the world is too small");
  const auto slice_of = [&](const std::vector<Item>& from) {
    const auto begin = from.begin() + static_cast<std::ptrdiff_t>(call.shift);
    return std::vector<Item>(begin, begin + static_cast<std::ptrdiff_t>(length));
  };
  // The whole vector after the call, and where in it this rank has input and output (elements).
  std::vector<Item> result;
  if (reduces(call.collective)) {
    result = slice_of(world.sum);
  } else if (call.collective == Collective::broadcast) {
    result = slice_of(world.held[static_cast<size_t>(call.root)]);
  } else {
    result.resize(length);
    for (size_t i = 0; i < length; ++i) result[i] = world.held[i / call.count][call.shift + i];
  }
  const std::vector<Item> contribution = slice_of(world.held[own]);
  Extent in{0, length}, out{0, length};
  if (call.collective == Collective::all_gather) in = {own * call.count, call.count};
  if (call.collective == Collective::reduce_scatter) out = {own * call.count, call.count};
  if (call.collective == Collective::broadcast && rank != call.root) in.length = 0;
  if (call.collective == Collective::reduce && rank != call.root) out.length = 0;

  GuardedBuffer first(call.in_place ? length * item : in.length * item, call.misalignment, call.shared);
  GuardedBuffer second(call.in_place ? 0 : out.length * item, call.misalignment, call.shared);
  std::byte* input = first.data() + (call.in_place ? in.offset * item : 0);
  std::byte* output = call.in_place ? first.data() + out.offset * item : second.data();
  if (in.length > 0) std::memcpy(input, contribution.data() + in.offset, in.length * item);

  CallArguments arguments;
  arguments.collective = call.collective;
  arguments.dtype = call.dtype;
  arguments.root = call.root;
  arguments.count = call.count;
  arguments.input = in.length > 0 ? input : nullptr;
  arguments.output = out.length > 0 ? output : nullptr;
  communicator.call(arguments, call.algorithm);

  const auto fail = [&](const std::string& what) {
    throw std::runtime_error(call.to_string() + " on rank " + std::to_string(rank) + " of " + std::to_string(n) + ": " +
                             what);
  };
  const auto first_difference = [item](const std::byte* bytes, const Item* expected, size_t num_items) {
    if (num_items == 0 || std::memcmp(bytes, expected, num_items * item) == 0) return num_items;
    size_t i = 0;
    while (std::memcmp(bytes + i * item, expected + i, item) == 0) ++i;
    return i;
  };
  if (const size_t i = first_difference(output, result.data() + out.offset, out.length); i < out.length)
    fail("element " + std::to_string(i) + " is wrong");
  if (!first.guards_intact() || !second.guards_intact()) fail("bytes outside the buffers were written");
  // What is both input and output has been checked as output: put it back, then all must be as it was.
  if (call.in_place && in.length > 0)
    for (size_t i = std::max(in.offset, out.offset); i < std::min(in.offset + in.length, out.offset + out.length); ++i)
      std::memcpy(input + (i - in.offset) * item, &contribution[i], item);
  if (const size_t i = first_difference(input, contribution.data() + in.offset, in.length); i < in.length)
    fail("input element " + std::to_string(i) + " was changed");
}

}  // namespace ringtree::testing
