// Helpers of this folder's tests of send and recv, on one host and on several: messages that say whose they are, and
// the patterns that both try. Not for collectives: exact_data.h.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/core/engine/exact_data.h"
#include "tests/core/engine/rank_threads.h"

namespace ringtree::testing {

using Words = std::vector<uint64_t>;

/// What `from` sends to `to` as its `number`-th message.
inline Words message(int from, int to, int number, size_t length) {
  Words words(length);
  for (size_t i = 0; i < length; ++i) words[i] = random_word(static_cast<uint64_t>(number), from * 100 + to, i);
  return words;
}

inline Transfer sending(int peer, Words& words) { return {true, peer, Dtype::kInt64, words.size(), words.data()}; }
inline Transfer receiving(int peer, Words& words) { return {false, peer, Dtype::kInt64, words.size(), words.data()}; }

inline void expect_equal(const Words& found, const Words& wanted, const std::string& what) {
  if (found != wanted) throw std::runtime_error(what + " is wrong");
}

/// Rank 0 sends 10 words to rank 1, which wants 20: a mismatch of both, which neither goes on from.
inline void transfer_unequal_counts(Communicator& communicator) {
  Words words(communicator.rank() == 0 ? 10 : 20);
  const Transfer transfer = communicator.rank() == 0 ? sending(1, words) : receiving(0, words);
  communicator.transfer({&transfer, 1});
  sum_of_ones(communicator, 10);
}

inline void expect_unequal_counts_named(const std::vector<std::string>& outcomes) {
  for (const std::string& outcome : outcomes) {
    EXPECT_TRUE(contains(outcome, "recv of 20 int64 from rank 0")) << outcome;
    EXPECT_TRUE(contains(outcome, "rank 0 (pid")) << outcome;
  }
}

/// Everybody sends to everybody, itself as well, all at once: `times` times a message of each length.
inline void exchange_with_everybody(Communicator& communicator, std::span<const size_t> lengths, int times) {
  const int rank = communicator.rank(), n = communicator.world_size();
  for (int number = 0; number < times; ++number)
    for (const size_t length : lengths) {
      std::vector<Words> sent, received;
      for (int peer = 0; peer < n; ++peer) {
        sent.push_back(message(rank, peer, number, length));
        received.emplace_back(length);
      }
      std::vector<Transfer> transfers;
      for (int peer = 0; peer < n; ++peer) {
        transfers.push_back(receiving(peer, received[static_cast<size_t>(peer)]));
        transfers.push_back(sending(peer, sent[static_cast<size_t>(peer)]));
      }
      communicator.transfer(transfers);
      for (int peer = 0; peer < n; ++peer)
        expect_equal(received[static_cast<size_t>(peer)], message(peer, rank, number, length),
                     "the message of rank " + std::to_string(peer));
    }
}

/// A token goes around `rounds` times, and each rank but 0 adds one: each waits for its left neighbour before it sends
/// to the right one, which works only one after the other.
inline void pass_around(Communicator& communicator, int rounds) {
  const int rank = communicator.rank(), n = communicator.world_size();
  Words token(1'000, 0);
  for (int round = 0; round < rounds; ++round) {
    const Transfer send = sending((rank + 1) % n, token), receive = receiving((rank + n - 1) % n, token);
    if (rank == 0) {
      communicator.transfer({&send, 1});
      communicator.transfer({&receive, 1});
    } else {
      communicator.transfer({&receive, 1});
      for (uint64_t& word : token) ++word;
      communicator.transfer({&send, 1});
    }
  }
  const uint64_t counted = token[999], wanted = static_cast<uint64_t>(rounds) * static_cast<uint64_t>(n - 1);
  if (rank == 0 && counted != wanted) throw std::runtime_error("the token was counted " + std::to_string(counted));
}

}  // namespace ringtree::testing
