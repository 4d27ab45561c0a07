// A rank that refuses during the meeting: every other rank is told why, whoever came first. Each order is forced by
// what lies in the store, with a store that outlives the ranks and with one that goes with rank 0.
#include <future>
#include <memory>

#include "core/bootstrap/mesh.h"
#include "core/bootstrap/thread_store.h"
#include "core/bootstrap/unix_store.h"
#include "core/net/secret.h"
#include "tests/core/bootstrap/rank_threads.h"

namespace ringtree::testing {
namespace {

/// A rank's end of a store that is not the rank's. `on_get`: called before each get().
class SharedStore final : public Store {
 public:
  explicit SharedStore(Store& store, std::function<void(const std::string& key)> on_get = {})
      : store_(store), on_get_(std::move(on_get)) {}
  void set(const std::string& key, const std::string& value) override { store_.set(key, value); }
  std::string get(const std::string& key, Deadline deadline) override {
    if (on_get_) on_get_(key);
    return store_.get(key, deadline);
  }

 private:
  Store& store_;
  const std::function<void(const std::string& key)> on_get_;
};

enum class Serves { nobody, rank_0 };

/// What ranks meet in, and what the test sees of it.
struct Place {
  explicit Place(Serves serves) : serves_(serves) {}
  /// Each rank's own, opened before any rank begins to meet: rank 0's goes with it.
  std::unique_ptr<Store> open(int rank) {
    if (serves_ == Serves::nobody) return std::make_unique<SharedStore>(lasting_);
    return std::make_unique<UnixStore>(id_, rank, patience());
  }

