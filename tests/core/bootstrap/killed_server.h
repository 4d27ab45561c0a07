// Who waits for a key of a store hears that the process that serves it was killed; for every store that has a server.
#pragma once

#include "tests/core/bootstrap/child_process.h"
#include "tests/core/bootstrap/rank_threads.h"

namespace ringtree::testing {

/// `make_store(rank)`: rank 0's serves.
template <class MakeStore>
void expect_death_of_the_server_is_told(MakeStore make_store) {
  ChildProcess server([&](const ChildProcess::Pipe& pipe) {
    auto store = make_store(0);
    pipe.say(store.get("ready", patience()));
    pipe.hear();
    return 0;
  });
  auto client = make_store(1);
  client.set("ready", "go");
  EXPECT_EQ(server.pipe().hear(), "go");
  const auto outcomes = run_ranks(2, [&](int rank) {
    if (rank == 0) server.kill_now();
    if (rank == 1) client.get("never", patience());
  });
  EXPECT_TRUE(contains(outcomes[1], "peer: rank 0, which serves the store")) << outcomes[1];
  // What is then to be said to it waits for another connection once, and not as long as for a rank 0 that is yet to
  // come.
  const int64_t start_ns = now_ns();
  for (int i = 0; i < 2; ++i) {
    const std::string outcome = outcome_of([&] { client.set("why", "it ended"); });
    EXPECT_TRUE(contains(outcome, "peer: rank 0, which serves the store")) << outcome;
  }
  EXPECT_LT(now_ns() - start_ns, 6'000'000'000);
}

}  // namespace ringtree::testing
