// The word of the first rank that refuses: who leaves it, who hears it, and what each rank then throws. Ranks that
// refuse in a real meeting: test_refusals.cpp.
#include <numeric>

#include "core/bootstrap/rendezvous.h"
#include "core/bootstrap/thread_store.h"
#include "core/bootstrap/wire.h"
#include "tests/core/bootstrap/rank_threads.h"

namespace ringtree::testing {
namespace {

class RendezvousTest : public ::testing::Test {
 protected:
  template <class Error>
  std::string end(int rank, const Error& error) {
    return outcome_of([&] { Rendezvous(store_, "p", rank, 4).guard([&] { throw error; }, [] {}); });
  }
  std::string me(int rank) {
    return "rank " + std::to_string(rank) + " (pid " + std::to_string(getpid()) + ") refused to meet: ";
  }
  ThreadStore store_;
};

TEST_F(RendezvousTest, who_only_saw_others_go_throws_the_first_word) {
  EXPECT_EQ(end(3, UsageError("wrong")), "usage: wrong");
  EXPECT_EQ(end(2, EndedPeer(3, "rank 3 ended")), "peer: " + me(3) + "wrong");
  EXPECT_EQ(end(1, PeerError("the store ended")), "peer: " + me(3) + "wrong");
  EXPECT_EQ(end(0, TimeoutError("rank 1 did not come")), "peer: " + me(3) + "wrong");
}

TEST_F(RendezvousTest, what_a_rank_refuses_itself_it_says_itself) {
  EXPECT_EQ(end(0, MismatchError("other settings")), "mismatch: other settings");
  EXPECT_EQ(end(1, MismatchError("other settings, too")), "mismatch: other settings, too");
  EXPECT_EQ(end(2, UsageError("wrong")), "usage: wrong");
  EXPECT_EQ(end(3, EndedPeer(1, "rank 1 ended")), "mismatch: other settings");
}

TEST_F(RendezvousTest, of_ranks_that_find_each_other_ended_the_first_one_to_say_so_is_believed) {
  EXPECT_EQ(end(2, EndedPeer(3, "rank 3 ended")), "peer: rank 3 ended");
  EXPECT_EQ(end(1, EndedPeer(2, "rank 2 ended")), "peer: rank 3 ended");
  EXPECT_EQ(end(0, EndedPeer(1, "rank 1 ended")), "peer: rank 3 ended");
}

TEST_F(RendezvousTest, the_word_names_the_ranks_that_are_missing_and_not_the_one_that_speaks) {
  const auto ranks = [&](int rank, const auto& error) {
    return ranks_in_error([&] { Rendezvous(store_, "p", rank, 4).guard([&] { throw error; }, [] {}); });
  };
  EXPECT_EQ(ranks(3, EndedPeer(0, "rank 0 ended")), std::vector<int>{0});
  EXPECT_EQ(ranks(2, EndedPeer(3, "rank 3 ended")), std::vector<int>{0}) << "the first one is believed";
  const auto of_word = [&](const std::exception_ptr& refusal) {
    ThreadStore store;
    outcome_of([&] { Rendezvous(store, "p", 0, 100).guard([&] { std::rethrow_exception(refusal); }, [] {}); });
    return ranks_in_error([&] { Rendezvous(store, "p", 1, 100).get("key", Deadline::after_seconds(30)); });
  };
  std::vector<int> many(99);
  std::iota(many.begin(), many.end(), 1);
  const std::vector<int> first(many.begin(), many.begin() + 64);
  EXPECT_EQ(of_word(std::make_exception_ptr(TimeoutError("many", many))), first);
  EXPECT_EQ(of_word(std::make_exception_ptr(UsageError("wrong"))), std::vector<int>());
}

TEST_F(RendezvousTest, two_deadlines_are_each_ranks_own) {
  EXPECT_EQ(end(0, TimeoutError("rank 0 waited")), "timeout: rank 0 waited");
  EXPECT_EQ(end(1, TimeoutError("rank 1 waited")), "timeout: rank 1 waited");
  EXPECT_EQ(end(2, PeerError("the store ended")), "timeout: rank 0 waited");
}

TEST_F(RendezvousTest, a_word_that_nobody_can_read_is_told_as_such) {
  store_.set("p/refused", "nonsense");
  EXPECT_EQ(end(0, EndedPeer(1, "rank 1 ended")), "peer: a rank refused to meet");
  store_.set("p/refused", std::string("\0\x04\0\0\0a\nb\x1b\0\0\0\0", 13));
  EXPECT_TRUE(contains(end(0, EndedPeer(1, "rank 1 ended")), "b"));
  EXPECT_EQ(end(0, EndedPeer(1, "rank 1 ended")).find('\n'), std::string::npos);
}

TEST_F(RendezvousTest, a_word_of_another_version_is_read_as_far_as_it_goes) {
  const auto read = [&](const std::string& after_the_text) {
    store_.set("p/refused", std::string("\x01\x04\0\0\0late", 9) + after_the_text);
    Rendezvous reading(store_, "p", 1, 4);
    EXPECT_EQ(outcome_of([&] { reading.get("key", patience()); }), "timeout: late");
    return ranks_in_error([&] { reading.get("key", patience()); });
  };
  const auto number = [](uint64_t value) { return ByteWriter().number(value, 4).take(); };
  EXPECT_EQ(read(""), std::vector<int>()) << "older: without ranks";
  EXPECT_EQ(read(number(2) + number(0) + number(3) + "more"), (std::vector<int>{0, 3})) << "newer: more follows";
  EXPECT_EQ(read(number(4) + number(4) + number(2) + number(0xffffffff) + number(1)), (std::vector<int>{2, 1}))
      << "of another world";
  EXPECT_EQ(read(number(2) + number(0)), std::vector<int>()) << "cut off";
  EXPECT_EQ(read(std::string(3, '\0')), std::vector<int>()) << "cut off";
}

TEST_F(RendezvousTest, a_word_about_no_ranks_is_what_a_version_without_them_reads) {
  EXPECT_EQ(end(3, MismatchError("wrong")), "mismatch: wrong");
  EXPECT_EQ(store_.get("p/refused", Deadline{0}), std::string("\x02\x05\0\0\0wrong", 10));
}

TEST_F(RendezvousTest, the_word_is_there_before_anything_is_closed) {
  Rendezvous refusing(store_, "p", 1, 2);
  std::string word;
  EXPECT_EQ(outcome_of([&] {
              refusing.guard([] { throw UsageError("wrong"); }, [&] { word = store_.get("p/refused", Deadline{0}); });
            }),
            "usage: wrong");
  EXPECT_NE(word, "");
}

TEST_F(RendezvousTest, who_waits_for_a_key_hears_a_refusal_or_gets_the_key) {
  Rendezvous waiting(store_, "p", 0, 2);
  store_.set("p/token", "7");
  EXPECT_EQ(end(1, UsageError("wrong")), "usage: wrong");
  EXPECT_EQ(waiting.get("token", patience()), "7");
  EXPECT_EQ(outcome_of([&] { waiting.get("profile", patience()); }), "peer: " + me(1) + "wrong");
}

TEST_F(RendezvousTest, of_one_rank_uses_no_store) {
  EXPECT_EQ(outcome_of([&] { Rendezvous(store_, "p", 0, 1).guard([] { throw UsageError("wrong"); }, [] {}); }),
            "usage: wrong");
  EXPECT_THROW(store_.get("p/refused", Deadline{0}), TimeoutError);
}

TEST_F(RendezvousTest, who_refuses_is_heard_by_all_that_are_there) {
  EXPECT_TRUE(Rendezvous(store_, "p", 1, 4).refuse("two launchers disagree"));
  EXPECT_EQ(outcome_of([&] { Rendezvous(store_, "p", 0, 4).get("token", patience()); }),
            "mismatch: two launchers disagree");
}

/// One that ends with rank 0.
struct ServedStore final : Store {
  void set(const std::string& key, const std::string& value) override { store.set(key, value); }
  std::string get(const std::string& key, Deadline deadline) override { return store.get(key, deadline); }
  bool is_served_here() const override { return true; }
  ThreadStore store;
};

TEST(Rendezvous, who_serves_the_store_and_refuses_knows_whether_anybody_was_there) {
  ServedStore alone;
  EXPECT_FALSE(Rendezvous(alone, "p", 0, 3).refuse("wrong"));
  ServedStore served;
  const auto outcomes = run_ranks(2, [&](int rank) {
    Rendezvous mine(served.store, "p", 2, 3);
    if (rank == 0 && !Rendezvous(served, "p", 0, 3).refuse("wrong")) throw WorldError("nobody has heard it");
    if (rank == 1) mine.guard([&] { mine.get("token", patience()); }, [] {});
  });
  EXPECT_EQ(outcomes, (std::vector<std::string>{"", "mismatch: wrong"}));
}

/// One that ends once this rank has left the meeting: who serves it has heard all that it waits for.
struct StoreUntilLeft final : Store {
  void set(const std::string& key, const std::string& value) override {
    store.set(key, value);
    has_ended = has_ended || key == "p/left/1";
  }
  std::string get(const std::string& key, Deadline deadline) override {
    if (has_ended) throw PeerError("ended");
    return store.get(key, deadline);
  }
  ThreadStore store;
  bool has_ended = false;
};

TEST(Rendezvous, who_refuses_was_heard_where_the_store_ends_as_soon_as_it_has_left) {
  StoreUntilLeft served;
  EXPECT_TRUE(Rendezvous(served, "p", 1, 2).refuse("wrong"));
  EXPECT_TRUE(served.has_ended) << "nobody was told that this rank has left";
}

/// Its server is gone.
struct EndedStore final : Store {
  void set(const std::string&, const std::string&) override { throw PeerError("ended"); }
  std::string get(const std::string&, Deadline) override { throw PeerError("ended"); }
};

TEST(Rendezvous, without_a_store_a_rank_says_what_it_saw) {
  EndedStore ended;
  Rendezvous rendezvous(ended, "p", 1, 2);
  EXPECT_EQ(outcome_of([&] { rendezvous.guard([] { throw EndedPeer(0, "rank 0 ended"); }, [] {}); }),
            "peer: rank 0 ended");
  EXPECT_FALSE(rendezvous.refuse("wrong")) << "nobody can have heard it";
}

}  // namespace
}  // namespace ringtree::testing
