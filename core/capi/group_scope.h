// This thread's open group: how deep it is nested, what was gathered, and the first call in it that was refused. Every
// call asks here whether it runs now or is put aside.
#pragma once

#include <optional>

#include "core/capi/errors.h"
#include "core/engine/group.h"

namespace ringtree::capi {

void open_group();

/// The group into which calls of this thread go; null if none is open.
Group* open_group_of_thread();

/// Closes the innermost group. The gathered calls if it was the outermost, else nothing. Throws rtInvalidUsage if none
/// is open, and the result of the first call that was refused.
std::optional<Group> close_group();

/// The same for the outermost only: throws rtInvalidUsage, and closes nothing, if it is an inner one.
Group close_outermost_group();

/// A call of the open group, if there is one, was refused: its end will say so and run nothing. The text is this
/// thread's last error.
void spoil_group(rtResult_t result) noexcept;

/// Throws rtInvalidUsage if a group is open: `function` is not for groups.
void require_no_group(const char* function);

/// guarded() for what groups gather.
template <class Body>
rtResult_t gathered(rtComm_t comm, Body&& body) noexcept {
  const rtResult_t result = guarded(comm, body);
  if (result != rtSuccess) spoil_group(result);
  return result;
}

}  // namespace ringtree::capi
