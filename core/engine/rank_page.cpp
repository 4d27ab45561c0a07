// See rank_page.h. An entry is a sequence lock made of atomics only, so that a reader that is overtaken sees it and no
// access is a race.
#include "core/engine/rank_page.h"

#include <cstring>
#include <iterator>

namespace ringtree {
namespace {

constexpr size_t kNameWord = 5;

uint64_t pack_kinds(const CallDescription& call) {
  return static_cast<uint64_t>(call.collective) | static_cast<uint64_t>(call.dtype) << 8 |
         static_cast<uint64_t>(call.op) << 16 | static_cast<uint64_t>(call.protocol) << 24 |
         static_cast<uint64_t>(static_cast<uint32_t>(call.root)) << 32;
}

// False if a peer wrote nonsense: names are looked up by these numbers, and nothing that a peer wrote is used
// unchecked.
bool unpack_kinds(uint64_t kinds, CallDescription& call) {
  if ((kinds & 0xff) >= std::size(kCollectives) || (kinds >> 8 & 0xff) >= kNumDtypes ||
      (kinds >> 16 & 0xff) >= kNumReduceOps || (kinds >> 24 & 0xff) >= kNumProtocols)
    return false;
  call.collective = static_cast<Collective>(kinds & 0xff);
  call.dtype = static_cast<Dtype>(kinds >> 8 & 0xff);
  call.op = static_cast<ReduceOp>(kinds >> 16 & 0xff);
  call.protocol = static_cast<Protocol>(kinds >> 24 & 0xff);
  call.root = static_cast<int>(kinds >> 32);
  return true;
}

}  // namespace

Board::Words Board::words_of(const CallDescription& call) {
  Words words{pack_kinds(call), call.count, call.plan_key, call.slice_bytes, call.counts_hash};
  std::memcpy(&words[kNameWord], call.algorithm, sizeof call.algorithm);
  return words;
}

void Board::post(uint64_t sequence, const Words& words) {
  Entry& entry = entries_[sequence % kEntries];
  entry.sequence.store(0, std::memory_order_relaxed);  // ordered before the words by their release
  for (size_t i = 0; i < kWords; ++i)
    entry.words[i].store(words[i], std::memory_order_release);  // pairs with the acquire of the words in find()
  entry.sequence.store(sequence, std::memory_order_release);    // pairs with the load of the sequence in find()
  // An earlier call is posted where the board is another rank's, which told of its calls when it was asked. release,
  // pairs with the acquire in newest().
  if (sequence > newest_.load(std::memory_order_relaxed)) newest_.store(sequence, std::memory_order_release);
}

std::optional<CallDescription> Board::find(uint64_t sequence) const {
  if (sequence == 0) return std::nullopt;  // that of entries that are empty or being written
  const Entry& entry = entries_[sequence % kEntries];
  // acquire, pairs with the store of the sequence in post().
  if (entry.sequence.load(std::memory_order_acquire) != sequence) return std::nullopt;
  Words words;
  for (size_t i = 0; i < kWords; ++i) words[i] = entry.words[i].load(std::memory_order_acquire);
  // A word of a later call brings that call's sequence.store(0) with it.
  if (entry.sequence.load(std::memory_order_relaxed) != sequence) return std::nullopt;
  return description_of(sequence, words);
}

std::optional<CallDescription> Board::description_of(uint64_t sequence, const Words& words) {
  CallDescription call;
  call.sequence = sequence;
  if (!unpack_kinds(words[0], call)) return std::nullopt;
  call.count = words[1];
  call.plan_key = words[2];
  call.slice_bytes = words[3];
  call.counts_hash = words[4];
  std::memcpy(call.algorithm, &words[kNameWord], sizeof call.algorithm);
  call.algorithm[sizeof call.algorithm - 1] = 0;
  return call;
}

}  // namespace ringtree
