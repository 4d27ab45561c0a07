// See mailbox.h.
#include "core/engine/mailbox.h"

#include <limits>
#include <string>
#include <utility>

#include "core/base/helper_thread.h"
#include "core/engine/waiter.h"

namespace ringtree {

Mailbox::Mailbox(const TransferWay::Parts& parts, const WaitPolicy& policy)
    : parts_(parts),
      policy_(policy),
      posted_(parts.session.members().own_page().bell),
      traffic_(parts, posted_),
      thread_(start_helper_thread("ringtree-mail", [this] { run(); })) {}

Mailbox::~Mailbox() { close(); }

void Mailbox::post(TaggedMessage message) {
  check(message);
  if (!(message.timeout_s > 0)) message.timeout_s = parts_.settings.timeout_s;
  message.deadline = Deadline::after_seconds(message.timeout_s);
  TaggedMessages one;
  one.push_back(std::move(message));
  posted_.add(std::move(one));
}

void Mailbox::check(const TaggedMessage& message) const {
  const int n = parts_.session.world_size();
  const bool any = message.peer == kAnySource && !message.sends;
  if (!any && (message.peer < 0 || message.peer >= n))
    throw UsageError("rank " + std::to_string(message.peer) + " is not a rank of a world of " + std::to_string(n));
  if (!(message.timeout_s >= 0)) throw UsageError("timeout must be 0 (the communicator's) or positive");
  if (message.bytes > std::numeric_limits<size_t>::max() / 2)
    throw UsageError("a count of " + std::to_string(message.bytes) + " bytes exceeds the address space");
  if (message.bytes > 0 && !message.data) throw UsageError("a " + message.to_string() + " needs a buffer");
  if (!message.done) throw UsageError("a " + message.to_string() + " needs a completion callback");
}

bool Mailbox::close() {
  if (!thread_.joinable()) return false;
  posted_.close();
  thread_.join();
  return true;
}

void Mailbox::run() {
  thread_id_.store(std::this_thread::get_id(), std::memory_order_relaxed);  // read by this thread, or found different
  if (parts_.settings.emulation) use_exact_timers();
  SpinBudget budget(policy_);
  while (posted_.wait()) {
    Waiter waiter(policy_, budget, parts_.session.inlets(), traffic_);
    drive(traffic_, waiter, traffic_);
    if (parts_.session.failed()) traffic_.fail_all();
  }
  thread_id_.store({}, std::memory_order_relaxed);  // before who joins this thread goes on
}

}  // namespace ringtree
