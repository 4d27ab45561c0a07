// Helpers of this folder's tests of messages with tags, on one host and on several: posting as futures, and the
// patterns that both try. Not for transfers that somebody waits for: transfers.h.
#pragma once

#include <algorithm>
#include <future>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "tests/core/engine/host_threads.h"
#include "tests/core/engine/transfers.h"

namespace ringtree::testing {

/// How a message ends: its source, and what went wrong ("" if nothing).
using Ending = std::future<std::pair<int, std::string>>;

/// A second ending of one message would throw here, where nobody catches it. The text is made here as well: TSan does
/// not see what orders the last uses of an exception that several threads share.
inline TaggedMessage::Done tell(Ending& ending) {
  const auto promise = std::make_shared<std::promise<std::pair<int, std::string>>>();
  ending = promise->get_future();
  return [promise](int source, const std::exception_ptr& error) {
    promise->set_value({source, outcome_of([&] {
                          if (error) std::rethrow_exception(error);
                        })});
  };
}

inline Ending post_send(Communicator& communicator, int peer, int tag, const Words& words, double timeout_s = 0) {
  Ending ending;
  communicator.post_send(peer, tag, words.data(), words.size() * sizeof words[0], timeout_s, tell(ending));
  return ending;
}

inline Ending post_recv(Communicator& communicator, int peer, int tag, Words& words, double timeout_s = 0) {
  Ending ending;
  communicator.post_recv(peer, tag, words.data(), words.size() * sizeof words[0], timeout_s, tell(ending));
  return ending;
}

/// The source. Throws the text of what the message ended with.
inline int end_of(Ending& ending) {
  if (ending.wait_for(std::chrono::duration<double>(2 * kPatienceSeconds)) != std::future_status::ready)
    throw std::runtime_error("a message never ended");
  const auto [source, outcome] = ending.get();
  if (!outcome.empty()) throw std::runtime_error(outcome);
  return source;
}
inline void end_all(std::vector<Ending>& endings) {
  for (Ending& ending : endings) end_of(ending);
}

inline bool is_done(const Ending& ending) {
  return ending.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

/// Everybody sends everybody, itself as well, `times` messages of each length, with tags of their own, and receives
/// them from the last to the first; all of them at once.
inline void exchange_backwards(Communicator& communicator, std::span<const size_t> lengths, int times) {
  const int rank = communicator.rank(), n = communicator.world_size();
  struct Expected {
    int peer, tag;
    size_t length;
    Words words;
  };
  std::vector<Words> sent;
  std::vector<Expected> expected;
  for (int number = 0, tag = 0; number < times; ++number)
    for (const size_t length : lengths) {
      for (int peer = 0; peer < n; ++peer) {
        sent.push_back(message(rank, peer, tag, length));
        expected.push_back({peer, tag, length, Words(length)});
      }
      ++tag;
    }
  std::reverse(expected.begin(), expected.end());
  std::vector<Ending> endings;
  for (size_t i = 0; i < sent.size(); ++i) {
    Expected& wanted = expected[i];
    endings.push_back(post_recv(communicator, wanted.peer, wanted.tag, wanted.words));
    endings.push_back(post_send(communicator, static_cast<int>(i) % n, static_cast<int>(i) / n, sent[i]));
  }
  end_all(endings);
  for (const Expected& each : expected)
    expect_equal(each.words, message(each.peer, rank, each.tag, each.length),
                 "message " + std::to_string(each.tag) + " of rank " + std::to_string(each.peer));
}

/// What `from` sends to `to` in a random exchange: alike wherever it is asked for.
struct RandomTraffic {
  struct Part {
    int tag = 0;
    size_t length = 0;
  };
  static std::vector<Part> of(uint64_t seed, int from, int to, size_t most_words) {
    std::mt19937_64 random(seed * 1'000'003 + static_cast<uint64_t>(from) * 101 + static_cast<uint64_t>(to));
    std::vector<Part> parts(random() % 25);
    for (Part& part : parts) {
      part.tag = static_cast<int>(random() % 4) - 1;  // any number is a tag
      const size_t shape = random() % 10;             // mostly small, some empty, some large
      part.length = shape == 0 ? 0 : random() % (shape < 8 ? 100 : most_words);
    }
    return parts;
  }
};

/// Everybody sends everybody random messages; receives are posted in another order, but those of one peer and tag in
/// that in which they are sent, as the k-th meets the k-th.
inline void exchange_at_random(Communicator& communicator, uint64_t seed, size_t most_words) {
  const int rank = communicator.rank(), n = communicator.world_size();
  struct Receive {
    int peer, tag;
    Words words, wanted;
  };
  struct Send {
    int peer, tag;
    Words words;
  };
  std::vector<Receive> receives;
  std::vector<Send> sends;
  for (int peer = 0; peer < n; ++peer) {
    int number = 0;
    for (const auto& [tag, length] : RandomTraffic::of(seed, rank, peer, most_words))
      sends.push_back({peer, tag, message(rank, peer, number++, length)});
    number = 0;
    for (const auto& [tag, length] : RandomTraffic::of(seed, peer, rank, most_words))
      receives.push_back({peer, tag, Words(length), message(peer, rank, number++, length)});
  }
  std::mt19937_64 random(seed * 31 + static_cast<uint64_t>(rank));
  std::vector<size_t> by_tag(receives.size());
  std::iota(by_tag.begin(), by_tag.end(), size_t{0});
  const uint64_t salt = random();
  std::stable_sort(by_tag.begin(), by_tag.end(), [&](size_t a, size_t b) {  // groups of (peer, tag) in a random order
    const auto place = [&](const Receive& r) { return random_word(salt, r.peer, static_cast<size_t>(r.tag + 1)); };
    return place(receives[a]) < place(receives[b]);
  });
  std::vector<Ending> endings;
  size_t next_receive = 0, next_send = 0;
  while (next_receive < receives.size() || next_send < sends.size()) {
    const bool receive = next_send == sends.size() || (next_receive < receives.size() && random() % 2 == 0);
    if (receive) {
      Receive& each = receives[by_tag[next_receive++]];
      endings.push_back(post_recv(communicator, each.peer, each.tag, each.words));
    } else {
      const Send& each = sends[next_send++];
      endings.push_back(post_send(communicator, each.peer, each.tag, each.words));
    }
  }
  end_all(endings);
  for (const Receive& each : receives)
    expect_equal(each.words, each.wanted,
                 "a message of rank " + std::to_string(each.peer) + " with tag " + std::to_string(each.tag) +
                     ", seed " + std::to_string(seed));
}

}  // namespace ringtree::testing
