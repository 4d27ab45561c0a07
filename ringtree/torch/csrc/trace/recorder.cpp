// See recorder.h.
#include "recorder.h"

#include <utility>

#include "lines.h"

namespace ringtree_torch {
namespace {

/// What the dispatcher calls for one operator.
class Kernel final : public c10::OperatorKernel {
 public:
  Kernel(std::shared_ptr<Recorder> recorder, int32_t kind) : recorder_(std::move(recorder)), kind_(kind) {}

  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet keys, c10::Stack* stack) {
    const std::shared_ptr<Recorder> recorder =
        recorder_;  // stop() may take this kernel away while the call is under way
    recorder->call(kind_, op, keys, stack);
  }

 private:
  const std::shared_ptr<Recorder> recorder_;
  const int32_t kind_;
};

/// Py_AddPendingCall()'s: raises what was kept, in the main thread.
int raise_kept(void* kept) {
  const std::unique_ptr<pybind11::error_already_set> error(static_cast<pybind11::error_already_set*>(kept));
  error->restore();
  return -1;
}

/// Asks Python with the GIL; nothing if it is not to be asked any more. What a signal's handler raises meanwhile
/// (KeyboardInterrupt, SystemExit) is for the training, which gets it as soon as Python goes on there.
template <class... Arguments>
pybind11::object ask(pybind11::object question, Arguments&&... arguments) {
  if (!question) return {};
  try {
    return question(std::forward<Arguments>(arguments)...);
  } catch (pybind11::error_already_set& error) {
    if (error.matches(PyExc_Exception)) throw;
    auto kept = std::make_unique<pybind11::error_already_set>(error);
    if (Py_AddPendingCall(raise_kept, kept.get()) != 0) throw;
    static_cast<void>(kept.release());
    return {};
  }
}

/// One that PyTorch throws has a stack in its what().
std::string reason_of(const std::exception& error) {
  const auto* of_torch = dynamic_cast<const c10::Error*>(&error);
  return of_torch != nullptr ? of_torch->what_without_backtrace() : error.what();
}

}  // namespace

// Without stop() it goes with the process, maybe after Python.
Recorder::~Recorder() {
  for (pybind11::object* one : {&questions_.group, &questions_.make_room, &questions_.watch}) one->release();
}

void Recorder::start() {
  clocks_.add_this_thread();
  kernels_ = std::make_unique<torch::Library>(torch::Library::IMPL, "c10d",
                                              std::make_optional(c10::DispatchKey::BackendSelect), __FILE__, __LINE__);
  for (size_t kind = 0; kind < operators_.size(); ++kind) {
    auto kernel = std::make_unique<Kernel>(shared_from_this(), static_cast<int32_t>(kind));
    kernels_->impl(operators_[kind].name.c_str(), torch::CppFunction::makeFromBoxedFunctor(std::move(kernel)));
  }
}

void Recorder::stop() {
  kernels_.reset();
  questions_ = {};
  const pybind11::gil_scoped_release no_gil;
  waits_.drop();
}

void Recorder::give_up(const std::string& why) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (error_.empty()) error_ = why;
  gave_up_.store(true, std::memory_order_relaxed);
}

std::string Recorder::error() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return error_;
}

std::string Recorder::take(int64_t first_step, size_t most) {
  return lines_of(calls_.take(first_step, most), operators_);
}

void Recorder::waited(const c10d::Work& work) {
  if (fork_count() != fork_count_) return;  // another thread may have held the lock when the process was forked
  if (const std::optional<int64_t> number = waits_.take(work)) complete(*number);
}

void Recorder::call(int32_t kind, const c10::OperatorHandle& op, c10::DispatchKeySet keys, c10::Stack* stack) {
  const c10::DispatchKeySet below = keys.remove(c10::DispatchKey::BackendSelect);
  const std::optional<BegunCall> begun = is_idle() ? std::nullopt : begin(kind, *stack);
  if (!begun) {
    op.redispatchBoxed(below, stack);
    return;
  }
  {
    const InsideACall inside(clocks_, begun->own);
    op.redispatchBoxed(below, stack);
  }
  calls_.issued(begun->call.number, monotonic_ns());
  if (begun->call.timed) await(begun->call.number, op, *stack);
}

