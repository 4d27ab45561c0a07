// See point_to_point.h.
#include "core/engine/point_to_point.h"

#include <cstdio>
#include <cstring>
#include <limits>

#include "core/engine/selection.h"
#include "core/engine/waiter.h"

namespace ringtree {
namespace {

constexpr int kTag = 1 << 30;  // no schedule's: a link that collectives share would mix their messages up
constexpr int64_t kLateEndNs = 1'000'000'000;  // for the end of the streams of a peer that has left

// A broadcast that reaches one rank only: what the engine runs of it is one step at either end.
std::shared_ptr<const Schedule> schedule_of(int num_ranks, int from, int to) {
  const auto generate = [from, to](ProgramBuilder& b) {
    Step step;
    if (b.rank() == from) {
      step.verb = Verb::send;
      step.src = kInput;
      step.send_to = {to};
      step.send_tag = kTag;
      b.add(step);
    } else if (b.rank() == to) {
      step.verb = Verb::recv;
      step.recv = {{from, kTag}};
      step.dst = kOutput;
      b.add(step);
    }
  };
  return std::make_shared<const Schedule>(ScheduleShape{"send_recv", Collective::broadcast, num_ranks, from, 1, 1, {}},
                                          generate);
}

uint64_t key_of(int from, int to) {
  const uint64_t pair = uint64_t{static_cast<uint32_t>(from)} << 32 | static_cast<uint32_t>(to);
  return (pair + 1) * 0x9e3779b97f4a7c15u;
}

uint32_t fingerprint_of(const Transfer& transfer, uint64_t key, uint64_t sequence) {
  CallDescription description;
  description.collective = Collective::broadcast;
  description.dtype = transfer.dtype;
  description.count = transfer.count;
  description.plan_key = key;
  return CallDescription::fingerprint(description.kind_hash(), sequence);
}

}  // namespace

std::string Transfer::to_string() const {
  return std::string(sends ? "send of " : "recv of ") + std::to_string(count) + " " + dtype_name(dtype) +
         (sends ? " to rank " : " from rank ") + std::to_string(peer);
}

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
      if (way->sends) make_plan(*way);
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
      if (way->under_way) first = std::min(first, way->place.run()->next_event_ns());
    return first;
  }

  bool attention() const override { return session_.attention(); }
  void first_wait() override {}
  bool inspect() override {
    session_.clear_attention();
    if (!session_.failed()) check_gone();
    if (!session_.failed()) check_stream();
    if (!session_.failed()) check_deadline();
    if (!session_.failed() && waiting_.interrupted && waiting_.interrupted())
      session_.fail(FailureKind::interrupted,
                    session_.describe(session_.rank()) + " was interrupted during a " + open_transfer()->to_string());
    return session_.failed();
  }

  void report_mismatch() {
    for (const Way* way : ways_)
      if (!way->sends && way->peer == mismatched_peer_ && way->next < way->queue.size())
        session_.fail(FailureKind::mismatch, session_.describe(mismatched_peer_) + " sent something else than the " +
                                                 way->queue[way->next]->to_string() + " (its transfer number " +
                                                 std::to_string(way->sequence) + " to this rank) that " +
                                                 session_.describe(session_.rank()) +
                                                 " waits for: count and dtype must be alike on both sides");
  }

  ~Group() override {
    for (Way* way : ways_) {
      way->place.end();
      way->queue.clear();
      way->next = 0;
      way->under_way = false;
    }
    ways_.clear();
  }

 private:
  void make_plan(Way& way) {
    try {
      owner_.make_plan(way, [this] { return inspect(); });
    } catch (const std::exception& error) {  // the peer would wait for us
      session_.fail(FailureKind::error, session_.describe(session_.rank()) + " could not begin a " +
                                            way.queue[way.next]->to_string() + ": " + error.what());
      throw;
    }
  }

  bool advance(Way& way) {
    bool moved = false;
    while (way.next < way.queue.size()) {
      if (!way.under_way) {
        if (!way.plan) {
          if (!owner_.links_.is_announced(way.key, way.peer, kTag)) return moved;
          make_plan(way);
        }
        owner_.begin(way);
        moved = true;
      }
      ActiveRun& run = *way.place.run();
      moved |= run.poll();
      if (run.mismatched_peer() >= 0) mismatched_peer_ = run.mismatched_peer();
      if (mismatched_peer_ >= 0 || !run.finished()) return moved;
      way.place.end();
      way.under_way = false;
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

  // A peer that has left may have done its part: a look comes when nothing moves, so at the second one it is missing.
  // What comes over TCP is behind the news that its sender left; where the streams do not end, the host has gone too.
  void check_gone() {
    for (const Way* way : ways_) {
      if (way->next == way->queue.size() || !session_.is_gone(way->peer)) continue;
      if (gone_since_ns_ == 0) gone_since_ns_ = now_ns();
      const bool may_come = session_.is_remote(way->peer) && !session_.port()->ended(way->peer);
      if (may_come && now_ns() - gone_since_ns_ < kLateEndNs) continue;
      if (++looks_at_gone_ < 2) return;
      const char* how = session_.left_in_order(way->peer) ? " left the communicator" : " died";
      session_.fail(FailureKind::peer, session_.describe(way->peer) + how + " before the " +
                                           way->queue[way->next]->to_string() + " of " +
                                           session_.describe(session_.rank()) + " was complete");
      return;
    }
  }

  void check_stream() {
    const std::string broken = broken_stream(session_);
    if (!broken.empty()) session_.fail(FailureKind::peer, broken + " during a " + open_transfer()->to_string());
  }

  void check_deadline() {
    if (deadline_.at_ns == Deadline{}.at_ns) deadline_ = Deadline::after_seconds(waiting_.timeout_s);
    if (!deadline_.passed()) return;
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, "%g", waiting_.timeout_s);
    const Transfer& open = *open_transfer();
    session_.fail(FailureKind::timeout, "the " + open.to_string() + " of " + session_.describe(session_.rank()) +
                                            " was not complete after " + seconds + " s; the newest collective of " +
                                            session_.describe(open.peer) + " is #" +
                                            std::to_string(session_.page(open.peer).board.newest()));
  }

  PointToPoint& owner_;
  Session& session_;
  const Waiting& waiting_;
  std::vector<Way*>& ways_;
  Deadline deadline_;  // from the first inspection: a transfer that need not wait reads no clock
  int mismatched_peer_ = -1;
  int looks_at_gone_ = 0;
  int64_t gone_since_ns_ = 0;  // 0: nobody that a transfer waits for
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
    throw UsageError("count " + std::to_string(transfer.count) + " is beyond the address space");
  if (transfer.count > 0 && !transfer.data) throw UsageError("a " + transfer.to_string() + " needs a buffer");
}