 private:
  const Serves serves_;
  ThreadStore lasting_;
  const std::string id_ = unique_id();
};

struct Reason {
  const char* name;
  std::function<void(MeshOptions&)> spoil;  // the refusing rank's
  const char* text;
};

std::vector<Reason> reasons() {
  return {
      {"settings that are too long", [](MeshOptions& options) { options.settings = std::string(1 << 20, 'x'); },
       "agree on a digest of them instead"},
      {"a host id that is too long", [](MeshOptions& options) { options.network.host_id = std::string(300, 'x'); },
       "a host id has at most 255 bytes"},
  };
}

/// One rank after the other: the next one begins when `key` is in the store.
std::vector<std::string> meet_in_order(Serves serves, int num_ranks, const std::vector<int>& order,
                                       const std::function<std::string(int rank)>& key_of_first,
                                       const std::function<MeshOptions(int rank)>& options_of) {
  Place place(serves);
  std::vector<std::unique_ptr<Store>> stores;
  for (int rank = 0; rank < num_ranks; ++rank) stores.push_back(place.open(rank));
  const std::unique_ptr<Store> seen = place.open(num_ranks);
  std::vector<std::string> outcomes(static_cast<size_t>(num_ranks));
  std::vector<std::thread> threads;
  for (const int rank : order) {
    const size_t at = static_cast<size_t>(rank);
    threads.emplace_back([&, rank, at, store = std::move(stores[at])]() mutable {
      outcomes[at] = outcome_of([&] { Mesh(*store, rank, num_ranks, patience(), {}, options_of(rank)); });
      store.reset();  // as if its process had ended
    });
    if (rank != order.back()) seen->get("mesh/" + key_of_first(rank), patience());
  }
  for (std::thread& thread : threads) thread.join();
  return outcomes;
}

void expect_told(const std::vector<std::string>& outcomes, int refuser, const std::string& text) {
  for (int rank = 0; rank < static_cast<int>(outcomes.size()); ++rank) {
    const std::string& outcome = outcomes[static_cast<size_t>(rank)];
    const std::string kind =
        rank == refuser ? "usage: "
                        : "peer: rank " + std::to_string(refuser) + " (pid " + std::to_string(getpid()) + ") refused";
    EXPECT_EQ(outcome.substr(0, kind.size()), kind) << "rank " << rank << ": " << outcome;
    EXPECT_TRUE(contains(outcome, text)) << "rank " << rank << ": " << outcome;
  }
}

TEST(Refusals, of_a_rank_that_came_first_reach_those_that_come_later) {
  for (const Serves serves : {Serves::nobody, Serves::rank_0})
    for (const Reason& reason : reasons())
      for (const int refuser : {0, 1, 2}) {
        SCOPED_TRACE(std::string(reason.name) + numbered(" on rank ", refuser));
        std::vector<int> order{refuser};
        for (int rank = 0; rank < 3; ++rank)
          if (rank != refuser) order.push_back(rank);
        const auto key = [&](int rank) { return rank == refuser ? "refused" : numbered("left/", rank); };
        const auto options = [&](int rank) {
          MeshOptions made;
          if (rank == refuser) reason.spoil(made);
          return made;
        };
        expect_told(meet_in_order(serves, 3, order, key, options), refuser, reason.text);
      }
}

TEST(Refusals, of_a_rank_that_comes_last_reach_those_that_wait) {
  for (const Serves serves : {Serves::nobody, Serves::rank_0})
    for (const Reason& reason : reasons())
      for (const int refuser : {0, 1, 2}) {
        SCOPED_TRACE(std::string(reason.name) + numbered(" on rank ", refuser));
        std::vector<int> order;
        for (int rank = 0; rank < 3; ++rank)
          if (rank != refuser) order.push_back(rank);
        order.push_back(refuser);
        const auto key = [](int rank) { return numbered("identity/", rank); };
        const auto options = [&](int rank) {
          MeshOptions made;
          if (rank == refuser) reason.spoil(made);
          return made;
        };
        expect_told(meet_in_order(serves, 3, order, key, options), refuser, reason.text);
      }
}

/// Two ranks that refuse each other, rank 0 first and rank 1 first.
void expect_both_told(const std::function<MeshOptions(int rank)>& options, const std::string& text) {
  for (const Serves serves : {Serves::nobody, Serves::rank_0})
    for (const std::vector<int>& order : {std::vector<int>{0, 1}, {1, 0}}) {
      const auto outcomes =
          meet_in_order(serves, 2, order, [](int rank) { return numbered("identity/", rank); }, options);
      for (const std::string& outcome : outcomes) EXPECT_TRUE(contains(outcome, text)) << outcome;
    }
}

TEST(Refusals, of_another_secret_are_told_on_both_sides) {
  expect_both_told(
      [](int rank) {
        MeshOptions options;
        options.network.host_id = numbered("host", rank);
        options.network.secret = std::make_shared<const Secret>(Secret::of(numbered("the secret of rank ", rank)));
        return options;
      },
      "could not prove that it knows our secret");
}

TEST(Refusals, of_a_rank_that_no_other_host_reaches_are_told_on_both_sides) {
  for (const int lonely : {0, 1})
    expect_both_told(
        [=](int rank) {
          MeshOptions options;
          options.network.host_id = numbered("host", rank);
          if (rank == lonely) options.network.interfaces = "no-such-interface";
          return options;
        },
        "no-such-interface");
}

TEST(Refusals, of_different_settings_and_of_several_hosts_are_told_on_both_sides) {
  expect_both_told(
      [](int rank) {
        MeshOptions options;
        options.settings = numbered("threads=", rank);
        return options;
      },
      "the ranks' settings differ");
  expect_both_told(
      [](int rank) {
        MeshOptions options;
        options.network.host_id = numbered("host", rank);
        options.why_one_host = "one host only";
        return options;
      },
      "one host only");
}

TEST(Refusals, of_an_identity_that_cannot_be_read_reach_those_that_did_not_look_at_it) {
  // Rank 1 waits for rank 0, which does not come before it has read what claims to be rank 2.
  for (const Serves serves : {Serves::nobody, Serves::rank_0}) {
    Place place(serves);
    const std::unique_ptr<Store> first = place.open(0), second = place.open(1);
    second->set("mesh/identity/2", "an identity of another version");
    const auto outcomes = run_ranks(2, [&](int rank) { Mesh(rank == 0 ? *first : *second, rank, 3, patience(), {}); });
    for (const std::string& outcome : outcomes)
      EXPECT_TRUE(contains(outcome, "mismatch: rank 2 published an identity that rank ")) << outcome;
  }
}

TEST(Refusals, of_a_rank_that_is_claimed_twice_reach_who_believed_the_first_and_who_came_second) {
  // Rank 0 has read the first one's identity when the second one overwrites it; then rank 2 comes, for which all wait.
  ThreadStore lasting;
  std::promise<void> rank_0_has_read;
  std::once_flag once;
  SharedStore of_rank_0(lasting, [&](const std::string& key) {
    if (key == "mesh/identity/2") std::call_once(once, [&] { rank_0_has_read.set_value(); });
  });
  std::string first_twin, second_twin, rank_0, rank_2;
  const auto meet = [](Store& store, int rank) { return outcome_of([&] { Mesh(store, rank, 3, patience(), {}); }); };
  std::thread first([&] { first_twin = meet(lasting, 1); });
  const std::string before = lasting.get("mesh/identity/1", patience());
  std::thread zero([&] { rank_0 = meet(of_rank_0, 0); });
  rank_0_has_read.get_future().wait();
  std::thread second([&] { second_twin = meet(lasting, 1); });
  while (lasting.get("mesh/identity/1", patience()) == before) std::this_thread::yield();
  std::thread two([&] { rank_2 = meet(lasting, 2); });  // may well meet the others: it believes the second
  for (std::thread* thread : {&first, &zero, &second, &two}) thread->join();
  EXPECT_TRUE(contains(first_twin, "usage: two processes claim rank 1")) << first_twin;
  for (const std::string& outcome : {rank_0, second_twin}) {
    EXPECT_TRUE(contains(outcome, "peer: rank 1 (pid ")) << outcome;
    EXPECT_TRUE(contains(outcome, "refused to meet: two processes claim rank 1")) << outcome;
  }
}

TEST(Refusals, of_nobody_since_rank_0_ended_before_its_table_reach_all_long_before_the_deadline) {
  // By host: one; rank 0's holds rank 2, as ranks dealt out in turn do; rank 0 has one of its own.
  for (const std::vector<int>& hosts : {std::vector<int>{0, 0, 0, 0}, {0, 1, 0, 1}, {0, 1, 1, 1}}) {
    const bool several = hosts.back() != hosts.front() || hosts[1] != hosts[0];
    PeerIdentity ended = describe_self(0, 4, "");  // nobody listens under its name, nor at its address
    if (several) {
      ended.host_id = numbered("host", hosts[0]);
      ended.addresses = {unique_loopback_address() + ":9"};
    }
    ThreadStore lasting;
    lasting.set("mesh/identity/0", encode_identity(ended));
    const int64_t start_ns = now_ns();
    const auto outcomes = run_ranks(4, [&](int rank) {
      if (rank == 0) return;
      MeshOptions options;
      if (several) options.network.host_id = numbered("host", hosts[static_cast<size_t>(rank)]);
      Mesh(lasting, rank, 4, patience(), {}, options);
    });
    EXPECT_LT(now_ns() - start_ns, 5'000'000'000);
    for (const int rank : {1, 2, 3}) {
      const std::string& outcome = outcomes[static_cast<size_t>(rank)];
      EXPECT_TRUE(contains(outcome, "peer: rank 0 (pid ")) << outcome;
    }
  }
}

TEST(Refusals, of_a_rank_with_less_patience_are_told_to_those_with_more) {
  // Rank 2 never comes; rank 1 would wait for long.
  for (const Serves serves : {Serves::nobody, Serves::rank_0}) {
    Place place(serves);
    const std::unique_ptr<Store> first = place.open(0), second = place.open(1);
    const auto outcomes = run_ranks(2, [&](int rank) {
      Mesh(rank == 0 ? *first : *second, rank, 3, rank == 0 ? Deadline::after_seconds(0.3) : patience(), {});
    });
    for (const std::string& outcome : outcomes)
      EXPECT_TRUE(contains(outcome, "timeout: rank 0 waited 0.") && contains(outcome, "for rank 2 of 3")) << outcome;
  }
}

}  // namespace
}  // namespace ringtree::testing
