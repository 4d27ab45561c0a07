// Modules that others have imported: who has an array of a library's has that library, so it is looked up, once, and
// never imported here.
#pragma once

#include <nanobind/nanobind.h>

namespace ringtree::bindings {

/// The module of that name, invalid while it is not imported. With the GIL held; leaves no Python exception.
inline nanobind::object imported_module(const char* name) {
  const auto key = nanobind::steal(PyUnicode_InternFromString(name));
  PyObject* const module = PyImport_GetModule(key.ptr());
  if (!module) PyErr_Clear();
  return nanobind::steal(module);
}

/// A new reference; null if there is no such attribute, as in a module of which another thread has imported only half.
inline PyObject* attribute_or_null(const nanobind::handle& object, const char* name) {
  PyObject* const found = PyObject_GetAttrString(object.ptr(), name);
  if (!found) PyErr_Clear();
  return found;
}

}  // namespace ringtree::bindings
