// Messages with tags: exact data in any order of tags, from any source, all at once, on one host and on several. How
// they end otherwise: test_mailbox_ends.cpp.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "core/transport/shared_buffer.h"
#include "tests/core/engine/posted.h"

namespace ringtree::testing {
namespace {

// In words: nothing, what a header holds, just not, and more than the slots of a link.
constexpr size_t kMessageLengths[] = {0, 1, 62, 63, 1'000, kSanitized ? 30'000 : 300'000};

struct Spot {
  const char* name;
  std::vector<int> hosts;
  Cores cores;
};

class Mailbox : public ::testing::TestWithParam<Spot> {
 protected:
  static std::vector<std::string> run(const RankBody& body) {
    const Spot& place = GetParam();
    const bool is_one =
        std::count(place.hosts.begin(), place.hosts.end(), 0) == static_cast<std::ptrdiff_t>(place.hosts.size());
    return is_one ? run_communicators(static_cast<int>(place.hosts.size()), test_settings(), body, place.cores)
                  : run_on_hosts(place.hosts, body, place.cores);
  }
  static int n() { return static_cast<int>(GetParam().hosts.size()); }
};

TEST_P(Mailbox, exchanges_messages_of_everybody_with_everybody_at_once) {
  expect_all_well(run([](Communicator& communicator) { exchange_backwards(communicator, kMessageLengths, 2); }));
}

TEST_P(Mailbox, exchanges_random_messages) {
  for (uint64_t seed = 1; seed <= (kSanitized ? 4 : 12); ++seed) {
    std::printf("[ seed ] %d\n", static_cast<int>(seed));
    expect_all_well(
        run([&](Communicator& communicator) { exchange_at_random(communicator, seed, kSanitized ? 10'000 : 100'000); }),
        "seed " + std::to_string(seed));
    if (HasFailure()) return;
  }
}

// Several MB in both directions of every pair, far more than links hold: only who sends and receives at the same time
// gets through.
TEST_P(Mailbox, moves_large_messages_in_both_directions_at_once) {
  const size_t length = kSanitized ? 100'000 : 1'000'000;
  expect_all_well(run([&](Communicator& communicator) {
    const int rank = communicator.rank();
    std::vector<Words> sent, received(static_cast<size_t>(n()), Words(length));
    std::vector<Ending> endings;
    for (int peer = 0; peer < n(); ++peer) sent.push_back(message(rank, peer, 0, length));
    for (int peer = 0; peer < n(); ++peer)
      endings.push_back(post_send(communicator, peer, 5, sent[static_cast<size_t>(peer)]));
    for (int peer = 0; peer < n(); ++peer)
      endings.push_back(post_recv(communicator, peer, 5, received[static_cast<size_t>(peer)]));
    end_all(endings);
    for (int peer = 0; peer < n(); ++peer)
      expect_equal(received[static_cast<size_t>(peer)], message(peer, rank, 0, length), "a large message");
  }));
}

TEST_P(Mailbox, tells_whose_a_message_from_any_source_is) {
  constexpr int kTimes = 20;
  expect_all_well(run([](Communicator& communicator) {
    const int rank = communicator.rank();
    if (rank != 0) {
      for (int number = 0; number < kTimes; ++number) {
        const Words words = message(rank, 0, number, static_cast<size_t>(100 + rank));
        Words padded(2'000);
        std::copy(words.begin(), words.end(), padded.begin());
        Ending sent = post_send(communicator, 0, number, padded);
        end_of(sent);
      }
      return;
    }
    std::vector<bool> heard(static_cast<size_t>(n()));
    for (int number = 0; number < kTimes; ++number) {
      std::fill(heard.begin(), heard.end(), false);
      for (int i = 1; i < n(); ++i) {
        Words words(2'000);
        Ending received = post_recv(communicator, kAnySource, number, words);
        const int source = end_of(received);
        if (source < 1 || source >= n() || heard[static_cast<size_t>(source)])
          throw std::runtime_error("a wrong source");
        heard[static_cast<size_t>(source)] = true;
        words.resize(static_cast<size_t>(100 + source));
        expect_equal(words, message(source, 0, number, words.size()), "the message");
      }
    }
  }));
}

TEST_P(Mailbox, takes_posts_of_several_threads) {
  constexpr int kThreads = 4, kTimes = 25;
  expect_all_well(run([](Communicator& communicator) {
    const int rank = communicator.rank(), right = (rank + 1) % n(), left = (rank + n() - 1) % n();
    // On its own thread and its tags, each sends to the right and receives from the left.
    const auto outcomes = run_ranks(kThreads, [&](int thread) {
      for (int number = 0; number < kTimes; ++number) {
        const Words sent = message(rank, right, thread * kTimes + number, 300);
        Words received(300);
        Ending receive = post_recv(communicator, left, thread, received);
        Ending send = post_send(communicator, right, thread, sent);
        end_of(send);
        end_of(receive);
        expect_equal(received, message(left, rank, thread * kTimes + number, 300), "the message");
      }
    });
    for (const std::string& outcome : outcomes)
      if (!outcome.empty()) throw std::runtime_error(outcome);
  }));
}

// Two ranks throw a word back and forth, each from within what it is told when the word has come.
TEST_P(Mailbox, may_be_posted_to_when_a_message_is_done) {
  constexpr uint64_t kTimes = kSanitized ? 100 : 1'000;
  expect_all_well(run([](Communicator& communicator) {
    const int rank = communicator.rank();
    if (rank > 1) return;
    std::promise<void> all_done;
    uint64_t word = 0;  // of the mailbox's thread
    std::function<void()> receive, send;
    const auto next = [&](const std::function<void()>& step) {
      return [&](int, const std::exception_ptr& error) {
        if (error) std::terminate();  // on the mailbox's thread: nobody would catch it
        step();
      };
    };
    const std::function<void()> sent = [&] { word < kTimes ? receive() : all_done.set_value(); };
    const std::function<void()> received = [&] {
      ++word;
      word <= kTimes ? send() : all_done.set_value();
    };
    send = [&] { communicator.post_send(1 - rank, 7, &word, sizeof word, 0, next(sent)); };
    receive = [&] { communicator.post_recv(1 - rank, 7, &word, sizeof word, 0, next(received)); };
    std::promise<void> begun;
    if (rank == 0) {
      send();
    } else {
      receive();
    }
    std::future<void> done = all_done.get_future();
    if (done.wait_for(std::chrono::duration<double>(2 * kPatienceSeconds)) != std::future_status::ready)
      throw std::runtime_error("the word was lost");
    done.get();
    if (word < kTimes) throw std::runtime_error("it went " + std::to_string(word) + " times");
  }));
}

TEST_P(Mailbox, brings_what_was_sent_to_its_end_when_it_is_closed) {
  for (const size_t length : kMessageLengths)
    expect_all_well(run([&](Communicator& communicator) {
      const int rank = communicator.rank();
      const Words sent = message(0, 1, 0, length);
      if (rank == 0) {
        Ending ending = post_send(communicator, 1, 0, sent);
        communicator.close();
        if (!is_done(ending)) throw std::runtime_error("not done");
        end_of(ending);
      } else if (rank == 1) {
        Words words(length);
        Ending ending = post_recv(communicator, 0, 0, words);
        end_of(ending);
        expect_equal(words, sent, "the message");
      }
    }));
}

INSTANTIATE_TEST_SUITE_P(Places, Mailbox,
                         ::testing::Values(Spot{"one_host", {0, 0, 0}, Cores::all},
                                           Spot{"one_core", {0, 0, 0}, Cores::one},
                                           Spot{"two_hosts", {0, 1}, Cores::all},
                                           Spot{"mixed_hosts", {0, 1, 0}, Cores::all}),
                         [](const auto& place) { return std::string(place.param.name); });

TEST(MailboxOfOneRank, sends_to_itself_before_and_after_it_receives) {
  expect_all_well(run_communicators(1, test_settings(), [](Communicator& communicator) {
    for (const size_t length : kMessageLengths) {
      const Words first = message(0, 0, 1, length), second = message(0, 0, 2, length);
      Words one(length), two(length);
      Ending sent = post_send(communicator, 0, 1, first);
      end_of(sent);  // kept
      Ending early = post_recv(communicator, kAnySource, 2, two);
      Ending late = post_recv(communicator, 0, 1, one);
      if (end_of(late) != 0) throw std::runtime_error("a wrong source");
      Ending also_sent = post_send(communicator, 0, 2, second);
      end_of(also_sent);
      if (end_of(early) != 0) throw std::runtime_error("a wrong source");
      expect_equal(one, first, "what was sent before");
      expect_equal(two, second, "what was sent after");
    }
  }));
}

// The first is larger than a link holds, so it is under way when somebody asks for it: whoever does gets it.
TEST(MailboxOfTwoRanks, hands_a_message_that_is_arriving_to_who_asks_for_it) {
  constexpr size_t kLarge = kSanitized ? 200'000 : 1'000'000;
  for (int round = 0; round < (kSanitized ? 5 : 20); ++round)
    expect_all_well(run_communicators(2, test_settings(), [](Communicator& communicator) {
      const Words large = message(0, 1, 1, kLarge), small = message(0, 1, 2, 3);
      if (communicator.rank() == 0) {
        Ending one = post_send(communicator, 1, 1, large), two = post_send(communicator, 1, 2, small);
        end_of(one);
        end_of(two);
        return;
      }
      Words first(kLarge), second(3);
      Ending two = post_recv(communicator, 0, 2, second);
      Ending one = post_recv(communicator, kAnySource, 1, first);
      end_of(one);
      end_of(two);
      expect_equal(first, large, "the large one");
      expect_equal(second, small, "the small one");
    }));
}

TEST(MailboxOfTwoRanks, reads_shared_buffers_in_place) {
  expect_all_well(run_communicators(2, test_settings(), [](Communicator& communicator) {
    const auto segment = allocate_shared(80'000);
    uint64_t* const words = reinterpret_cast<uint64_t*>(segment->data());
    for (int number = 0; number < 5; ++number) {
      const Words sent = message(0, 1, number, 10'000);
      Ending ending;
      if (communicator.rank() == 0) {
        std::copy(sent.begin(), sent.end(), words);
        communicator.post_send(1, 0, words, 80'000, 0, tell(ending));
        end_of(ending);
        std::fill_n(words, 10'000, 0);  // it has been read
      } else {
        communicator.post_recv(0, 0, words, 80'000, 0, tell(ending));
        end_of(ending);
        expect_equal(Words(words, words + 10'000), sent, "the message");
      }
    }
  }));
}

TEST(MailboxOfTwoRanks, serves_an_emulated_cluster) {
  Settings settings = test_settings();
  settings.emulation = Cluster{2, 1, 1e-4, 1e9};
  expect_all_well(run_communicators(2, settings, [](Communicator& communicator) {
    exchange_backwards(communicator, std::span(kMessageLengths, 5), 1);
  }));
}

TEST(MailboxOfTwoRanks, comes_after_calls_and_transfers) {
  expect_all_well(run_communicators(2, test_settings(), [](Communicator& communicator) {
    const int rank = communicator.rank(), other = 1 - rank;
    sum_of_ones(communicator, 1'000);
    Words out = message(rank, other, 1, 10), in(10);
    communicator.transfer(std::vector<Transfer>{sending(other, out), receiving(other, in)});
    expect_equal(in, message(other, rank, 1, 10), "the transfer");
    const Words sent = message(rank, other, 2, 10);
    Ending receive = post_recv(communicator, other, 0, in), send = post_send(communicator, other, 0, sent);
    end_of(receive);
    end_of(send);
    expect_equal(in, message(other, rank, 2, 10), "the message");
  }));
}

}  // namespace
}  // namespace ringtree::testing
