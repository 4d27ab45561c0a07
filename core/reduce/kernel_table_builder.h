// Which loop, codec and op serve which dtype and op: the table of kernels of one instruction set.
// The one place that says what is defined; not the arithmetic itself (operators.h, codecs.h, truth.h).
// In its own namespace for each instruction set, as codecs.h explains.
#pragma once

#include <type_traits>

#include "core/reduce/code_order.h"
#include "core/reduce/codecs.h"
#include "core/reduce/fold_loops.h"
#include "core/reduce/kernel_table.h"
#include "core/reduce/operators.h"
#include "core/reduce/truth.h"

#if defined(__F16C__)
#include "core/reduce/float16_f16c.h"
#endif

namespace ringtree::RINGTREE_ISA {

constexpr void set(KernelTable& table, Dtype dtype, ReduceOp op, FoldKernel kernel) {
  table.fold[static_cast<int>(dtype)][static_cast<int>(op)] = kernel;
}

constexpr void set_sums(KernelTable& table, Dtype dtype, FoldKernel kernel) {
  set(table, dtype, ReduceOp::sum, kernel);
  set(table, dtype, ReduceOp::avg, kernel);
  set(table, dtype, ReduceOp::premul_sum, kernel);
}

template <class Codec, size_t kParts = 1>
constexpr void add_sums(KernelTable& table, Dtype dtype) {
  set_sums(table, dtype, fold<Codec, Add, kParts>);
  table.finish[static_cast<int>(dtype)] = divide<Codec, kParts>;
  table.scale[static_cast<int>(dtype)] = scale<Codec, kParts>;
}

// Only the width matters: signed and unsigned integers share kernels.
template <class Word>
constexpr void add_bitwise(KernelTable& table, Dtype dtype) {
  set(table, dtype, ReduceOp::band, fold<Plain<Word>, BitAnd>);
  set(table, dtype, ReduceOp::bor, fold<Plain<Word>, BitOr>);
  set(table, dtype, ReduceOp::bxor, fold<Plain<Word>, BitXor>);
}

// Dtypes of one width that store 1 alike share kernels.
template <class Truths>
constexpr void add_logical(KernelTable& table, Dtype dtype) {
  set(table, dtype, ReduceOp::land, fold<Truths, BitAnd>);
  set(table, dtype, ReduceOp::lor, fold<Truths, BitOr>);
  set(table, dtype, ReduceOp::lxor, fold<Truths, BitXor>);
}

template <class Codec>
constexpr void add_real(KernelTable& table, Dtype dtype) {
  add_sums<Codec>(table, dtype);
  set(table, dtype, ReduceOp::prod, fold<Codec, Multiply>);
  set(table, dtype, ReduceOp::min, fold<Codec, Min>);
  set(table, dtype, ReduceOp::max, fold<Codec, Max>);
}

template <class T>
constexpr void add_integer(KernelTable& table, Dtype dtype) {
  add_real<Plain<T>>(table, dtype);
  add_bitwise<std::make_unsigned_t<T>>(table, dtype);
  add_logical<IntegerTruth<std::make_unsigned_t<T>>>(table, dtype);
}

template <class Codec>
constexpr void add_narrow(KernelTable& table, Dtype dtype) {
  add_sums<Codec>(table, dtype);
  set(table, dtype, ReduceOp::prod, fold<Codec, Multiply>);
  set(table, dtype, ReduceOp::min, fold<Plain<typename Codec::Storage>, MinOfCodes<Codec>>);
  set(table, dtype, ReduceOp::max, fold<Plain<typename Codec::Storage>, MaxOfCodes<Codec>>);
  add_logical<NarrowTruth<Codec>>(table, dtype);
}

constexpr void add_bfloat16(KernelTable& table) {
  add_narrow<Bfloat16>(table, Dtype::kBfloat16);
  set_sums(table, Dtype::kBfloat16, fold_bfloat16<Add>);
  set(table, Dtype::kBfloat16, ReduceOp::prod, fold_bfloat16<Multiply>);
  table.scale[static_cast<int>(Dtype::kBfloat16)] = scale_bfloat16;
}

template <class Part, class PartTruth>
constexpr void add_complex(KernelTable& table, Dtype dtype) {
  add_sums<Part, 2>(table, dtype);
  set(table, dtype, ReduceOp::prod, fold<Complex<Part>, MultiplyComplex>);
  add_logical<ComplexTruth<PartTruth>>(table, dtype);
}

constexpr void add_bool(KernelTable& table) {
  using Truths = IntegerTruth<uint8_t>;
  const FoldKernel any = fold<Truths, BitOr>, all = fold<Truths, BitAnd>, odd = fold<Truths, BitXor>;
  set(table, Dtype::kBool, ReduceOp::sum, any);
  set(table, Dtype::kBool, ReduceOp::max, any);
  set(table, Dtype::kBool, ReduceOp::bor, any);
  set(table, Dtype::kBool, ReduceOp::prod, all);
  set(table, Dtype::kBool, ReduceOp::min, all);
  set(table, Dtype::kBool, ReduceOp::band, all);
  set(table, Dtype::kBool, ReduceOp::bxor, odd);
  add_logical<Truths>(table, Dtype::kBool);
}

#if defined(__F16C__)
constexpr void use_f16c(KernelTable& table) {
  set_sums(table, Dtype::kFloat16, fold_float16<Add>);
  set(table, Dtype::kFloat16, ReduceOp::prod, fold_float16<Multiply>);
  set_sums(table, Dtype::kComplex32, fold_float16<Add, 2>);
  table.finish[static_cast<int>(Dtype::kFloat16)] = divide_float16<1>;
  table.finish[static_cast<int>(Dtype::kComplex32)] = divide_float16<2>;
  table.scale[static_cast<int>(Dtype::kFloat16)] = scale_float16<1>;
  table.scale[static_cast<int>(Dtype::kComplex32)] = scale_float16<2>;
}
#endif

/// float8_e8m0fnu is left out on purpose: nothing is defined for it.
constexpr KernelTable build_kernel_table(const char* name) {
  KernelTable table{};
  table.name = name;
  add_bool(table);
  add_integer<int8_t>(table, Dtype::kInt8);
  add_integer<uint8_t>(table, Dtype::kUint8);
  add_integer<int16_t>(table, Dtype::kInt16);
  add_integer<uint16_t>(table, Dtype::kUint16);
  add_integer<int32_t>(table, Dtype::kInt32);
  add_integer<uint32_t>(table, Dtype::kUint32);
  add_integer<int64_t>(table, Dtype::kInt64);
  add_integer<uint64_t>(table, Dtype::kUint64);
  add_narrow<Float16>(table, Dtype::kFloat16);
  add_bfloat16(table);
  add_real<Plain<float>>(table, Dtype::kFloat32);
  add_logical<Float32Truth>(table, Dtype::kFloat32);
  add_real<Plain<double>>(table, Dtype::kFloat64);
  add_logical<Float64Truth>(table, Dtype::kFloat64);
  add_narrow<Float8E4m3fn>(table, Dtype::kFloat8E4m3fn);
  add_narrow<Float8E5m2>(table, Dtype::kFloat8E5m2);
  add_narrow<Float8E4m3fnuz>(table, Dtype::kFloat8E4m3fnuz);
  add_narrow<Float8E5m2fnuz>(table, Dtype::kFloat8E5m2fnuz);
  add_complex<Float16, NarrowTruth<Float16>>(table, Dtype::kComplex32);
  add_complex<Plain<float>, Float32Truth>(table, Dtype::kComplex64);
  add_complex<Plain<double>, Float64Truth>(table, Dtype::kComplex128);
#if defined(__F16C__)
  use_f16c(table);
#endif
  return table;
}

}  // namespace ringtree::RINGTREE_ISA
