// See asked_calls.h.
#include "core/bindings/asked_calls.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/bindings/bindings.h"
#include "core/bindings/call_arguments.h"

namespace nb = nanobind;

namespace ringtree::bindings {
namespace {

template <typename T>
T read(nb::handle object, const char* name, const char* wanted) {
  T value{};
  if (object.is_none() || !nb::try_cast(object, value))
    throw nb::type_error(
        (std::string(name) + " must be " + wanted + ", not " + nb::cast<std::string>(nb::repr(object))).c_str());
  return value;
}

std::string name_from(nb::handle object, const char* name) { return read<std::string>(object, name, "a string"); }

void set_algorithm(AlgorithmRef& asked, nb::handle algorithm) {
  if (nb::isinstance<nb::str>(algorithm)) {
    asked.set_name(name_from(algorithm, "algorithm"));
    return;
  }
  const nb::object verified = nb::hasattr(algorithm, "verified") ? algorithm.attr("verified")() : nb::borrow(algorithm);
  const OwnSchedule* own = nullptr;
  if (verified.is_none() || !nb::try_cast(verified, own))
    throw nb::type_error("algorithm must be a name or a Schedule");
  asked.name = own->schedule->shape().name;
  asked.own = own->schedule;
  asked.own_hash = own->hash;
}

Call read_all(const AskedCalls::Objects& objects) {
  const auto [collective, op, root, algorithm, protocol, slice_bytes, streaming, timeout, factor] = objects;
  Call call;
  call.collective = collective_from(name_from(collective, "collective"));
  call.op = op_from(name_from(op, "op"));
  call.root = read<int>(root, "root", "a rank");
  AlgorithmRef asked;
  set_algorithm(asked, algorithm);
  if (const std::string name = name_from(protocol, "protocol"); name != "auto") asked.protocol = require_protocol(name);
  asked.slice_bytes = read<size_t>(slice_bytes, "slice_bytes", "a non-negative integer");
  if (streaming != Py_None) asked.streaming = read<bool>(streaming, "streaming", "True, False or None");
  call.ask(std::move(asked));
  call.timeout_s = read<double>(timeout, "timeout", "a number of seconds");
  call.factor = read<double>(factor, "factor", "a number");
  if (call.factor != 1 && call.op != ReduceOp::premul_sum)
    throw UsageError(std::string("a factor is for premul_sum only; ") + reduce_op_name(call.op) + " ignores it");
  return call;
}

// Whether an object of that address will always say the same.
bool is_plain(PyObject* object) {
  return PyUnicode_CheckExact(object) || PyLong_CheckExact(object) || PyFloat_CheckExact(object) ||
         PyBool_Check(object) || object == Py_None;
}

}  // namespace

// A sum of products, none of which waits for another: a chain of them would take as long as the rest of get().
size_t AskedCalls::place_of(const Objects& objects) {
  size_t hash = 0;
  for (size_t i = 0; i < objects.size(); ++i)
    hash += reinterpret_cast<uintptr_t>(objects[i]) * ((2 * i + 1) * 0x9e3779b97f4a7c15u);
  return (hash >> 32) % kPlaces;
}

Call AskedCalls::get(const Objects& objects) {
  Place& place = places_[place_of(objects)];
  if (place.objects == objects) return place.call;
  Call call = read_all(objects);
  if (!std::all_of(objects.begin(), objects.end(), is_plain)) return call;
  place.call = call;
  for (PyObject* const object : objects) Py_INCREF(object);
  for (PyObject* const object : place.objects) Py_XDECREF(object);
  place.objects = objects;
  return call;
}

}  // namespace ringtree::bindings
