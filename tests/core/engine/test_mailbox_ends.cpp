// How messages with tags end when they do not end well: each poster is told once, every rank hears the same, and the
// text names ranks, tag and counts. Ranks as threads, and as processes where one dies.
#include <gtest/gtest.h>

#include <barrier>
#include <thread>

#include "core/bootstrap/unix_store.h"
#include "tests/core/bootstrap/child_process.h"
#include "tests/core/bootstrap/waits_for_cores.h"
#include "tests/core/engine/posted.h"

namespace ringtree::testing {
namespace {

const std::vector<std::vector<int>> kPlacements = {{0, 0}, {0, 1}};

std::string outcome_of_message(Ending& ending) {
  return outcome_of([&] { end_of(ending); });
}

TEST(MailboxEnds, unequal_counts_are_a_mismatch_that_names_both) {
  // The receive is posted before or after the message has come, which is small or large.
  for (const std::vector<int>& hosts : kPlacements)
    for (const bool early : {true, false})
      for (const size_t length : {size_t{2}, size_t{200'000}}) {
        const auto outcomes = run_on_hosts(hosts, [&](Communicator& communicator) {
          Words words(communicator.rank() == 0 ? length : length + 1), marker(1);
          Ending other, ending;
          if (communicator.rank() == 0) {
            ending = post_send(communicator, 1, 3, words);
            other = post_send(communicator, 1, 4, marker);
          } else {
            if (early) ending = post_recv(communicator, 0, 3, words);
            other = post_recv(communicator, kAnySource, 4, marker);
            if (!early) end_of(other);
            if (!early) ending = post_recv(communicator, 0, 3, words);
            end_of(ending);
          }
          Ending never = post_recv(communicator, 1 - communicator.rank(), 9, marker);
          end_of(never);
        });
        for (const std::string& outcome : outcomes) {
          EXPECT_TRUE(contains(outcome, "mismatch: rank 0 (pid ")) << outcome;
          EXPECT_TRUE(contains(outcome, "sent " + std::to_string(8 * length) + " bytes with tag 3 to the recv of " +
                                            std::to_string(8 * length + 8) + " bytes with tag 3 from rank 0 of rank 1"))
              << outcome;
        }
      }
}

TEST(MailboxEnds, unequal_counts_to_oneself_are_a_mismatch) {
  for (const bool early : {true, false})
    for (const std::string& outcome : run_communicators(1, test_settings(), [&](Communicator& communicator) {
           Words two(2), three(3);
           Ending receive, send;
           if (early) receive = post_recv(communicator, 0, 1, three);
           send = post_send(communicator, 0, 1, two);
           if (!early) receive = post_recv(communicator, 0, 1, three);
           end_of(receive);
         }))
      EXPECT_TRUE(contains(outcome, "sent 16 bytes with tag 1 to the recv of 24 bytes with tag 1 from rank 0"))
          << outcome;
}

TEST(MailboxEnds, that_nobody_answers_are_timeouts_on_every_rank) {
  for (const std::vector<int>& hosts : kPlacements) {
    const auto outcomes = run_on_hosts(hosts, [](Communicator& communicator) {
      Words words(8), more(8);
      if (communicator.rank() == 0) {
        Ending patient = post_recv(communicator, 1, 4, more);  // has its own deadline, but ends with the other
        Ending ending = post_recv(communicator, 1, 3, words, 0.05);
        EXPECT_TRUE(contains(outcome_of_message(ending), "timeout: "));
        end_of(patient);
      } else {
        Ending ending = post_recv(communicator, kAnySource, 5, words);
        end_of(ending);
      }
    });
    for (const std::string& outcome : outcomes) {
      EXPECT_TRUE(contains(outcome, "timeout: the recv of 64 bytes with tag 3 from rank 1 of rank 0 (pid ")) << outcome;
      EXPECT_TRUE(contains(outcome, "was not complete after 0.05 s")) << outcome;
    }
  }
}

// The deadline holds though the thread finds something to do at every look.
TEST(MailboxEnds, a_timeout_comes_beside_traffic_that_never_pauses) {
  const auto outcomes = run_communicators(1, test_settings(), [](Communicator& communicator) {
    Words words(8);
    Ending late = post_recv(communicator, 0, 1, words, 0.05);
    std::promise<void> ended;
    std::function<void()> send;
    send = [&] {
      communicator.post_recv(0, 2, nullptr, 0, 0, [](int, const std::exception_ptr&) {});
      communicator.post_send(0, 2, nullptr, 0, 0, [&](int, const std::exception_ptr& error) {
        if (error) {
          ended.set_value();
        } else {
          send();
        }
      });
    };
    send();
    ended.get_future().wait();
    end_of(late);
  });
  EXPECT_TRUE(contains(outcomes[0], "timeout: the recv of 64 bytes with tag 1 from rank 0")) << outcomes[0];
}

TEST(MailboxEnds, a_peer_that_left_is_named) {
  for (const std::vector<int>& hosts : kPlacements)
    for (const bool any : {true, false}) {
      const auto outcomes = run_on_hosts(hosts, [&](Communicator& communicator) {
        Words words(8);
        if (communicator.rank() == 1) return;
        Ending ending = post_recv(communicator, any ? kAnySource : 1, 3, words);
        end_of(ending);
      });
      EXPECT_TRUE(contains(outcomes[0], "peer: rank 1 (pid ")) << outcomes[0];
      EXPECT_TRUE(
          contains(outcomes[0], std::string("left the communicator before the recv of 64 bytes with tag 3 from ") +
                                    (any ? "any rank" : "rank 1") + " of rank 0"))
          << outcomes[0];
    }
}

TEST(MailboxEnds, a_peer_that_left_before_it_took_a_large_message_is_named) {
  for (const std::vector<int>& hosts : kPlacements) {
    const auto outcomes = run_on_hosts(hosts, [](Communicator& communicator) {
      if (communicator.rank() == 1) return;
      const Words words(1'000'000);
      Ending ending = post_send(communicator, 1, 3, words);
      end_of(ending);
    });
    EXPECT_TRUE(contains(outcomes[0], "left the communicator before the send of 8000000 bytes with tag 3 to rank 1"))
        << outcomes[0];
  }
}

TEST(MailboxEnds, one_that_left_does_not_end_a_receive_from_any_source) {
  for (const std::vector<int>& hosts : {std::vector<int>{0, 0, 0}, {0, 1, 2}}) {
    std::atomic<bool> left{false};
    expect_all_well(run_on_hosts(hosts, [&](Communicator& communicator) {
      const Words sent = message(2, 0, 0, 100);
      Words words(100);
      if (communicator.rank() == 1) {
        communicator.close();
        left.store(true);
      } else if (communicator.rank() == 2) {
        while (!left.load()) std::this_thread::yield();
        Ending ending = post_send(communicator, 0, 3, sent);
        end_of(ending);
      } else {
        Ending ending = post_recv(communicator, kAnySource, 3, words);
        if (end_of(ending) != 2) throw std::runtime_error("a wrong source");
        expect_equal(words, sent, "the message");
      }
    }));
  }
}

TEST(MailboxEnds, an_abort_ends_all_messages_and_those_that_come_later) {
  for (const std::vector<int>& hosts : kPlacements) {
    const auto outcomes = run_on_hosts(hosts, [](Communicator& communicator) {
      Words words(100'000), one(1);
      Ending send = post_send(communicator, 1 - communicator.rank(), 3, words);  // more than fits, and nobody receives
      Ending receive = post_recv(communicator, communicator.rank(), 8, one);
      if (communicator.rank() == 1) std::thread([&] { communicator.abort("the loss is NaN"); }).join();
      for (Ending* ending : {&receive, &send}) {
        const std::string outcome = outcome_of_message(*ending);
        EXPECT_TRUE(contains(outcome, "aborted the communicator: the loss is NaN")) << outcome;
      }
      Ending later = post_send(communicator, communicator.rank(), 3, words);
      end_of(later);
    });
    for (const std::string& outcome : outcomes) {
      EXPECT_TRUE(contains(outcome, "rank 1 (pid ")) << outcome;
      EXPECT_TRUE(contains(outcome, "aborted the communicator: the loss is NaN")) << outcome;
    }
  }
}

TEST(MailboxEnds, receives_that_are_open_when_it_is_closed_say_so) {
  for (const std::vector<int>& hosts : kPlacements) {
    std::barrier all_closed(2);
    expect_all_well(run_on_hosts(hosts, [&](Communicator& communicator) {
      Words words(8), more(8);
      Ending named = post_recv(communicator, 1 - communicator.rank(), 3, words);
      Ending any = post_recv(communicator, kAnySource, 3, more);
      all_closed.arrive_and_wait();      // else one could hear that the other left
      std::vector<std::thread> threads;  // from several threads at once as well as from one
      for (int i = 0; i < 3; ++i) threads.emplace_back([&] { communicator.close(); });
      for (std::thread& thread : threads) thread.join();
      for (Ending* ending : {&named, &any}) {
        EXPECT_TRUE(is_done(*ending));
        const std::string outcome = outcome_of_message(*ending);
        EXPECT_TRUE(contains(outcome, "usage: the communicator was closed before the recv of 64 bytes with tag 3") ||
                    contains(outcome, "left the communicator"))
            << outcome;
      }
      EXPECT_EQ(outcome_of([&] { post_recv(communicator, 0, 3, words); }),
                "usage: this communicator was closed; make a new one");
    }));
  }
}

TEST(MailboxEnds, closing_it_is_refused_to_who_is_told_of_a_message) {
  expect_all_well(run_communicators(1, test_settings(), [](Communicator& communicator) {
    std::promise<std::string> outcome;
    communicator.post_send(0, 0, nullptr, 0, 0, [&](int, const std::exception_ptr&) {
      outcome.set_value(outcome_of([&] { communicator.close(); }));
    });
    EXPECT_TRUE(contains(outcome.get_future().get(), "usage: a completion callback cannot close its communicator"));
    Words words = message(0, 0, 0, 5), received(5);
    Ending send = post_send(communicator, 0, 1, words), receive = post_recv(communicator, 0, 1, received);
    end_of(send);
    end_of(receive);
  }));
}

TEST(MailboxEnds, calls_and_messages_refuse_each_other) {
  std::barrier all_here(2);
  expect_all_well(run_communicators(2, test_settings(), [&](Communicator& communicator) {
    Words words(3);
    std::vector<float> data(10, 1.0f);
    Call arguments = call_of(Collective::all_reduce, data.size());
    arguments.input = arguments.output = data.data();
    // Of rank 1 nobody is there yet: the call in the background cannot end.
    if (communicator.rank() == 0) {
      const auto work = communicator.start(arguments);
      EXPECT_TRUE(contains(outcome_of([&] { post_send(communicator, 1, 0, words); }),
                           "usage: this communicator is in a call: make another one for messages"));
      all_here.arrive_and_wait();
      work->wait();
    } else {
      all_here.arrive_and_wait();
      communicator.run(arguments);
    }
    Ending ending = post_send(communicator, communicator.rank(), 0, words);
    end_of(ending);
    const std::string refused =
        "usage: this communicator exchanges messages: make another one for collectives and transfers";
    EXPECT_EQ(outcome_of([&] { communicator.run(arguments); }), refused);
    EXPECT_EQ(outcome_of([&] { communicator.start(arguments)->wait(); }), refused);
    EXPECT_EQ(outcome_of([&] { communicator.split(0, 0); }), refused);
    const Transfer transfer = sending(1 - communicator.rank(), words);
    EXPECT_EQ(outcome_of([&] { communicator.transfer({&transfer, 1}); }), refused);
  }));
}

TEST(MailboxEnds, wrong_arguments_harm_nobody) {
  expect_all_well(run_communicators(1, test_settings(), [](Communicator& communicator) {
    const TaggedMessage::Done done = [](int, const std::exception_ptr&) {};
    uint64_t word = 0;
    const auto post = [&](bool sends, int peer, const void* data, size_t bytes, double timeout_s,
                          const TaggedMessage::Done& told) {
      return outcome_of([&] {
        if (sends) return communicator.post_send(peer, 0, data, bytes, timeout_s, told);
        communicator.post_recv(peer, 0, const_cast<void*>(data), bytes, timeout_s, told);
      });
    };
    EXPECT_TRUE(contains(post(true, 1, &word, 8, 0, done), "usage: rank 1 is not a rank of a world of 1"));
    EXPECT_TRUE(contains(post(true, kAnySource, &word, 8, 0, done), "usage: rank -1 is not a rank"));
    EXPECT_TRUE(contains(post(false, -2, &word, 8, 0, done), "usage: rank -2 is not a rank"));
    EXPECT_TRUE(contains(post(true, 0, nullptr, 8, 0, done), "needs a buffer"));
    EXPECT_TRUE(contains(post(true, 0, &word, SIZE_MAX, 0, done), "exceeds the address space"));
    EXPECT_TRUE(contains(post(true, 0, &word, 8, -1, done), "timeout must be 0"));
    EXPECT_TRUE(contains(post(true, 0, &word, 8, 0, nullptr), "needs a completion callback"));
    Ending receive, send;
    communicator.post_recv(0, 0, &word, sizeof word, 0, tell(receive));
    const uint64_t seven = 7;
    communicator.post_send(0, 0, &seven, sizeof seven, 0, tell(send));
    end_of(receive);
    EXPECT_EQ(word, 7U);
  }));
}

TEST(MailboxEnds, a_transfer_that_meets_a_message_is_a_mismatch) {
  for (const std::vector<int>& hosts : kPlacements) {
    const auto outcomes = run_on_hosts(hosts, [](Communicator& communicator) {
      Words words(64);
      if (communicator.rank() == 0) {
        std::vector<std::byte> bytes(sizeof(MessageHeader));  // as many as a header has
        const Transfer transfer{true, 1, Dtype::kUint8, bytes.size(), bytes.data()};
        communicator.transfer({&transfer, 1});
        const Transfer answer = receiving(1, words);
        communicator.transfer({&answer, 1});
      } else {
        Ending ending = post_recv(communicator, 0, 0, words);
        end_of(ending);
      }
    });
    for (const std::string& outcome : outcomes)
      EXPECT_TRUE(contains(outcome, "sent something other than a tagged message to rank 1")) << outcome;
  }
}

TEST(MailboxEnds, the_memory_cap_counts_its_links) {
  Settings settings = test_settings();
  settings.memory_cap_bytes = 100'000;
  const auto outcomes = run_communicators(2, settings, [](Communicator& communicator) {
    Words words(8);
    Ending ending =
        communicator.rank() == 0 ? post_send(communicator, 1, 0, words) : post_recv(communicator, 0, 0, words);
    end_of(ending);
  });
  for (const std::string& outcome : outcomes) {
    EXPECT_TRUE(contains(outcome, "rank 0 (pid ")) << outcome;
    EXPECT_TRUE(contains(outcome, "could not begin a send of 64 bytes with tag 0 to rank 1")) << outcome;
  }
}

using Pipe = ChildProcess::Pipe;

// Ranks as processes that have their communicators.
std::vector<ChildProcess> start_job(int num_ranks, const std::vector<int>& hosts,
                                    const std::function<void(Communicator&, const Pipe&)>& body) {
  const std::string id = unique_id();
  std::vector<ChildProcess> ranks;
  for (int rank = 0; rank < num_ranks; ++rank)
    ranks.emplace_back([=](const Pipe& pipe) {
      UnixStore store(id, rank, patience());
      Communicator communicator(store, rank, num_ranks, settings_on(hosts, rank), built_in_table());
      body(communicator, pipe);
      return 0;
    });
  return ranks;
}

TEST(MailboxEnds, a_peer_that_died_is_named_within_a_second) {
  for (const std::vector<int>& hosts : {std::vector<int>{0, 0, 0}, {0, 1, 0}})
    for (const bool any : {true, false}) {
      auto ranks = start_job(3, hosts, [any](Communicator& communicator, const Pipe& pipe) {
        Words words(8);
        Ending ending = post_recv(communicator, any ? kAnySource : 1, 3, words);
        pipe.say("waits");
        const std::string outcome = outcome_of_message(ending);
        pipe.say(std::to_string(now_ns()) + " " + outcome);
        pipe.hear();
      });
      for (const ChildProcess& rank : ranks) ASSERT_EQ(rank.pipe().hear(), "waits");
      const WaitsForCores waits(ranks);
      const int64_t killed_ns = now_ns();
      ranks[1].kill_now();
      for (const int rank : {0, 2}) {
        const std::string line = ranks[static_cast<size_t>(rank)].pipe().hear();
        EXPECT_TRUE(contains(line, " peer: rank 1 (pid " + std::to_string(ranks[1].pid()))) << line;
        EXPECT_TRUE(contains(line, "died before the recv of 64 bytes with tag 3 from ")) << line;
        if (!line.empty()) {
          const int64_t without_core_ns = waits.of({rank, 1});
          EXPECT_LT(std::stoll(line) - killed_ns - without_core_ns, int64_t{1'000'000'000} * (kSanitized ? 5 : 1))
              << line << "\n"
              << without_core_ns << " ns of it without a core";
        }
      }
    }
}

TEST(MailboxEnds, a_child_that_fork_makes_leaves_the_parents_messages_alone) {
  auto ranks = start_job(2, {0, 0}, [](Communicator& communicator, const Pipe& pipe) {
    const int rank = communicator.rank();
    const Words sent = message(rank, 1 - rank, 0, 1'000);
    Words words(1'000);
    Ending receive = post_recv(communicator, 1 - rank, 0, words);
    {
      ChildProcess child([&](const Pipe& to_parent) {
        to_parent.say(outcome_of([&] { communicator.post_send(0, 0, nullptr, 0, 0, [](int, const auto&) {}); }));
        communicator.close();
        communicator.~Communicator();
        return 0;
      });
      pipe.say(child.pipe().hear());
      pipe.say(std::to_string(child.wait()));
    }
    Ending send = post_send(communicator, 1 - rank, 0, sent);
    end_of(send);
    end_of(receive);
    expect_equal(words, message(1 - rank, rank, 0, 1'000), "the message");
  });
  for (ChildProcess& rank : ranks) {
    EXPECT_TRUE(contains(rank.pipe().hear(), "made before fork()"));
    EXPECT_EQ(rank.pipe().hear(), "0");
    EXPECT_EQ(rank.wait(), 0);
  }
}

}  // namespace
}  // namespace ringtree::testing
