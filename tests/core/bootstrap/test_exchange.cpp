// How ranks learn of each other through a store: in how many messages, and what each is told where a rank is missing,
// is there twice, or publishes what cannot be read. Ranks 0 and 1 read all records and the others rank 0's table, so
// most cases concern rank 2 and above. Not for refusals on their way to the others: test_refusals.cpp.
#include <algorithm>
#include <atomic>

#include "core/bootstrap/exchange.h"
#include "core/bootstrap/identity_table.h"
#include "core/bootstrap/thread_store.h"
#include "tests/core/bootstrap/rank_threads.h"

namespace ringtree::testing {
namespace {

/// Counts what was set and what was found.
class CountingStore final : public Store {
 public:
  void set(const std::string& key, const std::string& value) override {
    // Relaxed, all: read after the ranks' threads have been joined.
    num_sets.fetch_add(1, std::memory_order_relaxed);
    size_t longest_yet = longest.load(std::memory_order_relaxed);
    while (longest_yet < value.size() &&
           !longest.compare_exchange_weak(longest_yet, value.size(), std::memory_order_relaxed)) {
    }
    store_.set(key, value);
  }
  std::string get(const std::string& key, Deadline deadline) override {
    std::string value = store_.get(key, deadline);
    num_gets.fetch_add(1, std::memory_order_relaxed);
    return value;
  }
  std::atomic<int> num_sets = 0, num_gets = 0;
  std::atomic<size_t> longest = 0;

