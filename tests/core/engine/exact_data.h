// Data whose sums are exact, as a function of (seed, rank, index), and the check of one collective call against a plain
// loop: every output element, input left alone, guard bytes around all buffers. Not here: which calls to make.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
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
        if constexpr (std::is_integral_v<Item>)  // wraps, which signed numbers must not
          sum[i] = static_cast<Item>(static_cast<uint64_t>(sum[i]) + static_cast<uint64_t>(mine[i]));
        else
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
  size_t count = 0;  // as in Call
  int root = 0;
  bool in_place = false;
  size_t shift = 0;         // the data begins at this index of the world's, so that no two calls look alike
  size_t misalignment = 0;  // bytes
  bool shared = false;      // the buffers are such that peers can read them in place
  bool uneven = false;      // blocks have lengths around count, some of them 0

  std::string to_string() const {
    std::string text = std::string(collective_name(collective)) + " by " + algorithm.name;
    if (algorithm.protocol) text += std::string("/") + protocol_name(*algorithm.protocol);
    if (algorithm.slice_bytes > 0) text += ", slices of " + std::to_string(algorithm.slice_bytes);
    if (algorithm.streaming) text += *algorithm.streaming ? ", streaming" : ", not streaming";
    return text + ", " + dtype_name(dtype) + ", count " + std::to_string(count) + ", root " + std::to_string(root) +
           (in_place ? ", in place" : ", out of place") + ", shift " + std::to_string(shift) +
           (misalignment > 0 ? ", " + std::to_string(misalignment) + " bytes off" : "") + (shared ? ", shared" : "") +
           (uneven ? ", uneven" : "");
  }

  /// Elements of a rank's block, or (all_to_all) of what `block` sends to `to`.
  size_t block_length(int block, int to = 0) const {
    return uneven ? count * (static_cast<size_t>(3 * block + 2 * to + 1) % 4) / 2 : count;
  }
};

/// What one rank gives and must get: its elements, and where they begin in the collective's whole vector (all_to_all:
/// nowhere).
template <typename Item>
struct Share {
  std::vector<Item> input, output;
  size_t input_at = 0, output_at = 0;
};

template <typename Item>
Share<Item> share_of(const World<Item>& world, const CheckedCall& call, int n, int rank) {
  Share<Item> share;
  const auto take = [&](std::vector<Item>& to, const std::vector<Item>& from, size_t begin, size_t length) {
    if (call.shift + begin + length > from.size())
      throw std::runtime_error(call.to_string() + ": the world is too small");
    const auto first = from.begin() + static_cast<std::ptrdiff_t>(call.shift + begin);
    to.insert(to.end(), first, first + static_cast<std::ptrdiff_t>(length));
  };
  const auto held = [&](int of) -> const std::vector<Item>& { return world.held[static_cast<size_t>(of)]; };
  if (call.collective == Collective::all_to_all) {
    for (int from = 0; from < n; ++from) {
      size_t at = 0;  // in what `from` sends
      for (int to = 0; to < n; ++to) {
        const size_t length = call.block_length(from, to);
        if (from == rank) take(share.input, held(from), at, length);
        if (to == rank) take(share.output, held(from), at, length);
        at += length;
      }
    }
    return share;
  }
  std::vector<size_t> begins{0};
  const bool blocked = has_blocks(call.collective);
  for (int block = 0; block < (blocked ? n : 1); ++block)
    begins.push_back(begins.back() + (blocked ? call.block_length(block) : call.count));
  const size_t own = static_cast<size_t>(blocked ? rank : 0), all = begins.back();
  const size_t own_at = begins[own], own_length = begins[own + 1] - own_at;
  const bool is_root = rank == call.root;
  switch (call.collective) {
    case Collective::all_reduce:
    case Collective::reduce:
      take(share.input, held(rank), 0, all);
      if (is_root || call.collective == Collective::all_reduce) take(share.output, world.sum, 0, all);
      break;
    case Collective::reduce_scatter:
      take(share.input, held(rank), 0, all);
      take(share.output, world.sum, own_at, own_length);
      share.output_at = own_at;
      break;
    case Collective::broadcast:
      if (is_root) take(share.input, held(rank), 0, all);
      take(share.output, held(call.root), 0, all);
      break;
    case Collective::scatter:
      if (is_root) take(share.input, held(rank), 0, all);
      take(share.output, held(call.root), own_at, own_length);
      share.output_at = own_at;
      break;
    default:  // all_gather, gather
      take(share.input, held(rank), own_at, own_length);
      share.input_at = own_at;
      for (int from = 0; from < n && (is_root || call.collective == Collective::all_gather); ++from)
        take(share.output, held(from), begins[static_cast<size_t>(from)], call.block_length(from));
  }
  return share;
}

