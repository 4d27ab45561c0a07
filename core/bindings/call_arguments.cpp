// See call_arguments.h.
#include "core/bindings/call_arguments.h"

#include <nanobind/stl/vector.h>

#include <algorithm>
#include <numeric>

#include "core/bindings/array_view.h"
#include "core/bindings/asked_calls.h"
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

// The one of all calls: names and numbers of one program are alike for all its communicators.
AskedCalls& asked_calls() {
  static auto* const all = new AskedCalls;  // never destroyed: what it keeps is Python's, which may go before
  return *all;
}

// The tuple of the arguments that go together.
class How {
 public:
  explicit How(nb::handle tuple) : tuple_(tuple.ptr()) {
    if (!PyTuple_CheckExact(tuple_) || PyTuple_GET_SIZE(tuple_) != 6)
      throw nb::type_error("how must be (protocol, slice_bytes, streaming, timeout, counts, factor)");
  }
  PyObject* operator[](Py_ssize_t index) const { return PyTuple_GET_ITEM(tuple_, index); }

 private:
  PyObject* tuple_;
};

Call asked_call(const CallArguments& arguments, const How& how) {
  return asked_calls().get({arguments.collective.ptr(), arguments.op.ptr(), arguments.root.ptr(),
                            arguments.algorithm.ptr(), how[0], how[1], how[2], how[3], how[5]});
}

}  // namespace

OwnSchedule::OwnSchedule(const Schedule& own) : schedule(std::make_shared<const Schedule>(own)) {
  require_verified(own);
  hash = own.structural_hash();
}

ArrayCall::ArrayCall(const Communicator& communicator, const CallArguments& arguments)
    : call(asked_call(arguments, How(arguments.how))) {
  const nb::handle input = arguments.input, output = arguments.output, counts = How(arguments.how)[4];
  ArrayView in, out;
  const bool has_input = !input.is_none(), has_output = !output.is_none();
  if (has_output) out = view_array(output, "the output", true);
  if (input.ptr() == output.ptr()) {
    in = out;
  } else if (has_input) {
    in = view_array(input, "the input", false);
  }
  if (!has_input && !has_output) throw UsageError("needs an array");
  if (has_input && has_output && in.dtype != out.dtype)
    throw UsageError(std::string("the input is ") + dtype_name(in.dtype) + " but the output is " +
                     dtype_name(out.dtype));
  call.dtype = has_input ? in.dtype : out.dtype;
  call.input = in.data;
  call.output = out.data;
  num_bytes = std::max(in.count, out.count) * item_size(call.dtype);

  const size_t n = static_cast<size_t>(communicator.world_size()), own = static_cast<size_t>(communicator.rank());
  const auto [input_is_block, output_is_block] = holds_of(call.collective);
  if (!counts.is_none()) {
    if (!nb::try_cast(counts, counts_)) throw nb::type_error("counts must be non-negative integers");
    call.counts = counts_;
    const bool by_pair = call.collective == Collective::all_to_all;
    if (counts_.size() != (by_pair ? 2 * n : n)) return;  // the communicator refuses it
    const auto middle = counts_.begin() + static_cast<std::ptrdiff_t>(n);
    const size_t given = std::accumulate(counts_.begin(), middle, uint64_t{0}),
                 taken = by_pair ? std::accumulate(middle, counts_.end(), uint64_t{0}) : given;
    if (has_input) check_elements("input", in.count, input_is_block ? counts_[own] : given);
    if (has_output) check_elements("output", out.count, output_is_block ? counts_[own] : taken);
    return;
  }
  const size_t blocks = has_blocks(call.collective) ? n : 1;  // in a buffer that holds more than one
  const size_t in_share = input_is_block ? 1 : blocks, out_share = output_is_block ? 1 : blocks;
  const size_t held = has_input ? in.count : out.count, share = has_input ? in_share : out_share;
  call.count = share == 1 ? held : held / share;  // a division takes as long as the rest of this
  if (has_input && in.count != call.count * in_share)
    throw UsageError("an input of " + elements(in.count) + " cannot be cut into " + std::to_string(n) +
                     " equal blocks");
  if (has_output) check_elements("output", out.count, call.count * out_share);
}

}  // namespace ringtree::bindings
