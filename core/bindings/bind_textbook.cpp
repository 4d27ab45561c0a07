// The textbook's groups. Arrays are looked at with the GIL held; the collective runs without it.
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "core/bindings/array_view.h"
#include "core/bindings/bindings.h"
#include "core/textbook/group.h"
#include "core/verify/verify.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace ringtree::bindings {
namespace {

using textbook::Group;
using textbook::PreparedCall;
using textbook::Style;

std::vector<std::string> style_names() {
  std::vector<std::string> all;
  for (const Style style : textbook::kStyles) all.emplace_back(textbook::style_name(style));
  return all;
}

Style style_from(const std::string& name) {
  if (const auto style = textbook::style_from_name(name)) return *style;
  std::string known;
  for (const std::string& one : style_names()) known += (known.empty() ? "" : ", ") + one;
  throw UsageError("unknown style " + name + "; there are " + known);
}

// Ctrl-C: the check that found the signal has set KeyboardInterrupt, which is what the caller gets.
template <class Body>
auto interruptible(const Body& body) {
  try {
    const nb::gil_scoped_release no_gil;
    return body();
  } catch (const WorldError&) {
    if (PyErr_Occurred()) throw nb::python_error();
    throw;
  }
}

std::unique_ptr<PreparedCall> prepare(Group& self, const Schedule& schedule, size_t count, const std::string& dtype,
                                      const std::string& op) {
  const auto type = dtype_from_name(dtype);
  if (!type) throw UsageError("unknown dtype " + dtype);
  const ReduceOp reduce_op = op_from(op);
  return interruptible([&] {
    require_verified(schedule);
    return self.prepare(schedule, count, *type, reduce_op);
  });
}

void run(Group& self, PreparedCall& call, const nb::object& input, const nb::object& output) {
  const ArrayView out = view_array(output, "the output", true);
  const ArrayView in = input.ptr() == output.ptr() ? out : view_array(input, "the input", false);
  for (const ArrayView& array : {in, out})
    if (array.count != call.count || array.dtype != call.dtype)
      throw UsageError("this call is of " + std::to_string(call.count) + " " + dtype_name(call.dtype) + ", not of " +
                       std::to_string(array.count) + " " + dtype_name(array.dtype));
  interruptible([&] { self.run(call, in.data, out.data); });
}

}  // namespace

void bind_textbook(nb::module_& module) {
  nb::class_<PreparedCall>(module, "TextbookCall", "A schedule with sizes, ready to run; made by prepare().");
  nb::class_<Group>(module, "TextbookGroup", "Ranks that run schedules as a first course would; core/textbook/group.h.")
      .def(
          "__init__",
          [](Group* self, Store& store, int rank, int world_size, const std::string& style, double timeout,
             const std::string& prefix) {
            const Style chosen = style_from(style);
            {
              const nb::gil_scoped_release no_gil;
              new (self) Group(store, rank, world_size, chosen, timeout, prefix);
            }
            self->set_interrupt_check(python_interrupt);
          },
          "store"_a, "rank"_a, "world_size"_a, "style"_a, "timeout"_a, "prefix"_a = "textbook")
      .def("prepare", &prepare, "schedule"_a, "count"_a, "dtype"_a, "op"_a = "sum")
      .def("run", &run, "call"_a, "input"_a, "output"_a)
      .def("close", &Group::close, nb::call_guard<nb::gil_scoped_release>());
  module.def("textbook_styles", &style_names);
}

}  // namespace ringtree::bindings
