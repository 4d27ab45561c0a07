// The one place where C++ errors become Python exceptions. The classes are Python's own (ringtree/errors.py), so that
// they can have the bases that users expect: UsageError is a ValueError, DeadlineError a TimeoutError.
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/bindings/bindings.h"
#include "core/engine/failure.h"
#include "core/schedule/program.h"
#include "core/verify/verify.h"

namespace nb = nanobind;

namespace ringtree::bindings {
namespace {

void raise(const char* name, const std::exception& error) {
  const nb::object type = nb::module_::import_("ringtree.errors").attr(name);
  PyErr_SetString(type.ptr(), error.what());
}

// Of errors that name ranks in a field, too.
void raise(const char* name, const std::exception& error, const std::vector<int>& ranks) {
  const nb::object type = nb::module_::import_("ringtree.errors").attr(name);
  nb::list numbers;
  for (const int rank : ranks) numbers.append(rank);
  const std::string_view text = error.what();
  const auto decoded = nb::steal<nb::object>(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace"));
  PyErr_SetObject(type.ptr(), type(decoded, numbers).ptr());
}

void translate(const std::exception_ptr& pointer, void*) {
  try {
    std::rethrow_exception(pointer);
  } catch (const Interrupted& error) {
    // The check that found the signal has usually set KeyboardInterrupt already (communicator.cpp's interrupt check).
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_KeyboardInterrupt, error.what());
  } catch (const VerificationError& error) {
    raise("VerificationError", error);
  } catch (const ScheduleError& error) {
    raise("ScheduleError", error);
  } catch (const UsageError& error) {
    raise("UsageError", error);
  } catch (const PeerError& error) {
    raise("PeerError", error, error.ranks);
  } catch (const TimeoutError& error) {
    raise("DeadlineError", error, error.ranks);
  } catch (const MismatchError& error) {
    raise("MismatchError", error);
  } catch (const WorldError& error) {
    raise("RingtreeError", error);
  }
}

}  // namespace

void bind_errors(nb::module_&) { nb::register_exception_translator(translate); }

}  // namespace ringtree::bindings
