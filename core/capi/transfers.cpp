// rtSend and rtRecv of ringtree.h, in the engine's words.
#include "core/capi/errors.h"
#include "core/capi/submit.h"
#include "core/capi/types.h"

using namespace ringtree;
using namespace ringtree::capi;

namespace {

rtResult_t run(bool sends, void* data, size_t count, rtDataType_t datatype, int peer, rtComm_t comm) {
  return gathered(comm, [&] {
    rtComm& handle = require(comm);
    submit(handle, Transfer{sends, peer, dtype_of(datatype), count, data});
  });
}

}  // namespace

rtResult_t rtSend(const void* input, size_t count, rtDataType_t datatype, int peer, rtComm_t comm) {
  return run(true, const_cast<void*>(input), count, datatype, peer, comm);  // what sends does not write
}

rtResult_t rtRecv(void* output, size_t count, rtDataType_t datatype, int peer, rtComm_t comm) {
  return run(false, output, count, datatype, peer, comm);
}
