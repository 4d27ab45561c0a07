// See rendezvous.h. The word: kind of the error that others throw, text, the ranks that it is about. Hosts may have
// other versions, and the word is how they hear so: the ranks are optional, and what follows them is not read.
#include "core/bootstrap/rendezvous.h"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/printable.h"
#include "core/bootstrap/wire.h"

namespace ringtree {
namespace {

constexpr const char* kRefused = "refused";
// Between two looks for a word while a key is waited for: soon for who comes late to a refusal, rarer for who waits on.
constexpr int64_t kFirstLookNs = 10'000'000, kLookNs = 250'000'000;
constexpr int64_t kLookOfEachNs = 1'000'000;  // of many ranks: one store answers all
// For the word of a rank that was seen to end. One that refuses leaves it before it closes anything, so this is for
// stores that show late what was set.
constexpr double kWordSeconds = 0.2;
constexpr double kStaySeconds = 2.0;
constexpr double kStayLateSeconds = 0.5;  // where a rank has not come, or others may wait for it as well
constexpr size_t kMaxTextBytes = 1024;
constexpr size_t kMaxRanks = 64;  // of many, the first: who speaks for them is one of the lowest

}  // namespace

struct Rendezvous::Word {
  enum class Kind : uint8_t { peer = 0, timeout = 1, mismatch = 2 };
  Kind kind = Kind::peer;
  std::string text;
  std::vector<int> ranks = {};
  bool is_own = false;  // what this rank refuses, rather than that it saw others go

