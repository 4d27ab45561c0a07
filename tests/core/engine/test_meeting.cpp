// A rank that refuses while a communicator is made, before, beside and after the mesh's own meeting: every other rank
// is told why. What the mesh refuses, and in every order: tests/core/bootstrap/test_refusals.cpp.
#include <gtest/gtest.h>

#include <memory>

#include "core/bootstrap/unix_store.h"
#include "tests/core/engine/host_threads.h"

namespace ringtree::testing {
namespace {

std::string refused(int rank) {
  return "peer: rank " + std::to_string(rank) + " (pid " + std::to_string(getpid()) + ") refused to meet: ";
}

void expect_told(const std::vector<std::string>& outcomes, int refuser, const std::string& own,
                 const std::string& text) {
  for (int rank = 0; rank < static_cast<int>(outcomes.size()); ++rank)
    EXPECT_EQ(outcomes[static_cast<size_t>(rank)], (rank == refuser ? own : refused(refuser)) + text) << rank;
}

TEST(Meeting, invalid_settings_of_one_rank_are_told_to_all) {
  for (const std::vector<int>& hosts : {std::vector<int>{0, 0, 0}, {0, 1, 0}})
    for (const int refuser : {0, 1, 2}) {
      const auto settings = [&](int rank) {
        Settings made = settings_on(hosts, rank);
        if (rank == refuser) made.num_channels = 0;
        return made;
      };
      const auto outcomes = run_communicators(3, settings, [](Communicator&) {});
      expect_told(outcomes, refuser, "usage: ", "channels must be within 1..64");
    }
}

TEST(Meeting, what_one_rank_cannot_do_once_all_have_met_is_told_to_all) {
  // Each has a store of its own that is gone when its rank is: rank 0's with all that lies in it.
  for (const std::vector<int>& hosts : {std::vector<int>{0, 0, 0}, {0, 1, 0}})
    for (const int refuser : {0, 1, 2}) {
      const std::string id = unique_id();
      const auto outcomes = run_ranks(3, [&](int rank) {
        UnixStore store(id, rank, patience());
        Session(store, rank, 3, settings_on(hosts, rank), "met", {},
                [&](Rendezvous& rendezvous, const Mesh&, Deadline) {
                  if (rank == refuser) throw WorldError("there is no memory left");
                  if (refuser == 0) rendezvous.get("what rank 0 was to say", patience());
                });
      });
      expect_told(outcomes, refuser, "other: ", "there is no memory left");
    }
}

}  // namespace
}  // namespace ringtree::testing
