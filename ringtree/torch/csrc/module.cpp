// The Python module: how ringtree/torch makes a group, how all groups leave when Python ends, and the job tracer's
// recorder.
#include <pybind11/chrono.h>
#include <torch/csrc/utils/pybind.h>

#include <torch/csrc/distributed/c10d/Store.hpp>

#include "backend.h"
#include "signals.h"
#include "trace/recorder.h"

namespace ringtree_torch {
namespace {

// PyTorch's own way to hold what must not be destroyed under Python's lock is not in a public header; Backend's
// destructor looks for itself.
intrusive_ptr<c10d::Backend> create(const intrusive_ptr<c10d::Store>& store, int rank, int size,
                                    std::chrono::milliseconds timeout, const std::string& rules) {
  return Backend::make(store, rank, size, timeout, rules);
}

}  // namespace
}  // namespace ringtree_torch

PYBIND11_MODULE(RINGTREE_TORCH_MODULE, module) {
  pybind11::module_::import("torch._C._distributed_c10d");  // which knows Store and Backend
  ringtree_torch::find_main_thread();
  module.def("create", &ringtree_torch::create, pybind11::arg("store"), pybind11::arg("rank"), pybind11::arg("size"),
             pybind11::arg("timeout"), pybind11::arg("rules"), pybind11::call_guard<pybind11::gil_scoped_release>());
  ringtree_torch::bind_recorder(module);
  module.def("leave_all", &ringtree_torch::Backend::leave_all, pybind11::call_guard<pybind11::gil_scoped_release>());
}