  std::string encode() const {
    const size_t num_ranks = std::min(ranks.size(), kMaxRanks);
    ByteWriter writer;
    writer.number(static_cast<uint8_t>(kind), 1).text(text.substr(0, kMaxTextBytes));
    if (num_ranks > 0) writer.number(num_ranks, 4);  // none are left out: a version that knows of none reads this word
    for (size_t i = 0; i < num_ranks; ++i) writer.number(static_cast<uint64_t>(ranks[i]), 4);
    return writer.take();
  }
  /// Ranks that are not of this world, and a list that is cut off, are dropped.
  static Word decode(std::string_view bytes, int world_size) {
    ByteReader reader(bytes);
    const uint64_t kind = reader.number(1);
    const std::string text = reader.text(kMaxTextBytes);
    if (!reader.ok() || kind > static_cast<uint8_t>(Kind::mismatch)) return {Kind::peer, "a rank refused to meet"};
    std::vector<int> ranks;
    const uint64_t num_ranks = std::min<uint64_t>(reader.number(4), kMaxRanks);
    for (uint64_t i = 0; i < num_ranks; ++i) {
      const uint64_t rank = reader.number(4);
      if (rank < static_cast<uint64_t>(world_size)) ranks.push_back(static_cast<int>(rank));
    }
    if (!reader.ok()) ranks.clear();
    return {static_cast<Kind>(kind), printable(text, kMaxTextBytes), std::move(ranks)};
  }
  std::exception_ptr error() const {
    switch (kind) {
      case Kind::timeout:
        return std::make_exception_ptr(TimeoutError(text, ranks));
      case Kind::mismatch:
        return std::make_exception_ptr(MismatchError(text));
      default:
        return std::make_exception_ptr(PeerError(text, ranks));
    }
  }
};

int64_t Rendezvous::longest_look_ns() const { return std::max(kLookNs, world_size_ * kLookOfEachNs); }

std::string Rendezvous::get(const std::string& key, Deadline deadline) {
  const int64_t in_turn_ns = world_size_ * kLookOfEachNs;
  for (int64_t look_ns = std::max(kFirstLookNs, in_turn_ns);; look_ns = std::min(2 * look_ns, longest_look_ns())) {
    try {
      return store_.get(prefix_ + "/" + key, Deadline{std::min(deadline.at_ns, now_ns() + look_ns)});
    } catch (const TimeoutError&) {
      if (deadline.passed()) throw;  // leave_word() chooses between this and a word
      std::string word;
      try {
        word = store_.get(prefix_ + "/" + kRefused, Deadline{0});
      } catch (const TimeoutError&) {  // NOLINT(bugprone-empty-catch): nobody has refused
      }
      if (word.empty()) continue;
      const Word first = Word::decode(word, world_size_);
      // A rank whose own time is as good as up waits it out and says itself for whom.
      if (first.kind != Word::Kind::timeout || deadline.at_ns > now_ns() + longest_look_ns())
        std::rethrow_exception(first.error());
    }
  }
}

// What names its rank already is told as it is.
Rendezvous::Word Rendezvous::word_of(const std::exception_ptr& why, int rank) {
  try {
    std::rethrow_exception(why);
  } catch (const MismatchError& error) {
    return {Word::Kind::mismatch, error.what(), {}, true};
  } catch (const TimeoutError& error) {
    return {Word::Kind::timeout, error.what(), error.ranks};
  } catch (const PeerError& error) {
    return {Word::Kind::peer, error.what(), error.ranks};
  } catch (const std::exception& error) {
    const std::string who = "rank " + std::to_string(rank) + " (pid " + std::to_string(::getpid()) + ")";
    return {Word::Kind::peer, who + " refused to meet: " + error.what(), {}, true};
  }
}

std::exception_ptr Rendezvous::leave_word(std::exception_ptr why) {
  const Word own = word_of(why, rank_);
  bool saw_end = false;
  try {
    std::rethrow_exception(why);
  } catch (const EndedPeer& ended) {
    ended_ = ended.ranks.front();
    saw_end = true;
  } catch (...) {  // NOLINT(bugprone-empty-catch): only who ended is asked
  }
  // Of many ranks those that wait look so seldom.
  patience_s_ = std::max(own.kind == Word::Kind::timeout ? kStayLateSeconds : kStaySeconds,
                         2e-9 * static_cast<double>(longest_look_ns()));
  if (world_size_ == 1) return why;
  try {
    std::optional<Word> first;
    try {
      first = Word::decode(
          store_.get(prefix_ + "/" + kRefused, saw_end ? Deadline::after_seconds(kWordSeconds) : Deadline{0}),
          world_size_);
    } catch (const TimeoutError&) {  // NOLINT(bugprone-empty-catch): this rank is the first
    }
    if (!first) {
      set(kRefused, own.encode());
    } else if (!own.is_own && (own.kind == Word::Kind::peer || first->kind != Word::Kind::timeout)) {
      return first->error();
    }
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): the store has ended too
  }
  return why;
}

bool Rendezvous::refuse(const std::string& reason) {
  leave_word(std::make_exception_ptr(MismatchError(reason)));
  if (!store_.is_served_here()) {
    try {  // leave_word() says nothing of a store that has ended; after stay() it may end, as who serves it knows
      store_.get(prefix_ + "/" + kRefused, Deadline::after_seconds(kWordSeconds));
    } catch (const WorldError&) {
      return false;
    }
    stay();
    return true;
  }
  stay();
  for (int rank = 0; rank < world_size_; ++rank) {
    try {
      if (rank != rank_) return store_.get(prefix_ + "/left/" + std::to_string(rank), Deadline{0}).empty();
    } catch (const TimeoutError&) {  // NOLINT(bugprone-empty-catch): not this one
    }
  }
  return false;
}

void Rendezvous::stay() {
  if (world_size_ == 1) return;
  const Deadline until = Deadline::after_seconds(patience_s_);
  try {
    set("left/" + std::to_string(rank_), "");
    for (int rank = 0; rank < world_size_ && store_.is_served_here(); ++rank)
      if (rank != rank_ && rank != ended_) store_.get(prefix_ + "/left/" + std::to_string(rank), until);
  } catch (const WorldError&) {  // NOLINT(bugprone-empty-catch): who has not come by now hears it from nobody
  }
}

}  // namespace ringtree
