// What every Store promises, run on all four kinds with ranks as threads, and on those that can across processes.
// What only one kind does is in test_file_store.cpp, test_unix_store.cpp and test_tcp_store.cpp.
#include <fcntl.h>
#include <poll.h>

#include <filesystem>
#include <memory>

#include "core/bootstrap/file_store.h"
#include "core/bootstrap/store.h"
#include "core/bootstrap/tcp_store.h"
#include "core/bootstrap/thread_store.h"
#include "core/bootstrap/unix_store.h"
#include "tests/core/bootstrap/child_process.h"
#include "tests/core/bootstrap/rank_threads.h"

namespace ringtree::testing {
namespace {

// One job's place to meet: makes each rank's store of one kind.
class Meeting {
 public:
  explicit Meeting(const std::string& kind) : kind_(kind), id_(unique_id()) {
    directory_ = std::filesystem::temp_directory_path() / ("ringtree-" + id_);
  }
  ~Meeting() {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
  std::shared_ptr<Store> store(int rank) {
    if (kind_ == "thread") return shared_;
    if (kind_ == "file") return std::make_shared<FileStore>(directory_);
    if (kind_ == "tcp") return std::make_shared<TcpStore>(address_, 23'456, rank, secret_, patience());
    return std::make_shared<UnixStore>(id_, rank, patience());
  }

 private:
  std::string kind_;
  std::string id_;
  std::filesystem::path directory_;
  // A loopback address of its own, so that no other test has the port.
  std::string address_ = unique_loopback_address();
  std::shared_ptr<const Secret> secret_ = std::make_shared<const Secret>(Secret::of("known to this job alone"));
  std::shared_ptr<Store> shared_ = std::make_shared<ThreadStore>();
};

class EveryStore : public ::testing::TestWithParam<const char*> {};

TEST_P(EveryStore, gives_back_what_was_set) {
  Meeting meeting(GetParam());
  const auto store = meeting.store(0);
  const std::string binary("\0\n\xff/..", 7);
  for (const std::string& key : {std::string("plain"), std::string("../a/b"), std::string("."), binary}) {
    store->set(key, "first");
    store->set(key, "value of " + key + binary);
    EXPECT_EQ(store->get(key, patience()), "value of " + key + binary);
  }
  store->set("empty", "");
  EXPECT_EQ(store->get("empty", patience()), "");
  const std::string largest(kMaxStoreValueBytes, 'x');
  store->set("largest", largest);
  EXPECT_EQ(store->get("largest", patience()), largest);
}

TEST_P(EveryStore, get_waits_until_another_rank_sets) {
  Meeting meeting(GetParam());
  const auto store0 = meeting.store(0);
  const auto outcomes = run_ranks(4, [&](int rank) {
    const auto store = rank == 0 ? store0 : meeting.store(rank);
    // Each rank but the last waits for the next one's key before it sets its own: the last one's set() sets all going.
    std::string chain = "end";
    if (rank < 3) chain = store->get(numbered("key", rank + 1), patience());
    store->set(numbered("key", rank), std::to_string(rank) + chain);
    EXPECT_EQ(store->get("key0", patience()), "0123end");
  });
  for (const std::string& outcome : outcomes) EXPECT_EQ(outcome, "");
}

TEST_P(EveryStore, one_object_serves_many_threads) {
  Meeting meeting(GetParam());
  const auto store = meeting.store(0);
  const auto outcomes = run_ranks(8, [&](int rank) {
    // The even ones wait for the odd ones' keys: a get() must not keep others from their set().
    const std::string mine = numbered("k", rank);
    if (rank % 2 == 0) store->get(numbered("k", rank + 1), patience());
    store->set(mine, std::string(10'000, static_cast<char>('a' + rank)));
    for (int other = 0; other < 8; ++other) {
      EXPECT_EQ(store->get(numbered("k", other), patience()), std::string(10'000, static_cast<char>('a' + other)));
    }
  });
  for (const std::string& outcome : outcomes) EXPECT_EQ(outcome, "");
}

TEST_P(EveryStore, timeout_names_key_and_time) {
  Meeting meeting(GetParam());
  const auto store = meeting.store(0);
  const int64_t start_ns = now_ns();
  const std::string outcome = outcome_of([&] { store->get("mesh/identity/3", Deadline::after_seconds(0.15)); });
  EXPECT_GE(now_ns() - start_ns, 140'000'000);
  EXPECT_TRUE(contains(outcome, "timeout: store key 'mesh/identity/3' was not set within 0.1")) << outcome;
}

TEST_P(EveryStore, a_passed_deadline_still_looks_once) {
  Meeting meeting(GetParam());
  const auto store = meeting.store(0);
  store->set("there", "yes");
  EXPECT_EQ(store->get("there", Deadline{0}), "yes");
  EXPECT_TRUE(contains(outcome_of([&] { store->get("not there", Deadline{0}); }), "timeout: "));
}

TEST_P(EveryStore, limits_are_usage_errors) {
  Meeting meeting(GetParam());
  const auto store = meeting.store(0);
  const std::string long_key(kMaxStoreKeyBytes + 1, 'k');
  EXPECT_TRUE(contains(outcome_of([&] { store->set(long_key, ""); }), "usage: "));
  EXPECT_TRUE(contains(outcome_of([&] { store->get(long_key, patience()); }), "usage: "));
  EXPECT_TRUE(contains(outcome_of([&] { store->set("", ""); }), "usage: "));
  EXPECT_TRUE(contains(outcome_of([&] { store->set("k", std::string(kMaxStoreValueBytes + 1, 'v')); }), "usage: "));
}

INSTANTIATE_TEST_SUITE_P(Kinds, EveryStore, ::testing::Values("thread", "file", "unix", "tcp"),
                         [](const auto& test) { return std::string(test.param); });

class StoreOfProcesses : public ::testing::TestWithParam<const char*> {};

TEST_P(StoreOfProcesses, carries_values_both_ways) {
  Meeting meeting(GetParam());
  std::vector<ChildProcess> children;
  for (int rank = 0; rank < 4; ++rank) {
    children.emplace_back([&meeting, rank](const ChildProcess::Pipe& pipe) {
      const auto store = meeting.store(rank);
      store->set(numbered("from/", rank), std::string(100'000, static_cast<char>('a' + rank)));
      for (int other = 0; other < 4; ++other) {
        const std::string value = store->get(numbered("from/", other), patience());
        if (value != std::string(100'000, static_cast<char>('a' + other))) return 1;
      }
      pipe.say("done");
      pipe.hear();  // a rank that serves the store stays until all are done
      return 0;
    });
  }
  for (const ChildProcess& child : children) EXPECT_EQ(child.pipe().hear(), "done");
  for (const ChildProcess& child : children) child.pipe().say("end");
  for (ChildProcess& child : children) EXPECT_EQ(child.wait(), 0);
}

INSTANTIATE_TEST_SUITE_P(Kinds, StoreOfProcesses, ::testing::Values("file", "unix", "tcp"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace ringtree::testing
