// See call_watch.h.
#include "core/engine/call_watch.h"

#include <map>
#include <vector>

namespace ringtree {
namespace {

constexpr int64_t kInterruptCheckNs = 20'000'000;  // taking Python's lock more often would slow the others

std::string join(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

}  // namespace

bool CallWatch::inspect() {
  session_.clear_attention();
  if (!session_.failed()) compare_calls();  // before the departed: a rank often leaves because of a mismatch
  if (!session_.failed()) check_gone();
  if (!session_.failed()) check_deadline();
  if (!session_.failed()) check_interrupt();
  return session_.failed();
}

std::string CallWatch::call_text() const {
  return std::string(collective_name(call_.collective)) + " #" + std::to_string(call_.sequence);
}

void CallWatch::check_gone() {
  const std::optional<int> peer = session_.first_missing(call_.sequence);
  if (!peer) return;
  const char* how = session_.left_in_order(*peer) ? " left the communicator" : " died";
  session_.fail(FailureKind::peer,
                session_.describe(*peer) + how + " before it completed " + call_text() + ": " + call_.to_string());
}

void CallWatch::compare_calls() {
  for (int peer = 0; peer < session_.world_size(); ++peer) {
    const std::optional<CallDescription> theirs = session_.page(peer).board.find(call_.sequence);
    if (theirs && !theirs->same_call(call_)) {
      session_.fail(FailureKind::mismatch, who_said_what(call_));
      return;
    }
  }
}

void CallWatch::report_mismatch(int peer) {
  compare_calls();
  if (session_.failed()) return;
  // Or they disagree about a call before this one, with which this rank was done first: it only sent.
  const Board &mine = session_.own_page().board, &theirs = session_.page(peer).board;
  for (uint64_t sequence = call_.sequence - 1; sequence > 0 && call_.sequence - sequence < Board::kEntries;
       --sequence) {
    const std::optional<CallDescription> here = mine.find(sequence), there = theirs.find(sequence);
    if (here && there && !there->same_call(*here)) {
      session_.fail(FailureKind::mismatch, who_said_what(*here));
      return;
    }
  }
  // Or the peer ran on and its board no longer shows this call.
  session_.fail(FailureKind::mismatch, session_.describe(peer) + " sent data of another call during " + call_text() +
                                           ": " + call_.to_string() + " on " + session_.describe(session_.rank()) +
                                           "; its newest call is #" +
                                           std::to_string(session_.page(peer).board.newest()));
}

std::string CallWatch::who_said_what(const CallDescription& mine) const {
  std::map<std::string, std::vector<std::string>> ranks_by_call;
  for (int rank = 0; rank < session_.world_size(); ++rank) {
    const std::optional<CallDescription> call =
        rank == session_.rank() ? std::optional(mine) : session_.page(rank).board.find(mine.sequence);
    if (call) ranks_by_call[call->to_string()].push_back(session_.describe(rank));
  }
  std::vector<std::string> parts;
  for (const auto& [call, ranks] : ranks_by_call) parts.push_back(join(ranks) + " called " + call);
  return "the ranks disagree about call #" + std::to_string(mine.sequence) + ": " + join(parts);
}

void CallWatch::check_deadline() {
  if (!deadline_) deadline_ = Deadline::after_seconds(timeout_s_);
  if (!deadline_->passed()) return;
  std::vector<std::string> late;
  for (int rank = 0; rank < session_.world_size(); ++rank) {
    const uint64_t newest = session_.page(rank).board.newest();
    if (newest < call_.sequence)
      late.push_back(session_.describe(rank) + " has only begun call #" + std::to_string(newest));
  }
  const std::string who = late.empty() ? "all ranks have begun it" : join(late);
  char seconds[32];
  snprintf(seconds, sizeof seconds, "%g", timeout_s_);
  session_.fail(FailureKind::timeout, call_text() + " was not complete on " + session_.describe(session_.rank()) +
                                          " after " + seconds + " s: " + who + "; " + call_.to_string());
}

void CallWatch::check_interrupt() {
  if (!interrupted_ || now_ns() < next_interrupt_check_ns_) return;
  next_interrupt_check_ns_ = now_ns() + kInterruptCheckNs;
  if (interrupted_())
    session_.fail(FailureKind::interrupted,
                  session_.describe(session_.rank()) + " was interrupted during " + call_text());
}

}  // namespace ringtree
