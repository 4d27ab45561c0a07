// See handle.h.
#include "core/capi/handle.h"

#include <deque>
#include <utility>

#include "core/capi/errors.h"

void rtComm::keep_error(const std::string& text) {
  const std::lock_guard lock(mutex_);
  error_ = text;
}

std::string rtComm::error() const {
  const std::lock_guard lock(mutex_);
  return error_;
}

namespace ringtree::capi {

rtComm_t make_handle(std::shared_ptr<Store> store, std::unique_ptr<Communicator> communicator) {
  static std::mutex mutex;  // protects `all`
  // Never destroyed: a rank's last calls may come from static destructors. A deque moves nothing.
  static std::deque<rtComm>* const all = new std::deque<rtComm>;
  const std::lock_guard lock(mutex);
  rtComm& made = all->emplace_back();
  made.store = std::move(store);
  made.communicator = std::move(communicator);
  return &made;
}

rtComm& require(rtComm_t comm) {
  if (!comm) refuse_argument("the communicator is NULL");
  if (!comm->communicator) refuse_argument("this communicator was destroyed");
  return *comm;
}

}  // namespace ringtree::capi