std::optional<BegunCall> Recorder::begin(int32_t kind, const c10::Stack& stack) noexcept {
  try {
    clocks_.add_this_thread();
    auto [call, group] = read_arguments(operators_[static_cast<size_t>(kind)], stack);
    call.kind = kind;
    call.group = number_of(group, call.device);
    if (call.group < 0) return std::nullopt;
    if (calls_.is_full()) {
      const pybind11::gil_scoped_acquire gil;
      ask(questions_.make_room);
    }
    return calls_.begin(call, clocks_);
  } catch (const std::exception& error) {
    give_up(reason_of(error));
    return std::nullopt;
  }
}

int32_t Recorder::number_of(const c10::intrusive_ptr<c10d::ProcessGroup>& group, c10::DeviceType device) {
  const std::string& name = group->getGroupName();
  const int size = group->getSize();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const Group& known : groups_)
      if (known.device == device && known.size == size && known.name == name) return known.number;
  }
  // Without the lock, as Python may let another thread go on: two that come at once get the same number from it.
  const int32_t number = ask_for_number(group, device);
  if (number >= 0) {
    const std::lock_guard<std::mutex> lock(mutex_);
    groups_.push_back({name, size, device, number});
  }
  return number;
}

int32_t Recorder::ask_for_number(const c10::intrusive_ptr<c10d::ProcessGroup>& group, c10::DeviceType device) {
  const pybind11::gil_scoped_acquire gil;
  const pybind11::object number =
      ask(questions_.group, pybind11::cast(group), c10::DeviceTypeName(device, /*lower_case=*/true));
  return number ? number.cast<int32_t>() : -1;
}

void Recorder::await(int64_t number, const c10::OperatorHandle& op, const c10::Stack& stack) noexcept {
  try {
    c10::intrusive_ptr<c10d::Work> work;
    if (!op.schema().returns().empty()) work = stack.back().toCustomClass<c10d::Work>();
    if (!work) {  // over when it returns: monitored_barrier, and what ringtree's backend has waited for itself
      complete(number);
      return;
    }
    c10::intrusive_ptr<c10::ivalue::Future> future;
    try {
      future = work->getFuture();
    } catch (const std::exception&) {  // PyTorch's way to say that there is none
    }
    if (future) {
      const auto note = [self = shared_from_this(), number](c10::ivalue::Future&) { self->complete(number); };
      future->addCallback(note, /*uses_future=*/false);
      return;
    }
    if (!watches_.exchange(true)) {
      const pybind11::gil_scoped_acquire gil;
      ask(questions_.watch);
    }
    waits_.add(std::move(work), number);
  } catch (const std::exception& error) {
    give_up(reason_of(error));
  }
}

void Recorder::complete(int64_t number) {
  const TraceClocks::Reading reading = clocks_.read();
  calls_.complete(number, reading.now, reading.ran);
}

void bind_recorder(pybind11::module_& module) {
  namespace py = pybind11;
  py::class_<Recorder, std::shared_ptr<Recorder>>(module, "Recorder")
      .def(py::init([](py::object group, py::object make_room, py::object watch, size_t capacity) {
             return std::make_shared<Recorder>(
                 TracerQuestions{std::move(group), std::move(make_room), std::move(watch)}, capacity);
           }),
           py::arg("group"), py::arg("make_room"), py::arg("watch"), py::arg("capacity"))
      .def_property_readonly("capacity", &Recorder::capacity)
      .def("add",
           [](Recorder& self, std::string name, std::string collective, const std::vector<int>& roles) {
             TracedOperator op{std::move(name), std::move(collective), {}};
             for (const int role : roles) op.roles.push_back(static_cast<Role>(role));
             self.add(std::move(op));
           })
      .def("start", &Recorder::start)
      .def("stop", &Recorder::stop)
      .def("give_up", &Recorder::give_up)
      .def("error", &Recorder::error)
      .def("enter_step", &Recorder::enter_step)
      .def("take", &Recorder::take)
      .def("num_calls", &Recorder::num_calls)
      .def("awaits_an_end", &Recorder::awaits_an_end)
      .def("waited", &Recorder::waited)
      .def("drop_waits", &Recorder::drop_waits, py::call_guard<py::gil_scoped_release>())
      .def("read_clocks", [](Recorder& self) {
        const TraceClocks::Reading reading = self.clocks().read();
        return std::pair(static_cast<double>(reading.now) * 1e-9, static_cast<double>(reading.ran) * 1e-9);
      });
}

}  // namespace ringtree_torch
