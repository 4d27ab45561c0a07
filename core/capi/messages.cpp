// rtPostSend and rtPostRecv of ringtree.h, in the engine's words.
#include "core/capi/errors.h"
#include "core/capi/group_scope.h"
#include "core/capi/handle.h"

using namespace ringtree;
using namespace ringtree::capi;

namespace {

// Tells a C function what the engine tells. Not kept as the communicator's error: what ended that is told anyway.
TaggedMessage::Done teller(rtMessageDone_t done, void* context) {
  if (!done) refuse_argument("done is NULL");
  return [done, context](int source, const std::exception_ptr& error) {
    if (!error) return done(context, rtSuccess, source, "");
    const auto [result, text] = describe(error);
    done(context, result, source, text.c_str());
  };
}

double seconds(double timeout_s, const rtComm& comm) {
  require_seconds(timeout_s, "timeout_s");
  return timeout_s > 0 ? timeout_s : comm.timeout_s.load(std::memory_order_relaxed);  // a number, it publishes nothing
}

}  // namespace

rtResult_t rtPostSend(const void* input, size_t size, int peer, int tag, double timeout_s, rtMessageDone_t done,
                      void* context, rtComm_t comm) {
  return guarded(comm, [&] {
    rtComm& handle = require(comm);
    require_no_group("rtPostSend");
    const double limit_s = seconds(timeout_s, handle);
    handle.communicator->post_send(peer, tag, input, size, limit_s, teller(done, context));
  });
}

rtResult_t rtPostRecv(void* output, size_t size, int peer, int tag, double timeout_s, rtMessageDone_t done,
                      void* context, rtComm_t comm) {
  return guarded(comm, [&] {
    rtComm& handle = require(comm);
    require_no_group("rtPostRecv");
    const double limit_s = seconds(timeout_s, handle);
    handle.communicator->post_recv(peer, tag, output, size, limit_s, teller(done, context));
  });
}
