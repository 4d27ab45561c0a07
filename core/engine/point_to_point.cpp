// See point_to_point.h.
#include "core/engine/point_to_point.h"

#include <cstring>
#include <limits>

#include "core/engine/waiter.h"

namespace ringtree {

/// The transfers of one call of run(), and what this rank looks at while they wait.
class PointToPoint::Group final : public Watch {
 public:
  Group(PointToPoint& owner, const Waiting& waiting)
      : owner_(owner), session_(owner.session_), waiting_(waiting), ways_(owner.active_) {}

  void add(const Transfer& transfer) {
    Way& way = owner_.way(transfer);
    if (way.queue.empty()) ways_.push_back(&way);
    way.queue.push_back(&transfer);
  }

  /// Links of all sends before anything waits: the peers may wait for them.
  void make_links() {
    for (Way* way : ways_)
      if (way->sends()) make_plan(*way);
  }

  bool poll() {
    bool moved = false;
    for (Way* way : ways_) moved |= advance(*way);
    return moved;
  }
  bool finished() const {
    for (const Way* way : ways_)
      if (way->next < way->queue.size()) return false;
    return true;
  }
  int mismatched_peer() const { return mismatched_peer_; }
  /// Of the transfers that are done.
  size_t done_bytes() const {
    size_t done = 0;
    for (const Way* way : ways_)
      for (size_t i = 0; i < way->next; ++i) done += way->queue[i]->count * item_size(way->queue[i]->dtype);
    return done;
  }
  int64_t next_event_ns() const {
    int64_t first = kNever;
    for (Way* way : ways_)
      if (ActiveRun* run = way->run()) first = std::min(first, run->next_event_ns());
    return first;
  }

  bool attention() const override { return session_.attention(); }
  void first_wait() override {}
  bool inspect() override {
    session_.clear_attention();
    if (!session_.failed()) check_gone();
    if (!session_.failed()) check_stream();
    if (!session_.failed()) check_deadline();
    if (!session_.failed() && waiting_.interrupted && waiting_.interrupted() != 0)
      session_.fail(FailureKind::interrupted, session_.members().describe(session_.rank()) +
                                                  " was interrupted during a " + open_transfer()->to_string());
    return session_.failed();
  }

  void report_mismatch() {
    for (const Way* way : ways_)
      if (!way->sends() && way->peer() == mismatched_peer_ && way->next < way->queue.size())
        session_.fail(FailureKind::mismatch, session_.members().describe(mismatched_peer_) +
                                                 " sent something other than the " +
                                                 way->queue[way->next]->to_string() + " (its transfer number " +
                                                 std::to_string(way->num_begun()) + " to this rank) that " +
                                                 session_.members().describe(session_.rank()) +
                                                 " waits for: both sides must give the same count and dtype");
  }

  ~Group() override {
    for (Way* way : ways_) {
      way->end();
      way->queue.clear();
      way->next = 0;
    }
    ways_.clear();
  }

 private:
  void make_plan(Way& way) {
    if (!way.has_plan()) way.make_plan(way.queue[way.next]->to_string(), [this] { return inspect(); });
  }

  bool advance(Way& way) {
    bool moved = false;
    while (way.next < way.queue.size()) {
      if (!way.run()) {
        if (!way.has_plan()) {
          if (!way.may_make_plan()) return moved;
          make_plan(way);
        }
        way.begin(*way.queue[way.next], TransferWay::Kind::transfer);
        moved = true;
      }
      ActiveRun& run = *way.run();
      moved |= run.poll();
      if (run.mismatched_peer() >= 0) mismatched_peer_ = run.mismatched_peer();
      if (mismatched_peer_ >= 0 || !run.finished()) return moved;
      way.end();
      ++way.next;
      moved = true;
    }
    return moved;
  }

  const Transfer* open_transfer() const {
    for (const Way* way : ways_)
      if (way->next < way->queue.size()) return way->queue[way->next];
    return ways_.front()->queue.back();
  }

  void check_gone() {
    for (Way* way : ways_) {
      if (way->next == way->queue.size() || !way->is_cut_off()) continue;
      return fail_for_gone_peer(session_, way->peer(), way->queue[way->next]->to_string());
    }
  }

  void check_stream() {
    const std::string broken = broken_stream(session_);
    if (!broken.empty()) session_.fail(FailureKind::peer, broken + " during a " + open_transfer()->to_string());
  }

  void check_deadline() {
    if (deadline_.at_ns == Deadline{}.at_ns) deadline_ = Deadline::after_seconds(waiting_.timeout_s);
    if (!deadline_.passed()) return;
    const Transfer& open = *open_transfer();
    session_.fail(FailureKind::timeout, late_text(session_, open.to_string(), waiting_.timeout_s) +
                                            "; the newest collective of " + session_.members().describe(open.peer) +
                                            " is #" +
                                            std::to_string(session_.members().page(open.peer).board.newest()));
  }

  PointToPoint& owner_;
  Session& session_;
  const Waiting& waiting_;
  std::vector<Way*>& ways_;
  Deadline deadline_;  // from the first inspection: a transfer that need not wait reads no clock
  int mismatched_peer_ = -1;
};

void PointToPoint::run(std::span<const Transfer> transfers, const Waiting& waiting) {
  for (const Transfer& transfer : transfers) check(transfer);
  copy_to_self(transfers);
  Group group(*this, waiting);
  bool any = false;
  for (const Transfer& transfer : transfers) {
    if (transfer.peer == session_.rank()) continue;
    group.add(transfer);
    any = true;
  }
  if (!any) return;
  group.make_links();
  Waiter waiter(waiting.policy, waiting.budget, session_.inlets(), group);
  const RunResult result = drive(group, waiter, group);
  if (result.status == RunStatus::mismatch) group.report_mismatch();
  if (result.status != RunStatus::done) session_.raise_failure();
}

void PointToPoint::check(const Transfer& transfer) const {
  if (transfer.peer < 0 || transfer.peer >= session_.world_size())
    throw UsageError("rank " + std::to_string(transfer.peer) + " is not a rank of a world of " +
                     std::to_string(session_.world_size()));
  if (transfer.count > std::numeric_limits<size_t>::max() / item_size(transfer.dtype) / 2)
    throw UsageError("count " + std::to_string(transfer.count) + " exceeds the address space");
  if (transfer.count > 0 && !transfer.data) throw UsageError("a " + transfer.to_string() + " needs a buffer");
}

void PointToPoint::copy_to_self(std::span<const Transfer> transfers) const {
  std::vector<const Transfer*> sends, receives;
  for (const Transfer& transfer : transfers)
    if (transfer.peer == session_.rank()) (transfer.sends ? sends : receives).push_back(&transfer);
  if (sends.size() != receives.size())
    throw UsageError("a rank that sends to itself must post as many receives from itself in the same group");
  for (size_t i = 0; i < sends.size(); ++i) {
    if (sends[i]->count != receives[i]->count || sends[i]->dtype != receives[i]->dtype)
      throw UsageError("a " + sends[i]->to_string() + " meets a " + receives[i]->to_string());
    if (sends[i]->count > 0)
      std::memmove(receives[i]->data, sends[i]->data, sends[i]->count * item_size(sends[i]->dtype));
  }
}

PointToPoint::Way& PointToPoint::way(const Transfer& transfer) {
  return ways_.try_emplace({transfer.peer, transfer.sends}, parts_, transfer.peer, transfer.sends).first->second;
}

}  // namespace ringtree
