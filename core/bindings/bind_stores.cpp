// The stores through which ranks find each other.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/bindings/bindings.h"
#include "core/bootstrap/exchange.h"
#include "core/bootstrap/file_store.h"
#include "core/bootstrap/network.h"
#include "core/bootstrap/rendezvous.h"
#include "core/bootstrap/tcp_store.h"
#include "core/bootstrap/thread_store.h"
#include "core/bootstrap/unix_store.h"
#include "core/net/interfaces.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace ringtree::bindings {
namespace {

// A store that somebody else has made and that Python can reach: a launcher's. Two callables of the user's.
class CallableStore final : public Store {
 public:
  CallableStore(nb::object set, nb::object get) : set_(std::move(set)), get_(std::move(get)) {}
  ~CallableStore() override {
    const nb::gil_scoped_acquire gil;
    set_.reset();
    get_.reset();
  }

  void set(const std::string& key, const std::string& value) override {
    check_store_key(key);
    check_store_value(key, value);
    const nb::gil_scoped_acquire gil;
    set_(key, nb::bytes(value.data(), value.size()));
  }

  std::string get(const std::string& key, Deadline deadline) override {
    check_store_key(key);
    const int64_t start_ns = now_ns();
    const double left_s = static_cast<double>(std::max<int64_t>(deadline.left_ns(), 0)) * 1e-9;
    {
      const nb::gil_scoped_acquire gil;
      const nb::object value = get_(key, left_s);
      if (!value.is_none()) {
        const auto bytes = nb::cast<nb::bytes>(value);
        return {bytes.c_str(), bytes.size()};
      }
    }
    throw TimeoutError(store_timeout_text(key, start_ns));
  }

 private:
  nb::object set_, get_;
};

}  // namespace

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
  nb::class_<TcpStore, Store>(module, "TcpStore", "An address that rank 0 serves: for processes of several hosts.")
      .def(
          "__init__",
          [](TcpStore* self, const std::string& host, uint16_t port, int rank, double timeout) {
            new (self) TcpStore(host, port, rank, Network::from_environment().secret, Deadline::after_seconds(timeout));
          },
          "host"_a, "port"_a, "rank"_a, "timeout"_a, nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("address", [](const TcpStore& self) { return self.address().to_text(); });
  nb::class_<CallableStore, Store>(module, "CallableStore",
                                   "set(key, bytes) and get(key, seconds) -> bytes or None of the caller's own.")
      .def(nb::init<nb::object, nb::object>(), "set"_a, "get"_a);
  module.def(
      "refuse_to_meet",
      [](Store& store, const std::string& prefix, int rank, int world_size, const std::string& reason) {
        return Rendezvous(store, prefix, rank, world_size).refuse(reason);
      },
      "store"_a, "prefix"_a, "rank"_a, "world_size"_a, "reason"_a, nb::call_guard<nb::gil_scoped_release>(),
      "Makes a meeting fail on all other ranks, with MismatchError and that reason. Who serves the store stays until "
      "they know, for 2 s at most. False: nobody has heard it there.");
  module.def("missing_ranks", &missing_ranks, "store"_a, "prefix"_a, "world_size"_a, "most"_a,
             nb::call_guard<nb::gil_scoped_release>(), "The first of a meeting's ranks that have not come yet.");
  module.def(
      "interface_towards",
      [](const std::string& host) -> std::optional<std::string> {
        for (const Address& address : resolve(host, 9)) {  // any port: nothing is sent
          const std::optional<Address> own = source_address_towards(address);
          for (const Interface& interface : interfaces_that_are_up())
            if (own && interface.address == own->with_port(0)) return interface.name;
        }
        return std::nullopt;
      },
      "host"_a, nb::call_guard<nb::gil_scoped_release>(),
      "Name of the interface from which a host is reached, or None.");
}

}  // namespace ringtree::bindings
