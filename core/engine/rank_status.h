// RankStatus: how a rank stands, as it tells ranks of other hosts, which cannot look at its page. Sent with each beat,
// when a call waits for long, as an answer to somebody whose call waits, and with the bye. What comes is checked here
// and copied into the page that stands for the rank (session.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/engine/rank_page.h"

namespace ringtree {

struct RankStatus {
  uint64_t completed = 0;        // the newest call that it has finished
  uint64_t done_bytes = 0;       // of the call under way; see RankPage
  std::optional<uint64_t> asks;  // what does the receiver know of the call with this number? It is to answer
  /// With `asks`: what does it know of the calls before that one as well? Without: this answers such a question.
  bool of_history = false;
  std::vector<CallDescription> calls;  // the newest last; at most kMaxCalls

  static constexpr size_t kMaxCalls = Board::kEntries + 1;

  std::string encode() const;
  /// Nothing: not one of this version.
  static std::optional<RankStatus> decode(std::string_view payload);

  /// Of the rank whose page this is. `also`: a call that somebody has asked for; `history`: and all before it that its
  /// board still shows.
  static RankStatus of(const RankPage& page, std::optional<uint64_t> also, bool history = false);
  /// Shows it on the page that stands for the rank. One writer. Takes back nothing that a later one has shown.
  void show_on(RankPage& page) const;
};

}  // namespace ringtree
