// Which loop, codec and op serve which dtype and op: the table of kernels of one instruction set.
// The one place that says what is defined; not the arithmetic itself (operators.h, codecs.h).
// In its own namespace for each instruction set, as codecs.h explains.
#pragma once

#include "core/reduce/code_order.h"
#include "core/reduce/codecs.h"
#include "core/reduce/fold_loops.h"
#include "core/reduce/kernel_table.h"
#include "core/reduce/operators.h"

#if defined(__F16C__)
#include "core/reduce/float16_f16c.h"
#endif

namespace ringtree::RINGTREE_ISA {

constexpr void set(KernelTable& table, Dtype dtype, ReduceOp op, FoldKernel kernel) {
  table.fold[static_cast<int>(dtype)][static_cast<int>(op)] = kernel;
}

template <class Codec, size_t kParts = 1>
constexpr void add_sum_and_avg(KernelTable& table, Dtype dtype) {
  set(table, dtype, ReduceOp::sum, fold<Codec, Add, kParts>);
  set(table, dtype, ReduceOp::avg, fold<Codec, Add, kParts>);
  table.finish[static_cast<int>(dtype)] = divide<Codec, kParts>;
}

template <class Codec>
constexpr void add_real(KernelTable& table, Dtype dtype) {
  add_sum_and_avg<Codec>(table, dtype);
  set(table, dtype, ReduceOp::prod, fold<Codec, Multiply>);
  set(table, dtype, ReduceOp::min, fold<Codec, Min>);
  set(table, dtype, ReduceOp::max, fold<Codec, Max>);
}

template <class Codec>
constexpr void add_narrow(KernelTable& table, Dtype dtype) {
  add_sum_and_avg<Codec>(table, dtype);
  set(table, dtype, ReduceOp::prod, fold<Codec, Multiply>);
  set(table, dtype, ReduceOp::min, fold<Plain<typename Codec::Storage>, MinOfCodes<Codec>>);
  set(table, dtype, ReduceOp::max, fold<Plain<typename Codec::Storage>, MaxOfCodes<Codec>>);
}

constexpr void add_bfloat16(KernelTable& table) {
  add_narrow<Bfloat16>(table, Dtype::kBfloat16);
  set(table, Dtype::kBfloat16, ReduceOp::sum, fold_bfloat16<Add>);
  set(table, Dtype::kBfloat16, ReduceOp::avg, fold_bfloat16<Add>);
  set(table, Dtype::kBfloat16, ReduceOp::prod, fold_bfloat16<Multiply>);
}

template <class Part>
constexpr void add_complex(KernelTable& table, Dtype dtype) {
  add_sum_and_avg<Part, 2>(table, dtype);
  set(table, dtype, ReduceOp::prod, fold<Complex<Part>, MultiplyComplex>);
}

constexpr void add_bool(KernelTable& table) {
  set(table, Dtype::kBool, ReduceOp::sum, fold<Bool, Max>);
  set(table, Dtype::kBool, ReduceOp::prod, fold<Bool, Min>);
  set(table, Dtype::kBool, ReduceOp::min, fold<Bool, Min>);
  set(table, Dtype::kBool, ReduceOp::max, fold<Bool, Max>);
}

#if defined(__F16C__)
constexpr void use_f16c(KernelTable& table) {
  set(table, Dtype::kFloat16, ReduceOp::sum, fold_float16<Add>);
  set(table, Dtype::kFloat16, ReduceOp::avg, fold_float16<Add>);
  set(table, Dtype::kFloat16, ReduceOp::prod, fold_float16<Multiply>);
  set(table, Dtype::kComplex32, ReduceOp::sum, fold_float16<Add, 2>);
  set(table, Dtype::kComplex32, ReduceOp::avg, fold_float16<Add, 2>);
  table.finish[static_cast<int>(Dtype::kFloat16)] = divide_float16<1>;
  table.finish[static_cast<int>(Dtype::kComplex32)] = divide_float16<2>;
}
#endif

/// float8_e8m0fnu is left out on purpose: nothing is defined for it.
constexpr KernelTable build_kernel_table(const char* name) {
  KernelTable table{};
  table.name = name;
  add_bool(table);
  add_real<Plain<int8_t>>(table, Dtype::kInt8);
  add_real<Plain<uint8_t>>(table, Dtype::kUint8);
  add_real<Plain<int16_t>>(table, Dtype::kInt16);
  add_real<Plain<uint16_t>>(table, Dtype::kUint16);
  add_real<Plain<int32_t>>(table, Dtype::kInt32);
  add_real<Plain<uint32_t>>(table, Dtype::kUint32);
  add_real<Plain<int64_t>>(table, Dtype::kInt64);
  add_real<Plain<uint64_t>>(table, Dtype::kUint64);
  add_narrow<Float16>(table, Dtype::kFloat16);
  add_bfloat16(table);
  add_real<Plain<float>>(table, Dtype::kFloat32);
  add_real<Plain<double>>(table, Dtype::kFloat64);
  add_narrow<Float8E4m3fn>(table, Dtype::kFloat8E4m3fn);
  add_narrow<Float8E5m2>(table, Dtype::kFloat8E5m2);
  add_narrow<Float8E4m3fnuz>(table, Dtype::kFloat8E4m3fnuz);
  add_narrow<Float8E5m2fnuz>(table, Dtype::kFloat8E5m2fnuz);
  add_complex<Float16>(table, Dtype::kComplex32);
  add_complex<Plain<float>>(table, Dtype::kComplex64);
  add_complex<Plain<double>>(table, Dtype::kComplex128);
#if defined(__F16C__)
  use_f16c(table);
#endif
  return table;
}

}  // namespace ringtree::RINGTREE_ISA
