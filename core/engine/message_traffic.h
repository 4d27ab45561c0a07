// MessageTraffic: what the thread of a mailbox does. It has the open messages of a rank and moves them, each direction
// over a TransferWay, all at the same time. Not for threads and who wakes whom: mailbox.h.
//
// A direction carries one message after another, in the order of posting: a header, then the bytes, unless they are so
// few that the header has them. A header is read only while an open receive could come from that peer, so nothing
// arrives that nobody waits for; but with another tag or from any source somebody may wait for another message. Then
// the bytes go into memory of this rank and are kept for a receive that is posted later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>

#include "core/engine/executor.h"
#include "core/engine/posted_messages.h"
#include "core/engine/transfer_way.h"

namespace ringtree {

class MessageTraffic final : public Watch {
 public:
  MessageTraffic(const TransferWay::Parts& parts, PostedMessages& posted)
      : parts_(parts), session_(parts.session), posted_(posted) {}

  // As drive() and Waiter (waiter.h) want a run.

  /// Takes what was posted, and advances everything as far as it goes without waiting. True if anything moved.
  bool poll();
  /// Nothing is open, or the communicator has failed.
  bool finished() const { return num_open_ == 0 || session_.failed(); }
  int mismatched_peer() const { return -1; }  // told by the communicator's failure
  size_t done_bytes() const { return 0; }     // of calls only
  int64_t next_event_ns() const;

  bool attention() const override { return posted_.any() || session_.attention(); }
  void first_wait() override {}
  bool inspect() override;

  /// Once the communicator has failed: all that is open ends with that.
  void fail_all();

 private:
  struct Outgoing {
    Outgoing(const TransferWay::Parts& parts, int peer) : way(parts, peer, true) {}
    TransferWay way;
    TaggedMessages queue;  // the first is under way, or next
    MessageHeader header;
    bool in_payload = false;
  };
  struct Incoming {
    Incoming(const TransferWay::Parts& parts, int peer) : way(parts, peer, false) {}
    // Before the way, which may look at them once more when it ends.
    MessageHeader header;                 // what has come, or comes
    std::unique_ptr<std::byte[]> memory;  // where the payload goes if it was not known when it began
    TransferWay way;
    bool in_payload = false;
    TaggedMessages taker;  // of the payload: the receive that it is for, if it is known
  };
  /// What has come and nobody has asked for yet.
  struct Kept {
    int source, tag;
    size_t bytes;
    std::unique_ptr<std::byte[]> data;
  };

  // What becomes of the first of fresh_.
  void add_first();
  void add_receive();
  void send_to_self();

  bool advance(Outgoing& out);
  bool advance(Incoming& in);
  /// True if what is under way there is done; it is then ended.
  bool poll(TransferWay& way, bool& moved);
  void take_header(Incoming& in);
  void take_payload(Incoming& in);
  bool is_wanted(const Incoming& in) const;

  TaggedMessages take_receive(int source, int tag);
  bool same_bytes(const TaggedMessage& receive, int source, size_t bytes);
  /// The first of `messages` has ended.
  void complete(TaggedMessages& messages, int source, std::exception_ptr error = nullptr);
  int source_of(const TaggedMessage& message) const { return message.sends ? session_.rank() : message.peer; }
  void end_receives(const std::function<std::exception_ptr(const TaggedMessage&)>& error_of);
  void close();
  std::exception_ptr failure();
  void deliver();

  void check_gone();
  void check_stream();
  void check_deadlines();
  bool is_flushing() const;
  template <class Visit>
  void visit_open(const Visit& visit) const;

  const TransferWay::Parts parts_;
  Session& session_;
  PostedMessages& posted_;
  TaggedMessages fresh_;              // posted, and not yet looked at
  std::map<int, Outgoing> outgoing_;  // by peer
  std::map<int, Incoming> incoming_;
  TaggedMessages receives_;  // that no header was matched with, in the order of posting
  std::list<Kept> kept_;     // in the order of arrival
  TaggedMessages ended_;     // to be told to their posters
  size_t num_open_ = 0;
  bool closing_ = false;
  int num_moves_ = 0;
  int64_t next_deadline_ns_ = Deadline{}.at_ns;  // no open message's is earlier
  int64_t flush_by_ns_ = 0;                      // the latest deadline of what was sent to other hosts
};

}  // namespace ringtree
