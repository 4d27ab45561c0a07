// The simple protocol's arithmetic against plain loops: copies and folds into the own buffer, a slot or both, in place
// and not, at sizes around the piece in which a result is folded and copied on.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "core/protocol/simple.h"

namespace ringtree {
namespace {

constexpr size_t kPieceBytes = 8192;  // as in simple.cpp; the tests hold for any, these sizes are the interesting ones
constexpr size_t kSizes[] = {
    0,
    16,
    kPieceBytes - 16,
    kPieceBytes,
    kPieceBytes + 16,
#if !defined(__SANITIZE_THREAD__)  // one thread: nothing to see for it but bytes
    2 * kPieceBytes,
    3 * kPieceBytes + 48,
    65536,
#endif
};
constexpr std::byte kGuard{0xA5};
constexpr size_t kGuardBytes = 32;

/// A buffer with guard bytes on both sides.
class Guarded {
 public:
  explicit Guarded(size_t bytes) : bytes_(bytes), all_(bytes + 2 * kGuardBytes, kGuard) {}
  std::byte* data() { return all_.data() + kGuardBytes; }
  bool intact() const {
    for (size_t i = 0; i < kGuardBytes; ++i)
      if (all_[i] != kGuard || all_[kGuardBytes + bytes_ + i] != kGuard) return false;
    return true;
  }
  std::vector<std::byte> content() { return {data(), data() + bytes_}; }

