// Groups and requests of ringtree.h. What a group does is core/engine/group.h's.
#include <memory>
#include <utility>

#include "core/capi/errors.h"
#include "core/capi/group_scope.h"

/// Named as in ringtree.h.
struct rtRequest {
  ringtree::GroupWork work;
};

namespace ringtree::capi {
namespace {

// The end of a request that is done: frees it, then throws what its calls threw.
void finish(rtRequest_t& request) {
  const std::unique_ptr<rtRequest> done(std::exchange(request, nullptr));
  done->work.wait();
}

}  // namespace
}  // namespace ringtree::capi

using namespace ringtree::capi;

rtResult_t rtGroupStart() {
  return guarded(nullptr, [] { open_group(); });
}

rtResult_t rtGroupEnd() {
  return guarded(nullptr, [] {
    if (auto group = close_group()) group->run();
  });
}

rtResult_t rtGroupEndAsync(rtRequest_t* request) {
  return guarded(nullptr, [&] {
    require_out(request, "request") = nullptr;
    auto started = std::make_unique<rtRequest>();  // before anything is under way
    started->work = close_outermost_group().start();
    *request = started.release();
  });
}

rtResult_t rtWait(rtRequest_t* request, double timeout_s) {
  bool unfinished = false;
  const rtResult_t result = guarded(nullptr, [&] {
    require_seconds(timeout_s, "timeout_s");
    rtRequest_t& open = require_out(request, "request");
    if (!open) return;
    try {
      open->work.wait(timeout_s);
    } catch (...) {
      unfinished = !open->work.test();
      if (unfinished) throw;
    }
    finish(open);
  });
  return unfinished ? rtInProgress : result;
}

rtResult_t rtTest(rtRequest_t* request, int* done) {
  return guarded(nullptr, [&] {
    int& answer = require_out(done, "done");
    rtRequest_t& open = require_out(request, "request");
    answer = !open || open->work.test() ? 1 : 0;
    if (open && answer == 1) finish(open);
  });
}