void PointToPoint::copy_to_self(std::span<const Transfer> transfers) const {
  std::vector<const Transfer*> sends, receives;
  for (const Transfer& transfer : transfers)
    if (transfer.peer == session_.rank()) (transfer.sends ? sends : receives).push_back(&transfer);
  if (sends.size() != receives.size())
    throw UsageError("a rank that sends to itself needs as many receives from itself in the same group");
  for (size_t i = 0; i < sends.size(); ++i) {
    if (sends[i]->count != receives[i]->count || sends[i]->dtype != receives[i]->dtype)
      throw UsageError("a " + sends[i]->to_string() + " meets a " + receives[i]->to_string());
    if (sends[i]->count > 0)
      std::memmove(receives[i]->data, sends[i]->data, sends[i]->count * item_size(sends[i]->dtype));
  }
}

PointToPoint::Way& PointToPoint::way(const Transfer& transfer) {
  Way& way = ways_[{transfer.peer, transfer.sends}];
  if (way.schedule) return way;
  const int from = transfer.sends ? session_.rank() : transfer.peer,
            to = transfer.sends ? transfer.peer : session_.rank();
  way.peer = transfer.peer;
  way.sends = transfer.sends;
  way.key = key_of(from, to);
  way.schedule = schedule_of(session_.world_size(), from, to);
  return way;
}

void PointToPoint::make_plan(Way& way, const std::function<bool()>& give_up) {
  if (way.plan) return;
  const Program program = way.schedule->program(session_.rank());
  links_.begin_plan(*way.schedule, program, way.key, {way.key, {way.schedule}}, Protocol::simple, 1, give_up);
  way.plan = compile_plan(way.schedule, program, way.key, Protocol::simple, 1, settings_.emulation.has_value(), links_);
}

// Nothing here allocates once a transfer of the same direction was made before.
void PointToPoint::begin(Way& way) {
  const Transfer& transfer = *way.queue[way.next];
  BoundCall& call = way.call;
  const size_t item = item_size(transfer.dtype), bytes = transfer.count * item;
  call.input = way.sends ? static_cast<const std::byte*>(transfer.data) : nullptr;
  call.output = way.sends ? nullptr : static_cast<std::byte*>(transfer.data);
  call.num_chunks = 1;
  call.parts.assign(1, {bytes, 0, 0});
  call.cut = cut_parts(bytes, 1, kSlots, kSlotBytes, kSlotBytes);
  call.item_bytes = item;
  call.fingerprint = fingerprint_of(transfer, way.key, ++way.sequence);
  call.stream_output = !way.sends && streams_by_default(bytes);
  call.shared_input = shared_.find(session_, call.input, way.sends ? bytes : 0);
  if (!settings_.emulation) bind_whole_steps(call, *way.plan);
  way.place.begin(*way.plan, call, settings_.emulation.has_value());
  way.under_way = true;
}

}  // namespace ringtree
