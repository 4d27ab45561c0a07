// How messages end: well, too late, without a peer, with the communicator. See message_traffic.h; how they move:
// message_traffic.cpp.
#include <algorithm>
#include <utility>

#include "core/engine/call_watch.h"
#include "core/engine/message_traffic.h"

namespace ringtree {

void MessageTraffic::complete(TaggedMessages& messages, int source, std::exception_ptr error) {
  TaggedMessage& message = messages.front();
  message.source = source;
  message.error = std::move(error);
  ended_.splice(ended_.end(), messages, messages.begin());
  --num_open_;
}

// Last of what a poll does: whoever is told may post again, and the lists are then as they should be.
void MessageTraffic::deliver() {
  while (!ended_.empty()) {
    TaggedMessages first;
    first.splice(first.end(), ended_, ended_.begin());
    const TaggedMessage& message = first.front();
    message.done(message.source, message.error);
  }
}

// Once the communicator has failed.
std::exception_ptr MessageTraffic::failure() {
  try {
    session_.raise_failure();
  } catch (...) {
    return std::current_exception();
  }
}

void MessageTraffic::fail_all() {
  std::exception_ptr error = failure();
  while (!fresh_.empty()) complete(fresh_, source_of(fresh_.front()), error);
  end_receives([&](const TaggedMessage&) { return error; });
  for (auto& [peer, out] : outgoing_) {
    out.way.end();
    while (!out.queue.empty()) complete(out.queue, session_.rank(), error);
  }
  deliver();
}

// The mailbox is closed: nothing will be received any more.
void MessageTraffic::close() {
  closing_ = true;
  end_receives([&](const TaggedMessage& receive) {
    return std::make_exception_ptr(UsageError("the communicator was closed before the " + receive.to_string() + " of " +
                                              session_.members().describe(session_.rank()) + " was complete"));
  });
}

void MessageTraffic::end_receives(const std::function<std::exception_ptr(const TaggedMessage&)>& error_of) {
  const auto end_all = [&](TaggedMessages& receives) {
    while (!receives.empty()) complete(receives, receives.front().peer, error_of(receives.front()));
  };
  for (auto& [peer, in] : incoming_) {
    if (!in.taker.empty()) in.way.end();  // it may write into the receive's buffer, which is the poster's again
    end_all(in.taker);
  }
  end_all(receives_);
}

bool MessageTraffic::inspect() {
  session_.clear_attention();
  if (!session_.failed()) check_gone();
  if (!session_.failed()) check_stream();
  if (!session_.failed()) check_deadlines();
  return session_.failed() || (num_open_ == 0 && !is_flushing());
}

// Who receives from any rank is told of one that died, as the message may have been its, but not of those that left in
// order, unless nobody is there any more.
void MessageTraffic::check_gone() {
  for (auto& [peer, out] : outgoing_)
    if (!out.queue.empty() && out.way.is_cut_off())
      return fail_for_gone_peer(session_, peer, out.queue.front().to_string());
  int num_left = 0;
  for (auto& [peer, in] : incoming_) {
    if (!is_wanted(in) || !in.way.is_cut_off()) continue;
    const auto named = std::find_if(receives_.begin(), receives_.end(),
                                    [from = peer](const TaggedMessage& receive) { return receive.peer == from; });
    if (!in.taker.empty()) return fail_for_gone_peer(session_, peer, in.taker.front().to_string());
    if (named != receives_.end()) return fail_for_gone_peer(session_, peer, named->to_string());
    const auto any = std::find_if(receives_.begin(), receives_.end(),
                                  [](const TaggedMessage& receive) { return receive.peer == kAnySource; });
    if (!session_.members().left_in_order(peer) || ++num_left == session_.world_size() - 1)
      return fail_for_gone_peer(session_, peer, any->to_string());
  }
}

template <class Visit>
void MessageTraffic::visit_open(const Visit& visit) const {
  for (const auto& [peer, out] : outgoing_) std::for_each(out.queue.begin(), out.queue.end(), visit);
  for (const auto& [peer, in] : incoming_) std::for_each(in.taker.begin(), in.taker.end(), visit);
  std::for_each(receives_.begin(), receives_.end(), visit);
}

void MessageTraffic::check_stream() {
  if (num_open_ == 0) return;
  const std::string broken = broken_stream(session_);
  if (broken.empty()) return;
  const TaggedMessage* open = nullptr;
  visit_open([&](const TaggedMessage& message) { open = &message; });
  session_.fail(FailureKind::peer, broken + " during a " + open->to_string());
}

void MessageTraffic::check_deadlines() {
  const int64_t now = now_ns();
  if (closing_ && num_open_ == 0 && now >= flush_by_ns_ && is_flushing())
    return session_.fail(FailureKind::timeout, session_.members().describe(session_.rank()) +
                                                   " closed its communicator, and ranks of other hosts had not taken "
                                                   "in time what it had sent them");
  if (now < next_deadline_ns_) return;
  next_deadline_ns_ = Deadline{}.at_ns;
  const TaggedMessage* late = nullptr;
  visit_open([&](const TaggedMessage& message) {
    if (now >= message.deadline.at_ns && !late) late = &message;
    next_deadline_ns_ = std::min(next_deadline_ns_, message.deadline.at_ns);
  });
  if (late) session_.fail(FailureKind::timeout, late_text(session_, late->to_string(), late->timeout_s));
}

// What was sent to other hosts is still to be given to the kernel, and somebody is there to take it.
bool MessageTraffic::is_flushing() const {
  const TcpPort* const port = session_.port();
  for (int peer = 0; port && peer < session_.world_size(); ++peer)
    if (session_.members().is_remote(peer) && !session_.members().is_gone(peer) && !port->flushed(peer)) return true;
  return false;
}

}  // namespace ringtree
