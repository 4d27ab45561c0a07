// See message_traffic.h. Here how messages move and meet; what ends them otherwise: message_traffic_ends.cpp.
#include "core/engine/message_traffic.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/engine/waiter.h"

namespace ringtree {
namespace {

// A thread that always finds something to do must still look at deadlines and peers now and then.
constexpr int kMovesBetweenLooks = 256;

void copy_bytes(void* to, const void* from, size_t bytes) {
  if (bytes > 0) std::memmove(to, from, bytes);  // none: the buffers may be null
}

std::unique_ptr<std::byte[]> memory_for(size_t bytes) { return std::make_unique_for_overwrite<std::byte[]>(bytes); }

// As the engine moves the parts of a message: bytes.
Transfer transfer_of(const TransferWay& way, void* data, size_t bytes) {
  return {way.sends(), way.peer(), Dtype::kUint8, bytes, data};
}

}  // namespace

bool MessageTraffic::poll() {
  bool moved = false;
  try {
    if (posted_.any()) {
      PostedMessages::Taken taken = posted_.take();
      num_open_ += taken.messages.size();
      fresh_.splice(fresh_.end(), taken.messages);
      while (!fresh_.empty()) add_first();
      if (taken.closed) close();
      moved = true;
    }
    for (auto& [peer, out] : outgoing_) moved |= advance(out);
    for (auto& [peer, in] : incoming_) moved |= advance(in);
  } catch (const std::exception& error) {  // no memory, or no link; a peer would wait for us
    session_.fail(FailureKind::error, session_.members().describe(session_.rank()) +
                                          " could not continue with its messages: " + error.what());
  }
  deliver();
  // Where nothing moves, who waits looks itself, and between two looks all ways must be polled.
  if (moved && (session_.attention() || ++num_moves_ % kMovesBetweenLooks == 0)) inspect();
  return moved;
}

int64_t MessageTraffic::next_event_ns() const {
  int64_t first = kNever;
  for (const auto& [peer, out] : outgoing_)
    if (const ActiveRun* run = out.way.run()) first = std::min(first, run->next_event_ns());
  for (const auto& [peer, in] : incoming_)
    if (const ActiveRun* run = in.way.run()) first = std::min(first, run->next_event_ns());
  return first;
}

// --- what is posted

void MessageTraffic::add_first() {
  const TaggedMessage& message = fresh_.front();
  next_deadline_ns_ = std::min(next_deadline_ns_, message.deadline.at_ns);
  if (session_.failed()) return complete(fresh_, source_of(message), failure());
  if (!message.sends) return add_receive();
  if (message.peer == session_.rank()) return send_to_self();
  TaggedMessages& queue = outgoing_.try_emplace(message.peer, parts_, message.peer).first->second.queue;
  queue.splice(queue.end(), fresh_, fresh_.begin());
}

// What came first is taken first: what is kept, then what is arriving and known by its header, then what comes.
void MessageTraffic::add_receive() {
  const TaggedMessage& receive = fresh_.front();
  const auto matches = [&receive](int source, int tag) { return receive.could_be_from(source) && receive.tag == tag; };
  const auto kept =
      std::find_if(kept_.begin(), kept_.end(), [&](const Kept& each) { return matches(each.source, each.tag); });
  if (kept != kept_.end()) {
    if (!same_bytes(receive, kept->source, kept->bytes)) return complete(fresh_, kept->source, failure());
    copy_bytes(receive.data, kept->data.get(), kept->bytes);
    complete(fresh_, kept->source);
    kept_.erase(kept);
    return;
  }
  for (int peer = 0; peer < session_.world_size(); ++peer) {
    if (peer == session_.rank() || !receive.could_be_from(peer)) continue;
    Incoming& in = incoming_.try_emplace(peer, parts_, peer).first->second;
    if (!in.in_payload || !in.taker.empty() || !matches(peer, in.header.tag)) continue;
    if (!same_bytes(receive, peer, in.header.bytes)) return complete(fresh_, peer, failure());
    in.taker.splice(in.taker.end(), fresh_, fresh_.begin());
    return;
  }
  receives_.splice(receives_.end(), fresh_, fresh_.begin());
}

void MessageTraffic::send_to_self() {
  const TaggedMessage& message = fresh_.front();
  TaggedMessages receive = take_receive(message.peer, message.tag);
  if (receive.empty()) {
    Kept& kept = kept_.emplace_back(Kept{message.peer, message.tag, message.bytes, memory_for(message.bytes)});
    copy_bytes(kept.data.get(), message.data, message.bytes);
  } else if (same_bytes(receive.front(), message.peer, message.bytes)) {
    copy_bytes(receive.front().data, message.data, message.bytes);
    complete(receive, message.peer);
  } else {
    complete(receive, message.peer, failure());
    return complete(fresh_, message.peer, failure());
  }
  complete(fresh_, message.peer);
}

// The receive that a message is for, if it is posted.
TaggedMessages MessageTraffic::take_receive(int source, int tag) {
  TaggedMessages taken;
  const auto found = std::find_if(receives_.begin(), receives_.end(), [&](const TaggedMessage& receive) {
    return receive.could_be_from(source) && receive.tag == tag;
  });
  if (found != receives_.end()) taken.splice(taken.end(), receives_, found);
  return taken;
}

// Else the communicator has failed.
bool MessageTraffic::same_bytes(const TaggedMessage& receive, int source, size_t bytes) {
  if (receive.bytes == bytes) return true;
  session_.fail(FailureKind::mismatch, session_.members().describe(source) + " sent " + std::to_string(bytes) +
                                           " bytes with tag " + std::to_string(receive.tag) + " to the " +
                                           receive.to_string() + " of " + session_.members().describe(session_.rank()) +
                                           ": both sides must give the same number of bytes");
  return false;
}

// --- what moves

bool MessageTraffic::advance(Outgoing& out) {
  bool moved = false;
  while (!out.queue.empty() && !session_.failed()) {
    const TaggedMessage& message = out.queue.front();
    if (!out.way.run()) {
      if (!out.way.has_plan()) out.way.make_plan(message.to_string(), [this] { return inspect(); });
      out.header.bytes = message.bytes;
      out.header.tag = message.tag;
      if (out.header.holds_payload()) copy_bytes(out.header.payload, message.data, message.bytes);
      out.way.begin(transfer_of(out.way, &out.header, sizeof out.header), TransferWay::Kind::header);
    }
    if (!poll(out.way, moved)) return moved;
    out.in_payload = !out.in_payload && !out.header.holds_payload();
    if (out.in_payload) {
      out.way.begin(transfer_of(out.way, message.data, message.bytes), TransferWay::Kind::payload);
    } else {
      if (session_.members().is_remote(message.peer)) flush_by_ns_ = std::max(flush_by_ns_, message.deadline.at_ns);
      complete(out.queue, session_.rank());
    }
  }
  return moved;
}

bool MessageTraffic::advance(Incoming& in) {
  bool moved = false;
  while (is_wanted(in) && !session_.failed()) {
    if (!in.way.run()) {
      if (!in.way.has_plan()) {
        if (!in.way.may_make_plan()) return moved;
        in.way.make_plan("recv of a message from rank " + std::to_string(in.way.peer()), [this] { return inspect(); });
      }
      in.way.begin(transfer_of(in.way, &in.header, sizeof in.header), TransferWay::Kind::header);
    }
    if (!poll(in.way, moved)) return moved;
    if (in.in_payload) {
      take_payload(in);
    } else {
      take_header(in);
    }
  }
  return moved;
}

bool MessageTraffic::poll(TransferWay& way, bool& moved) {
  ActiveRun& run = *way.run();
  moved |= run.poll();
  if (run.mismatched_peer() >= 0) {
    session_.fail(FailureKind::mismatch, session_.members().describe(way.peer()) +
                                             " sent something other than a tagged message to " +
                                             session_.members().describe(session_.rank()) +
                                             ": on one communicator either all ranks post messages or none");
    return false;
  }
  if (!run.finished()) return false;
  way.end();
  moved = true;
  return true;
}

// Whether an open receive is for what arrives there, or could be for what comes next.
bool MessageTraffic::is_wanted(const Incoming& in) const {
  return !in.taker.empty() || std::any_of(receives_.begin(), receives_.end(), [&](const TaggedMessage& receive) {
    return receive.could_be_from(in.way.peer());
  });
}

void MessageTraffic::take_header(Incoming& in) {
  const int peer = in.way.peer();
  const size_t bytes = in.header.bytes;
  if (in.header.mark != MessageHeader::kMark)
    return session_.fail(FailureKind::error, session_.members().describe(peer) + " sent a message without a header");
  in.taker = take_receive(peer, in.header.tag);
  const bool is_known = !in.taker.empty();
  if (is_known && !same_bytes(in.taker.front(), peer, bytes)) return;
  if (!is_known) in.memory = memory_for(bytes);
  std::byte* const data = is_known ? in.taker.front().data : in.memory.get();
  if (in.header.holds_payload()) {
    copy_bytes(data, in.header.payload, bytes);
    take_payload(in);
  } else {
    in.in_payload = true;
    in.way.begin(transfer_of(in.way, data, bytes), TransferWay::Kind::payload);
  }
}

// It is all there: in the receive's buffer, or in memory of ours, where a receive may have been posted for it
// meanwhile.
void MessageTraffic::take_payload(Incoming& in) {
  in.in_payload = false;
  const int peer = in.way.peer();
  if (in.taker.empty()) {
    kept_.push_back({peer, in.header.tag, in.header.bytes, std::move(in.memory)});
    return;
  }
  if (in.memory) copy_bytes(in.taker.front().data, in.memory.get(), in.header.bytes);
  in.memory.reset();
  complete(in.taker, peer);
}

}  // namespace ringtree
