// See rank_status.h.
#include "core/engine/rank_status.h"

#include <algorithm>

#include "core/bootstrap/wire.h"

namespace ringtree {
namespace {

constexpr uint64_t kAsks = 1, kOfHistory = 2;

}  // namespace

std::string RankStatus::encode() const {
  ByteWriter out;
  out.number(completed, 8)
      .number(done_bytes, 8)
      .number((asks ? kAsks : 0) | (of_history ? kOfHistory : 0), 1)
      .number(asks.value_or(0), 8);
  out.number(calls.size(), 1);
  for (const CallDescription& call : calls) {
    out.number(call.sequence, 8);
    for (const uint64_t word : Board::words_of(call)) out.number(word, 8);
  }
  return out.take();
}

std::optional<RankStatus> RankStatus::decode(std::string_view payload) {
  ByteReader in(payload);
  RankStatus status;
  status.completed = in.number(8);
  status.done_bytes = in.number(8);
  const uint64_t flags = in.number(1);
  const uint64_t asked = in.number(8);
  if ((flags & kAsks) != 0) status.asks = asked;
  status.of_history = (flags & kOfHistory) != 0;
  const uint64_t num_calls = in.number(1);
  if (num_calls > kMaxCalls || flags > (kAsks | kOfHistory)) return std::nullopt;
  for (uint64_t i = 0; i < num_calls; ++i) {
    const uint64_t sequence = in.number(8);
    Board::Words words;
    for (uint64_t& word : words) word = in.number(8);
    const std::optional<CallDescription> call = Board::description_of(sequence, words);
    if (!in.ok() || !call || sequence == 0) return std::nullopt;
    status.calls.push_back(*call);
  }
  if (!in.done()) return std::nullopt;
  return status;
}

RankStatus RankStatus::of(const RankPage& page, std::optional<uint64_t> also, bool history) {
  RankStatus status;
  status.completed = page.completed.load(std::memory_order_acquire);  // pairs with the store at the end of a call
  status.done_bytes = page.done_bytes.load(std::memory_order_relaxed);
  const uint64_t newest = page.board.newest();
  if (newest == 0) return status;                            // it has begun none
  const uint64_t last = std::min(also.value_or(0), newest);  // a peer says it, and who asks is not believed
  const uint64_t num = history ? std::min<uint64_t>(last, Board::kEntries) : last > 0 ? 1 : 0;
  for (uint64_t sequence = last - num + 1; sequence <= last; ++sequence)
    if (sequence != newest)
      if (const auto call = page.board.find(sequence)) status.calls.push_back(*call);
  if (const auto call = page.board.find(newest)) status.calls.push_back(*call);
  return status;
}

void RankStatus::show_on(RankPage& page) const {
  for (const CallDescription& call : calls)
    if (call.sequence + Board::kEntries > page.board.newest()) page.board.post(call.sequence, Board::words_of(call));
  page.done_bytes.store(done_bytes, std::memory_order_relaxed);
  // A status may be overtaken by a later one: nobody takes back a call. release, pairs with first_missing().
  page.completed.store(std::max(completed, page.completed.load(std::memory_order_relaxed)), std::memory_order_release);
}

}  // namespace ringtree
