// See transfer_way.h.
#include "core/engine/transfer_way.h"

#include <cstdio>

#include "core/base/clock.h"
#include "core/engine/selection.h"

namespace ringtree {
namespace {

constexpr int64_t kLateEndNs = 1'000'000'000;  // for the end of the streams of a peer that has left

// A broadcast that reaches one rank only: what the engine runs of it is one step at either end.
std::shared_ptr<const Schedule> schedule_of(int num_ranks, int from, int to, int tag) {
  const auto generate = [=](ProgramBuilder& b) {
    Step step;
    if (b.rank() == from) {
      step.verb = Verb::send;
      step.src = kInput;
      step.send_to = {to};
      step.send_tag = tag;
      b.add(step);
    } else if (b.rank() == to) {
      step.verb = Verb::recv;
      step.recv = {{from, tag}};
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

uint32_t fingerprint_of(const Transfer& transfer, TransferWay::Kind kind, uint64_t key, uint64_t sequence) {
  CallDescription description;
  description.collective = Collective::broadcast;
  description.dtype = transfer.dtype;
  description.count = transfer.count;
  description.counts_hash = static_cast<uint64_t>(kind);
  description.plan_key = key;
  return CallDescription::fingerprint(description.kind_hash(), sequence);
}

}  // namespace

std::string Transfer::to_string() const {
  return std::string(sends ? "send of " : "recv of ") + std::to_string(count) + " " + dtype_name(dtype) +
         (sends ? " to rank " : " from rank ") + std::to_string(peer);
}

TransferWay::TransferWay(const Parts& parts, int peer, bool sends)
    : parts_(parts),
      peer_(peer),
      sends_(sends),
      key_(sends ? key_of(parts.session.rank(), peer) : key_of(peer, parts.session.rank())),
      schedule_(schedule_of(parts.session.world_size(), sends ? parts.session.rank() : peer,
                            sends ? peer : parts.session.rank(), kTag)) {}

void TransferWay::make_plan(const std::string& what, const std::function<bool()>& give_up) {
  Session& session = parts_.session;
  try {
    const Program program = schedule_->program(session.rank());
    parts_.links.begin_plan(*schedule_, program, key_, {key_, {schedule_}}, Protocol::simple, 1, give_up);
    plan_ = compile_plan(schedule_, program, key_, Protocol::simple, 1, parts_.settings.emulation.has_value(),
                         parts_.links);
    // A message is complete once it is copied, also where its reader does not take it yet: so it goes through slots.
    for (PlanStep& step : plan_->steps)
      if (step.leaves_host) step.direct = {};
  } catch (const std::exception& error) {
    session.fail(FailureKind::error,
                 session.members().describe(session.rank()) + " could not begin a " + what + ": " + error.what());
    throw;
  }
}

void TransferWay::begin(const Transfer& transfer, Kind kind) {
  const size_t item = item_size(transfer.dtype), bytes = transfer.count * item;
  call_.input = sends_ ? static_cast<const std::byte*>(transfer.data) : nullptr;
  call_.output = sends_ ? nullptr : static_cast<std::byte*>(transfer.data);
  call_.num_chunks = 1;
  call_.parts.assign(1, {bytes, 0, 0});
  call_.cut = cut_parts(bytes, 1, kSlots, kSlotBytes, kSlotBytes);
  call_.item_bytes = item;
  call_.fingerprint = fingerprint_of(transfer, kind, key_, ++sequence_);
  // Counted as having an input: most ranks that receive send as much beside it.
  call_.stream_output = !sends_ && streams_by_default(bytes, true);
  call_.shared_input = parts_.shared.find(parts_.session, call_.input, sends_ ? bytes : 0);
  const bool emulated = parts_.settings.emulation.has_value();
  if (!emulated) bind_whole_steps(call_, *plan_);
  place_.begin(*plan_, call_, emulated);
}

// A peer that has left may have done its part: ways are polled between two looks, so at the second one it is missing.
// What comes over TCP is behind the news that its sender left; where the streams do not end, the host has gone too.
bool TransferWay::is_cut_off() {
  Session& session = parts_.session;
  if (!session.members().is_gone(peer_)) return false;
  if (gone_since_ns_ == 0) gone_since_ns_ = now_ns();
  const bool may_come = session.members().is_remote(peer_) && !session.port()->ended(peer_);
  if (may_come && now_ns() - gone_since_ns_ < kLateEndNs) return false;
  return ++looks_at_gone_ >= 2;
}

void fail_for_gone_peer(Session& session, int peer, const std::string& what) {
  const char* how = session.members().left_in_order(peer) ? " left the communicator" : " died";
  session.fail(FailureKind::peer,
               session.members().describe(peer) + how + " before the " + what + " of " +
                   session.members().describe(session.rank()) + " was complete",
               peer);
}

std::string late_text(Session& session, const std::string& what, double timeout_s) {
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%g", timeout_s);
  return "the " + what + " of " + session.members().describe(session.rank()) + " was not complete after " + seconds +
         " s";
}

}  // namespace ringtree
