// See call_watch.h.
#include "core/engine/call_watch.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

namespace ringtree {
namespace {

constexpr int kRanksInReport = 32;                // of more, only the late ones are named
constexpr int64_t kAskNs = 5'000'000;             // of waiting, before other hosts are asked where they are
constexpr int64_t kAnswerNs = 300'000'000;        // for their answer when a message of another call came
constexpr int64_t kBrokenStreamNs = 300'000'000;  // for the news of the peer's end to reach this host
constexpr int64_t kNeverAgain = INT64_MAX;
constexpr int64_t kInterruptCheckNs = 20'000'000;  // taking Python's lock more often would slow the others

std::string join(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

// Ranks on other hosts tell which call they are in when they wait themselves.
const char* no_call_text(Session& session, int rank) {
  return session.members().is_remote(rank) ? " has not reported a call" : " has not begun a call";
}

}  // namespace

std::string hang_report(Session& session) {
  if (session.world_size() > kRanksInReport) return "";
  std::vector<std::string> parts;
  const std::vector<int> silent = session.members().suspects();
  for (int rank = 0; rank < session.world_size(); ++rank) {
    const RankPage& page = session.members().page(rank);
    const uint64_t newest = page.board.newest();
    const std::optional<CallDescription> call = page.board.find(newest);
    std::string text = session.members().describe(rank);
    if (newest == 0) {
      text += no_call_text(session, rank);
    } else {
      // Pairs with the store at the end of a call.
      const bool is_done = page.completed.load(std::memory_order_acquire) >= newest;
      text += std::string(is_done ? " has completed " : " is in ") +
              (call ? collective_name(call->collective) : "call") + " #" + std::to_string(newest);
      if (!is_done) text += ", " + std::to_string(page.done_bytes.load(std::memory_order_relaxed)) + " bytes done";
    }
    if (session.members().is_gone(rank)) text += session.members().left_in_order(rank) ? " (has left)" : " (has died)";
    if (std::find(silent.begin(), silent.end(), rank) != silent.end()) text += " (silent: stopped or cut off)";
    parts.push_back(text);
  }
  return "; " + join(parts);
}

std::string broken_stream(Session& session) {
  if (!session.port()) return "";
  for (const TcpFault& fault : session.port()->faults()) {
    if (session.members().is_gone(fault.peer)) continue;
    if (!fault.corrupt && now_ns() - fault.at_ns < kBrokenStreamNs) continue;
    // A peer says goodbye before it ends its streams; on busy cores our own monitor may be late in reading it.
    if (!fault.corrupt && (session.mesh().has_unread(fault.peer) || session.members().is_gone(fault.peer))) continue;
    return "a TCP stream between " + session.members().describe(session.rank()) + " and " +
           session.members().describe(fault.peer) + " can no longer be used: " + fault.reason;
  }
  return "";
}

bool CallWatch::inspect() {
  session_.clear_attention();
  if (!session_.failed()) compare_calls();  // before the departed: a rank often leaves because of a mismatch
  if (!session_.failed()) ask_others();
  if (!session_.failed()) check_gone();
  if (!session_.failed()) check_streams();
  if (!session_.failed()) check_deadline();
  if (!session_.failed()) check_interrupt();
  return session_.failed();
}

std::string CallWatch::call_text() const {
  return std::string(collective_name(call_.collective)) + " #" + std::to_string(call_.sequence);
}

void CallWatch::ask_others() {
  if (!session_.port()) return;
  const int64_t now = now_ns();
  if (ask_at_ns_ == 0) ask_at_ns_ = now + kAskNs;
  if (now < ask_at_ns_) return;
  ask_at_ns_ = kNeverAgain;
  session_.ask_status(call_.sequence);
}

void CallWatch::check_streams() {
  const std::string broken = broken_stream(session_);
  if (!broken.empty()) session_.fail(FailureKind::peer, broken + " in " + call_text() + ": " + call_.to_string());
}

void CallWatch::check_gone() {
  const std::optional<int> peer = session_.members().first_missing(call_.sequence);
  if (!peer) return;
  const char* how = session_.members().left_in_order(*peer) ? " left the communicator" : " died";
  session_.fail(
      FailureKind::peer,
      session_.members().describe(*peer) + how + " before it completed " + call_text() + ": " + call_.to_string(),
      peer);
}

void CallWatch::compare_calls() {
  for (int peer = 0; peer < session_.world_size(); ++peer) {
    // Who has failed in its call tells why, which says more than that this rank's call is another one: its word is on
    // its way. Pairs with the release in Session::set_failure().
    if (session_.members().page(peer).failed.load(std::memory_order_acquire)) continue;
    const std::optional<CallDescription> theirs = session_.members().page(peer).board.find(call_.sequence);
    if (theirs && !theirs->same_call(call_)) {
      session_.fail(FailureKind::mismatch, who_said_what(call_));
      return;
    }
  }
}

void CallWatch::report_mismatch(int peer) {
  before_waits();
  show();
  compare_calls();
  if (session_.failed()) return;
  if (session_.members().page(peer).failed.load(std::memory_order_acquire)) {  // as in compare_calls()
    const int64_t until = now_ns() + kAnswerNs;
    session_.wait([&] { return session_.failed(); },
                  [&] { return session_.members().is_gone(peer) || now_ns() > until; });
    if (session_.failed()) return;
  }
  if (session_.members().is_remote(peer)) {  // what is known here of its calls may be old
    const uint64_t before = session_.members().num_histories(peer);
    session_.ask_history(call_.sequence);
    const int64_t until = now_ns() + kAnswerNs;
    session_.wait([&] { return session_.members().num_histories(peer) > before; },
                  [&] { return session_.failed() || session_.members().is_gone(peer) || now_ns() > until; });
    if (!session_.failed()) compare_calls();
    if (session_.failed()) return;
  }
  // Or they disagree about a call before this one, with which this rank was done first: it only sent.
  const Board &mine = session_.members().own_page().board, &theirs = session_.members().page(peer).board;
  for (uint64_t sequence = call_.sequence - 1; sequence > 0 && call_.sequence - sequence < Board::kEntries;
       --sequence) {
    const std::optional<CallDescription> here = mine.find(sequence), there = theirs.find(sequence);
    if (here && there && !there->same_call(*here)) {
      session_.fail(FailureKind::mismatch, who_said_what(*here));
      return;
    }
  }
  // Or the peer ran on and its board no longer shows this call.
  session_.fail(FailureKind::mismatch, session_.members().describe(peer) + " sent data of another call during " +
                                           call_text() + ": " + call_.to_string() + " on " +
                                           session_.members().describe(session_.rank()) + "; its newest call is #" +
                                           std::to_string(session_.members().page(peer).board.newest()));
}

std::string CallWatch::who_said_what(const CallDescription& mine) const {
  std::map<std::string, std::vector<std::string>> ranks_by_call;
  for (int rank = 0; rank < session_.world_size(); ++rank) {
    const std::optional<CallDescription> call =
        rank == session_.rank() ? std::optional(mine) : session_.members().page(rank).board.find(mine.sequence);
    if (call) ranks_by_call[call->to_string()].push_back(session_.members().describe(rank));
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
    const uint64_t newest = session_.members().page(rank).board.newest();
    if (newest < call_.sequence)
      late.push_back(session_.members().describe(rank) +
                     (newest == 0 ? no_call_text(session_, rank) : " has only begun call #" + std::to_string(newest)));
  }
  const std::string who = late.empty() ? "all ranks have begun it" : join(late);
  char seconds[32];
  snprintf(seconds, sizeof seconds, "%g", timeout_s_);
  session_.fail(FailureKind::timeout, call_text() + " was not complete on " +
                                          session_.members().describe(session_.rank()) + " after " + seconds +
                                          " s: " + who + "; " + call_.to_string() + hang_report(session_));
}

void CallWatch::check_interrupt() {
  if (!interrupted_ || now_ns() < next_interrupt_check_ns_) return;
  next_interrupt_check_ns_ = now_ns() + kInterruptCheckNs;
  if (interrupted_() != 0)
    session_.fail(FailureKind::interrupted,
                  session_.members().describe(session_.rank()) + " was interrupted during " + call_text());
}

}  // namespace ringtree