 private:
  size_t bytes_;
  std::vector<std::byte> all_;
};

std::vector<std::byte> random_bytes(std::mt19937& random, size_t bytes) {
  std::vector<std::byte> out(bytes);
  for (std::byte& b : out) b = static_cast<std::byte>(random());
  return out;
}

// The slow obvious fold: item by item.
template <typename Item>
std::vector<std::byte> sum(const std::vector<std::vector<std::byte>>& inputs, size_t bytes) {
  std::vector<std::byte> out(bytes);
  for (size_t at = 0; at < bytes; at += sizeof(Item)) {
    Item total = 0;
    for (const auto& input : inputs) {
      Item item;
      std::memcpy(&item, input.data() + at, sizeof item);
      total = static_cast<Item>(total + item);
    }
    std::memcpy(out.data() + at, &total, sizeof total);
  }
  return out;
}

enum class To { dst, slot, both };

// `alias`: the input that is also dst, or -1.
template <typename Item>
void check_fold(Dtype dtype, size_t bytes, int num_inputs, To to, int alias) {
  std::mt19937 random(static_cast<uint32_t>(bytes * 7 + static_cast<size_t>(num_inputs)));
  std::vector<std::vector<std::byte>> data;
  for (int i = 0; i < num_inputs; ++i) data.push_back(random_bytes(random, bytes));
  const auto originals = data;
  Guarded dst(bytes), slot(bytes);
  std::vector<const void*> inputs;
  for (const auto& input : data) inputs.push_back(input.data());
  if (alias >= 0) {
    if (bytes > 0) std::memcpy(dst.data(), data[static_cast<size_t>(alias)].data(), bytes);
    inputs[static_cast<size_t>(alias)] = dst.data();
  }
  const SliceRun run{inputs.data(), num_inputs, to == To::slot ? nullptr : dst.data(),
                     to == To::dst ? nullptr : slot.data(), bytes};
  fold_run(run, fold_kernel(dtype, ReduceOp::sum), item_size(dtype));
  const auto expected = sum<Item>(originals, bytes);
  if (to != To::slot) {
    EXPECT_EQ(dst.content(), expected);
  }
  if (to != To::dst) {
    EXPECT_EQ(slot.content(), expected);
  }
  EXPECT_TRUE(dst.intact() && slot.intact());
  EXPECT_EQ(data, originals) << "inputs are only read";
}

TEST(FoldRun, equals_a_plain_loop_wherever_the_result_goes) {
  for (size_t bytes : kSizes)
    for (To to : {To::dst, To::slot, To::both})
      for (int num_inputs : {2, 3, 8})
        for (int alias = -1; alias < (to == To::slot ? 0 : num_inputs); ++alias) {
          SCOPED_TRACE(testing::Message() << bytes << " bytes, " << num_inputs << " inputs, dst is input " << alias
                                          << ", to " << static_cast<int>(to));
          check_fold<uint8_t>(Dtype::kUint8, bytes, num_inputs, to, alias);
          check_fold<uint32_t>(Dtype::kUint32, bytes, num_inputs, to, alias);
          check_fold<uint64_t>(Dtype::kInt64, bytes, num_inputs, to, alias);
        }
}

TEST(FoldRun, takes_as_many_inputs_as_it_promises) {
  for (To to : {To::dst, To::both}) check_fold<uint16_t>(Dtype::kInt16, kPieceBytes + 2, kMaxFold, to, 3);
}

// What peers wait for where their operands lie: the inputs that are marked, and no others.
TEST(FoldRun, puts_the_result_into_the_inputs_that_are_marked) {
  for (size_t bytes : kSizes)
    for (bool stream : {false, true})
      for (uint64_t marked : {uint64_t{0b001}, uint64_t{0b101}, uint64_t{0b110}}) {
        std::mt19937 random(static_cast<uint32_t>(bytes + marked));
        std::vector<std::vector<std::byte>> data;
        for (int i = 0; i < 3; ++i) data.push_back(random_bytes(random, bytes));
        const auto originals = data;
        const auto expected = sum<uint64_t>(originals, bytes);
        Guarded dst(bytes);
        SliceRun run;
        std::vector<const void*> inputs;
        for (const auto& input : data) inputs.push_back(input.data());
        run.inputs = inputs.data();
        run.num_inputs = 3;
        run.dst = dst.data();
        run.bytes = bytes;
        run.becoming_ours = marked;
        run.into_inputs = true;
        run.stream_dst = stream;
        fold_run(run, fold_kernel(Dtype::kInt64, ReduceOp::sum), sizeof(int64_t));
        EXPECT_EQ(dst.content(), expected);
        EXPECT_TRUE(dst.intact());
        for (size_t i = 0; i < 3; ++i) EXPECT_EQ(data[i], (marked >> i & 1) != 0 ? expected : originals[i]);
      }
}

TEST(FoldRun, odd_sizes_of_small_items_are_cut_between_items) {
  for (size_t bytes : {size_t{1}, kPieceBytes - 1, kPieceBytes + 1})
    check_fold<uint8_t>(Dtype::kUint8, bytes, 2, To::both, -1);
  for (size_t bytes : {size_t{2}, kPieceBytes - 2, kPieceBytes + 2})
    check_fold<uint16_t>(Dtype::kInt16, bytes, 3, To::both, 1);
}

// The order of a fold is the inputs' order, which only floats show: (2^24 + 1) + 1 differs from 2^24 + (1 + 1).
TEST(FoldRun, folds_from_left_to_right) {
  const float big = 16777216.0f, one = 1.0f;
  for (To to : {To::dst, To::both}) {
    Guarded dst(sizeof(float)), slot(sizeof(float));
    const void* rounds_twice[] = {&big, &one, &one};
    const void* exact[] = {&one, &one, &big};
    float result = 0;
    fold_run({rounds_twice, 3, dst.data(), to == To::both ? slot.data() : nullptr, sizeof(float)},
             fold_kernel(Dtype::kFloat32, ReduceOp::sum), sizeof(float));
    std::memcpy(&result, dst.data(), sizeof result);
    EXPECT_EQ(result, 16777216.0f);
    fold_run({exact, 3, dst.data(), to == To::both ? slot.data() : nullptr, sizeof(float)},
             fold_kernel(Dtype::kFloat32, ReduceOp::sum), sizeof(float));
    std::memcpy(&result, dst.data(), sizeof result);
    EXPECT_EQ(result, 16777218.0f);
  }
}

TEST(CopyRun, puts_the_input_where_it_goes_and_nowhere_else) {
  std::mt19937 random(5);
  for (size_t bytes : {size_t{0}, size_t{1}, size_t{8191}, size_t{8193}, size_t{65536}}) {
    const std::vector<std::byte> input = random_bytes(random, bytes);
    const void* inputs[] = {input.data()};
    for (To to : {To::dst, To::slot, To::both}) {
      Guarded dst(bytes), slot(bytes);
      copy_run({inputs, 1, to == To::slot ? nullptr : dst.data(), to == To::dst ? nullptr : slot.data(), bytes});
      if (to != To::slot) {
        EXPECT_EQ(dst.content(), input);
      }
      if (to != To::dst) {
        EXPECT_EQ(slot.content(), input);
      }
      EXPECT_TRUE(dst.intact() && slot.intact());
    }
  }
}

TEST(CopyRun, around_the_caches_is_the_same_copy) {
  std::mt19937 random(6);
  for (size_t bytes : {size_t{0}, size_t{1}, size_t{63}, size_t{2049}, size_t{8193}, size_t{65536}}) {
    const std::vector<std::byte> input = random_bytes(random, bytes);
    const void* inputs[] = {input.data()};
    for (bool stream_dst : {false, true})
      for (To to : {To::slot, To::both}) {
        Guarded dst(bytes), slot(bytes);
        SliceRun run{inputs, 1, to == To::slot ? nullptr : dst.data(), slot.data(), bytes};
        run.stream_dst = stream_dst;
        run.stream_slot = true;
        copy_run(run);
        EXPECT_EQ(slot.content(), input);
        if (to == To::both) {
          EXPECT_EQ(dst.content(), input);
        }
        EXPECT_TRUE(dst.intact() && slot.intact());
      }
  }
}

// Where a processor copies slowly, other instructions copy: they must copy the same.
TEST(CopyRun, copies_right_wherever_two_buffers_lie_within_their_pages) {
  constexpr size_t kPage = 4096, kBytes = 65536;
  std::mt19937 random(7);
  const std::vector<std::byte> input = random_bytes(random, kBytes);
  std::vector<std::byte> memory(3 * kPage + kBytes);
  const size_t same = (reinterpret_cast<uintptr_t>(input.data()) - reinterpret_cast<uintptr_t>(memory.data())) % kPage;
  const void* inputs[] = {input.data()};
  for (size_t behind : {0, 1, 16, 64, 255, 256, 257, 2048, 4080, 4095}) {
    std::byte* const to = memory.data() + same + behind;
    std::memset(memory.data(), 0, memory.size());
    copy_run({inputs, 1, to, nullptr, kBytes});
    EXPECT_EQ(std::memcmp(to, input.data(), kBytes), 0) << behind;
    const auto begin = memory.begin() + static_cast<std::ptrdiff_t>(same + behind);
    const auto end = begin + static_cast<std::ptrdiff_t>(kBytes);
    EXPECT_EQ(std::count(memory.begin(), begin, std::byte{0}), begin - memory.begin()) << behind;
    EXPECT_EQ(std::count(end, memory.end(), std::byte{0}), memory.end() - end) << behind;
  }
}

TEST(CopyRun, in_place_leaves_the_buffer_and_still_fills_the_slot) {
  std::mt19937 random(6);
  const std::vector<std::byte> original = random_bytes(random, 1000);
  std::vector<std::byte> buffer = original;
  Guarded slot(buffer.size());
  const void* inputs[] = {buffer.data()};
  copy_run({inputs, 1, buffer.data(), slot.data(), buffer.size()});
  EXPECT_EQ(buffer, original);
  EXPECT_EQ(slot.content(), original);
}

TEST(CopyRun, an_empty_run_touches_no_pointer) {
  const void* inputs[] = {nullptr};
  copy_run({inputs, 1, nullptr, nullptr, 0});
  fold_run({inputs, 1, nullptr, nullptr, 0}, nullptr, 4);
}

}  // namespace
}  // namespace ringtree