 private:
  ThreadStore store_;
};

std::vector<PeerIdentity> exchange(Store& store, const PeerIdentity& mine, Deadline deadline = patience()) {
  Rendezvous rendezvous(store, "met", mine.rank, mine.world_size);
  std::vector<PeerIdentity> all;
  rendezvous.guard([&] { all = exchange_identities(rendezvous, mine, deadline); }, [] {});
  return all;
}

/// Of a rank that met the others: by which each is known.
std::vector<std::string> tokens_of(const std::vector<PeerIdentity>& identities) {
  std::vector<std::string> tokens;
  for (const PeerIdentity& identity : identities) tokens.push_back(identity.token);
  return tokens;
}

struct Counts {
  int sets, gets;
  size_t longest;
};

/// All know all afterwards.
Counts meet(int num_ranks, const std::string& settings) {
  CountingStore store;
  std::vector<PeerIdentity> selves;
  for (int rank = 0; rank < num_ranks; ++rank) selves.push_back(describe_self(rank, num_ranks, settings));
  expect_all_well(run_ranks(num_ranks, [&](int rank) {
    EXPECT_EQ(tokens_of(exchange(store, selves[static_cast<size_t>(rank)])), tokens_of(selves)) << "rank " << rank;
  }));
  return {store.num_sets, store.num_gets, store.longest};
}

TEST(Exchange, takes_messages_in_proportion_to_the_ranks) {
  for (const int n : {2, 3, 8, 32}) {
    const Counts counts = meet(n, "settings");
    EXPECT_EQ(counts.sets, n + 2) << n;      // each its record; the table twice, by ranks 0 and 1
    EXPECT_EQ(counts.gets, 3 * n - 2) << n;  // n by ranks 0 and 1 each; the table by each of the others
  }
}

TEST(Exchange, of_long_records_has_a_table_of_several_parts) {
  const int n = 12;  // of 60,000 bytes and less than 5,000 more each: 720,000 to 780,000 bytes, of 65,536 a part
  const Counts counts = meet(n, std::string(60'000, 's'));
  const int num_parts = (counts.sets - n) / 2;
  EXPECT_EQ(counts.sets, n + 2 * num_parts);
  EXPECT_TRUE(num_parts == 11 || num_parts == 12) << num_parts;
  EXPECT_EQ(counts.gets, 2 * n + num_parts * (n - 2));
  EXPECT_EQ(counts.longest, kTablePartBytes);
}

TEST(Exchange, names_missing_ranks_on_each_rank_by_its_own_deadline) {
  for (const std::vector<int>& missing : {std::vector<int>{3}, {0}, {0, 1}, {1, 4}}) {
    ThreadStore store;
    std::string names;
    for (const int rank : missing) names += (names.empty() ? "" : ", ") + std::to_string(rank);
    const auto outcomes = run_ranks(5, [&](int rank) {
      if (std::find(missing.begin(), missing.end(), rank) != missing.end()) return;
      try {
        exchange(store, describe_self(rank, 5, ""), Deadline::after_seconds(0.3));
      } catch (const TimeoutError& error) {
        EXPECT_EQ(error.ranks, missing);
        throw;
      }
    });
    for (int rank = 0; rank < 5; ++rank) {
      const std::string& outcome = outcomes[static_cast<size_t>(rank)];
      if (std::find(missing.begin(), missing.end(), rank) != missing.end()) continue;
      EXPECT_TRUE(contains(outcome, numbered("timeout: rank ", rank) + " waited 0.")) << outcome;
      EXPECT_TRUE(
          contains(outcome, (missing.size() == 1 ? "for rank " : "for ranks ") + names + " of 5, which did not"))
          << outcome;
    }
  }
}

/// Takes longer for one key than there is time to name those who are missing.
struct SlowStore final : Store {
  explicit SlowStore(std::string slow) : slow_key(std::move(slow)) {}
  void set(const std::string& key, const std::string& value) override { store.set(key, value); }
  std::string get(const std::string& key, Deadline deadline) override {
    if (key == slow_key) std::this_thread::sleep_for(std::chrono::milliseconds(2'100));
    return store.get(key, deadline);
  }
  const std::string slow_key;
  ThreadStore store;
};

TEST(Exchange, of_a_list_that_is_cut_off_has_ranks_in_the_field_where_it_shows_the_lowest_that_came) {
  const auto late = [](SlowStore& store, const std::string& named) {
    std::vector<int> ranks;
    const std::string outcome = outcome_of([&] {
      try {
        exchange(store, describe_self(3, 9, ""), Deadline::after_seconds(0.05));
      } catch (const TimeoutError& error) {
        ranks = error.ranks;
        throw;
      }
    });
    EXPECT_TRUE(contains(outcome, "for ranks " + named + " and perhaps others of 9, which did not")) << outcome;
    return ranks;
  };
  SlowStore nobody("met/identity/1"), rank_1("met/identity/2");
  EXPECT_EQ(late(nobody, "0, 1"), std::vector<int>());
  rank_1.set("met/identity/1", encode_identity(describe_self(1, 9, "")));
  EXPECT_EQ(late(rank_1, "0, 2"), (std::vector<int>{0, 2}));
}

TEST(Exchange, tells_who_is_missing_while_others_wait) {
  ThreadStore store;
  EXPECT_EQ(missing_ranks(store, "met", 3, 9), (std::vector<int>{0, 1, 2}));
  Rendezvous rendezvous(store, "met", 1, 3);
  outcome_of([&] { exchange_identities(rendezvous, describe_self(1, 3, "", "host"), Deadline{0}); });
  EXPECT_EQ(missing_ranks(store, "met", 3, 9), (std::vector<int>{0, 2}));
  EXPECT_EQ(missing_ranks(store, "met", 2'000'000'000, 3), (std::vector<int>{0, 2, 3}));
  EXPECT_EQ(missing_ranks(store, "other", 2, 9), (std::vector<int>{0, 1}));
}

TEST(Exchange, says_that_rank_0_did_not_go_on_where_nobody_is_missing) {
  ThreadStore store;
  for (const int rank : {0, 1}) store.set(numbered("met/identity/", rank), encode_identity(describe_self(rank, 3, "")));
  const std::string outcome =
      outcome_of([&] { exchange(store, describe_self(2, 3, ""), Deadline::after_seconds(0.05)); });
  EXPECT_TRUE(contains(outcome, "timeout: rank 2 waited 0.0")) << outcome;
  EXPECT_TRUE(contains(outcome, "for rank 0 to say who the 3 ranks are, though they have come")) << outcome;
}

TEST(Exchange, tells_both_processes_that_claim_a_rank_whichever_rank_0_believed) {
  // Rank 0's table says that the first one is rank 2; the second one came after that.
  ThreadStore store;
  std::vector<PeerIdentity> selves;
  for (const int rank : {0, 1, 2, 2}) selves.push_back(describe_self(rank, 3, ""));
  expect_all_well(run_ranks(3, [&](int rank) { exchange(store, selves[static_cast<size_t>(rank)]); }));
  const std::string second = outcome_of([&] { exchange(store, selves[3]); });
  EXPECT_TRUE(contains(second, "usage: two processes claim rank 2, one of them pid ")) << second;

  // Both came before rank 0 read: it believed the second one.
  ThreadStore other;
  other.set("met/identity/all/0",
            encode_table({encode_identity(selves[0]), encode_identity(selves[1]), encode_identity(selves[3])}).front());
  const std::string first = outcome_of([&] { exchange(other, selves[2]); });
  EXPECT_TRUE(contains(first, "usage: two processes claim rank 2, one of them pid ")) << first;
}

TEST(Exchange, of_a_table_that_cannot_be_read_says_so) {
  std::vector<std::string> records;
  for (const int rank : {0, 1, 2, 3}) records.push_back(encode_identity(describe_self(rank, 4, "")));
  const std::string good = encode_table(records).front();
  const std::string no_record = encode_table({records[0], "of another version", records[2], records[3]}).front();
  const std::string wrong_rank = encode_table({records[0], records[0], records[2], records[3]}).front();
  const std::string too_few = encode_table({records[0], records[1], records[2]}).front();
  const std::string table_text = "mismatch: rank 0 published a table of ranks that rank 3 cannot read: run one version";
  const std::string record_text = "mismatch: rank 1 published an identity that rank 3 cannot read: run one version";
  struct Case {
    std::string table, text;
  };
  for (const auto& [table, text] : std::vector<Case>{{"", table_text},
                                                     {"of another version", table_text},
                                                     {good.substr(0, good.size() - 1), table_text},
                                                     {good + "x", table_text},
                                                     {too_few, table_text},
                                                     {no_record, record_text},
                                                     {wrong_rank, record_text}}) {
    ThreadStore store;
    store.set("met/identity/all/0", table);
    const std::string outcome = outcome_of([&] { exchange(store, describe_self(3, 4, "")); });
    EXPECT_TRUE(contains(outcome, text)) << outcome;
  }
}

TEST(Exchange, of_a_rank_with_another_world_size_compares_it_with_rank_0s) {
  ThreadStore store;
  // Rank 2 believes in three ranks, of which the two others know nothing.
  const auto outcomes = run_ranks(3, [&](int rank) { exchange(store, describe_self(rank, rank == 2 ? 3 : 2, "")); });
  EXPECT_EQ(outcomes[0], "");
  EXPECT_EQ(outcomes[1], "");
  EXPECT_TRUE(contains(outcomes[2], "mismatch: the ranks' world sizes differ: rank 0 (pid ")) << outcomes[2];
}

TEST(Exchange, goes_on_without_rank_0s_table) {
  // Rank 0 published itself and ended. The others have all they need to call it, and to find it gone.
  ThreadStore store;
  store.set("met/identity/0", encode_identity(describe_self(0, 4, "")));
  const auto outcomes = run_ranks(4, [&](int rank) {
    if (rank == 0) return;
    EXPECT_EQ(exchange(store, describe_self(rank, 4, "")).size(), 4U) << "rank " << rank;
  });
  expect_all_well(outcomes);
}

}  // namespace
}  // namespace ringtree::testing
