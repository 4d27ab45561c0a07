// See call_arguments.h.
#include "core/bindings/call_arguments.h"

#include <numeric>

#include "core/bindings/bindings.h"
#include "core/verify/verify.h"

namespace nb = nanobind;

namespace ringtree::bindings {
namespace {

/// Whether a buffer holds one block of the data or as much as there is.
struct Holds {
  bool input_is_block = false, output_is_block = false;
};

Holds holds_of(Collective collective) {
  switch (collective) {
    case Collective::all_gather:
    case Collective::gather:
      return {true, false};
    case Collective::reduce_scatter:
    case Collective::scatter:
      return {false, true};
    default:
      return {};
  }
}

std::string elements(size_t count) { return std::to_string(count) + (count == 1 ? " element" : " elements"); }

void check_elements(const char* what, size_t found, size_t wanted) {
  if (found != wanted)
    throw UsageError(std::string("the ") + what + " has " + elements(found) + ", not " + std::to_string(wanted));
}

AlgorithmRef algorithm_from(const AlgorithmArgument& algorithm, const HowArgument& how) {
  AlgorithmRef asked;
  if (const std::string* name = std::get_if<std::string>(&algorithm)) {
    asked.name = *name;
  } else {
    const OwnSchedule* own = std::get<const OwnSchedule*>(algorithm);
    asked.name = own->schedule->shape().name;
    asked.own = own->schedule;
    asked.own_hash = own->hash;
  }
  const auto& [protocol, slice_bytes, streaming] = how;
  if (protocol != "auto") asked.protocol = require_protocol(protocol);
  asked.slice_bytes = slice_bytes;
  asked.streaming = streaming;
  return asked;
}

}  // namespace

OwnSchedule::OwnSchedule(const Schedule& own) : schedule(std::make_shared<const Schedule>(own)) {
  require_verified(own);
  hash = own.structural_hash();
}

ArrayCall::ArrayCall(const Communicator& communicator, const std::string& collective, const nb::object& input,
                     const nb::object& output, const std::string& op, int root, const AlgorithmArgument& algorithm,
                     const HowArgument& how, double timeout, const CountsArgument& counts, double factor) {
  call.collective = collective_from(collective);
  call.op = op_from(op);
  call.root = root;
  call.algorithm = algorithm_from(algorithm, how);
  call.timeout_s = timeout;
  call.factor = factor;
  if (factor != 1 && call.op != ReduceOp::premul_sum)
    throw UsageError("a factor is for premul_sum; " + op + " would leave it out");
  const bool has_input = !input.is_none(), has_output = !output.is_none();
  if (has_output) out_ = view_array(output, "the output", true);
  if (input.ptr() == output.ptr()) {
    in_ = out_;
  } else if (has_input) {
    in_ = view_array(input, "the input", false);
  }
  if (!has_input && !has_output) throw UsageError("needs an array");
  if (has_input && has_output && in_.dtype != out_.dtype)
    throw UsageError(std::string("the input is ") + dtype_name(in_.dtype) + " but the output is " +
                     dtype_name(out_.dtype));
  call.dtype = has_input ? in_.dtype : out_.dtype;
  call.input = in_.data;
  call.output = out_.data;

  const size_t n = static_cast<size_t>(communicator.world_size()), own = static_cast<size_t>(communicator.rank());
  const auto [input_is_block, output_is_block] = holds_of(call.collective);
  if (counts) {
    counts_ = *counts;
    call.counts = counts_;
    const bool by_pair = call.collective == Collective::all_to_all;
    if (counts_.size() != (by_pair ? 2 * n : n)) return;  // the communicator refuses it
    const auto middle = counts_.begin() + static_cast<std::ptrdiff_t>(n);
    const size_t given = std::accumulate(counts_.begin(), middle, uint64_t{0}),
                 taken = by_pair ? std::accumulate(middle, counts_.end(), uint64_t{0}) : given;
    if (has_input) check_elements("input", in_.count, input_is_block ? counts_[own] : given);
    if (has_output) check_elements("output", out_.count, output_is_block ? counts_[own] : taken);
    return;
  }
  const size_t blocks = has_blocks(call.collective) ? n : 1;  // in a buffer that holds more than one
  const size_t in_share = input_is_block ? 1 : blocks, out_share = output_is_block ? 1 : blocks;
  call.count = has_input ? in_.count / in_share : out_.count / out_share;
  if (has_input && in_.count != call.count * in_share)
    throw UsageError("an input of " + elements(in_.count) + " cannot be cut into " + std::to_string(n) +
                     " equal blocks");
  if (has_output) check_elements("output", out_.count, call.count * out_share);
}

}  // namespace ringtree::bindings