/// The counts that a call with uneven blocks is given; else none.
inline std::vector<uint64_t> counts_of(const CheckedCall& call, int n, int rank) {
  std::vector<uint64_t> counts;
  if (!call.uneven) return counts;
  const bool by_pair = call.collective == Collective::all_to_all;
  for (int i = 0; i < n; ++i) counts.push_back(by_pair ? call.block_length(rank, i) : call.block_length(i));
  for (int i = 0; i < n && by_pair; ++i) counts.push_back(call.block_length(i, rank));
  return counts;
}

/// Makes the call on this rank and checks all that it may and may not have changed. Throws std::runtime_error that says
/// what is wrong. `Caller`: a Communicator, or what has its rank(), world_size() and run().
template <typename Item, typename Caller>
void make_checked_call(Caller& communicator, const World<Item>& world, const CheckedCall& call) {
  const int n = communicator.world_size(), rank = communicator.rank();
  const size_t item = sizeof(Item);
  const Share<Item> share = share_of(world, call, n, rank);
  const size_t in = share.input.size(), out = share.output.size();
  const bool one_buffer = call.in_place && can_be_in_place(call.collective);

  // In place the larger of the two is the buffer, and holds the smaller.
  const size_t origin = std::min(in > 0 ? share.input_at : share.output_at, out > 0 ? share.output_at : share.input_at);
  const size_t in_at = share.input_at - origin, out_at = share.output_at - origin;
  GuardedBuffer first(one_buffer ? std::max(in, out) * item : in * item, call.misalignment, call.shared);
  GuardedBuffer second(one_buffer ? 0 : out * item, call.misalignment, call.shared);
  std::byte* input = first.data() + (one_buffer && in > 0 ? in_at * item : 0);
  std::byte* output = one_buffer ? first.data() + (out > 0 ? out_at * item : 0) : second.data();
  if (in > 0) std::memcpy(input, share.input.data(), in * item);

  const std::vector<uint64_t> counts = counts_of(call, n, rank);
  Call arguments;
  arguments.collective = call.collective;
  arguments.dtype = call.dtype;
  arguments.root = call.root;
  arguments.count = call.uneven ? 0 : call.count;
  arguments.counts = counts;
  arguments.input = in > 0 ? input : nullptr;
  arguments.output = out > 0 ? output : nullptr;
  arguments.algorithm = call.algorithm;
  communicator.run(arguments);

  const auto fail = [&](const std::string& what) {
    throw std::runtime_error(call.to_string() + " on rank " + std::to_string(rank) + " of " + std::to_string(n) + ": " +
                             what);
  };
  const auto first_difference = [item](const std::byte* bytes, const std::vector<Item>& expected) {
    const size_t num_items = expected.size();
    if (num_items == 0 || std::memcmp(bytes, expected.data(), num_items * item) == 0) return num_items;
    size_t i = 0;
    while (std::memcmp(bytes + i * item, expected.data() + i, item) == 0) ++i;
    return i;
  };
  if (const size_t i = first_difference(output, share.output); i < out)
    fail("element " + std::to_string(i) + " is wrong");
  if (!first.guards_intact() || !second.guards_intact()) fail("bytes outside the buffers were written");
  // What is both input and output has been checked as output: put it back, then all must be as it was.
  if (one_buffer && in > 0 && out > 0)
    for (size_t i = std::max(in_at, out_at); i < std::min(in_at + in, out_at + out); ++i)
      std::memcpy(first.data() + i * item, &share.input[i - in_at], item);
  if (const size_t i = first_difference(input, share.input); i < in)
    fail("input element " + std::to_string(i) + " was changed");
}

}  // namespace ringtree::testing
