// See group_scope.h.
#include "core/capi/group_scope.h"

#include <string>
#include <utility>

namespace ringtree::capi {
namespace {

// Apart from the rest, because every call reads it: a number needs no look whether it was constructed.
thread_local constinit int depth = 0;

struct Scope {
  Group group;
  rtResult_t refused = rtSuccess;
  std::string why;
};
thread_local Scope scope;

}  // namespace

void open_group() { ++depth; }

Group* open_group_of_thread() { return depth > 0 ? &scope.group : nullptr; }

std::optional<Group> close_group() {
  if (depth == 0) refuse_usage("no group is open: call rtGroupStart() first");
  if (--depth > 0) return std::nullopt;
  Scope closed = std::exchange(scope, {});
  if (closed.refused != rtSuccess)
    throw ResultError(closed.refused, "the group was not run, because a call in it was refused: " + closed.why);
  return std::move(closed.group);
}

Group close_outermost_group() {
  if (depth > 1) refuse_usage("an inner group cannot be ended in the background: only the outermost can");
  std::optional<Group> closed = close_group();
  return closed ? std::move(*closed) : Group{};  // it is the outermost
}

void spoil_group(rtResult_t result) noexcept {
  if (depth == 0 || scope.refused != rtSuccess) return;
  scope.refused = result;
  try {
    scope.why = last_error_of_thread();
  } catch (...) {  // NOLINT(bugprone-empty-catch): no memory; the result must do
  }
}

void require_no_group(const char* function) {
  if (depth > 0) refuse_usage(std::string(function) + " is not for groups: call it before rtGroupStart()");
}

}  // namespace ringtree::capi
