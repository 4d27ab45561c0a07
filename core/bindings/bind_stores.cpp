// The stores through which ranks find each other.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include "core/bindings/bindings.h"
#include "core/bootstrap/file_store.h"
#include "core/bootstrap/thread_store.h"
#include "core/bootstrap/unix_store.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace ringtree::bindings {

void bind_stores(nb::module_& module) {
  nb::class_<Store>(module, "Store", "A map of texts that all ranks of a job can reach; used once, to find each other.")
      .def("set", &Store::set, "key"_a, "value"_a, nb::call_guard<nb::gil_scoped_release>())
      .def(
          "get",
          [](Store& self, const std::string& key, double timeout) {
            return self.get(key, Deadline::after_seconds(timeout));
          },
          "key"_a, "timeout"_a, nb::call_guard<nb::gil_scoped_release>());
  nb::class_<ThreadStore, Store>(module, "ThreadStore", "For ranks that are threads of this process.")
      .def(nb::init<>());
  nb::class_<FileStore, Store>(module, "FileStore", "A directory that all ranks can reach.")
      .def(nb::init<const std::string&>(), "directory"_a);
  nb::class_<UnixStore, Store>(module, "UnixStore",
                               "An abstract Unix socket that rank 0 serves: for processes of one host, leaves no file.")
      .def(
          "__init__",
          [](UnixStore* self, const std::string& id, int rank, double timeout) {
            new (self) UnixStore(id, rank, Deadline::after_seconds(timeout));
          },
          "id"_a, "rank"_a, "timeout"_a, nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace ringtree::bindings
