// Mixes: right on the reference executor, each share on chunks of its own, and what is refused. Their proofs:
// tests/core/verify/test_builtin.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "core/algorithms/mix.h"
#include "core/algorithms/registry.h"
#include "tests/core/algorithms/reference_run.h"
#include "tests/core/host_groupings.h"
#include "tests/core/sanitized.h"

namespace ringtree {
namespace {

const char* const kMixes[] = {"ring+double_tree",          "ring:3+tree", "recursive_doubling+ring",
                              "one_shot+two_shot+chain:2", "ring:2",      "hierarchical_ring+double_tree"};

TEST(Mix, is_right_on_the_reference_executor) {
  int num_run = 0;
  for (const char* name : kMixes)
    for (Collective collective : {Collective::all_reduce, Collective::broadcast, Collective::reduce_scatter})
      for (int n = 1; n <= 9; ++n) {
        if (!testing::worth_running(n)) continue;
        const auto parts = parse_mix(name);
        if (!std::all_of(parts.begin(), parts.end(),
                         [&](const MixPart& part) { return find_algorithm(part.algorithm).supports(collective); }))
          continue;
        for (const HostGroups& hosts : testing::groupings(n)) {
          const int root = has_root(collective) ? n - 1 : 0;
          for (bool in_place : {false, true}) {
            ASSERT_EQ(reference::run(make_schedule(name, collective, n, root, hosts), in_place, 5), "")
                << name << " " << collective_name(collective) << ", hosts " << hosts.text();
            ++num_run;
          }
        }
      }
  EXPECT_GT(num_run, 100);
}

// The drawing at the top of mix.h: the ring's chunk 1 is chunk 2, the second tree's chunks are 5 and 7.
TEST(Mix, shares_have_chunks_lanes_and_tags_of_their_own) {
  const Schedule schedule = make_schedule("ring+double_tree", Collective::all_reduce, 4);
  EXPECT_EQ(schedule.shape().num_chunks, 8);
  EXPECT_EQ(schedule.shape().shares, 2);
  EXPECT_EQ(schedule.shape().widest, 1);
  const Schedule ring = make_schedule("ring", Collective::all_reduce, 4);
  for (int rank = 0; rank < 4; ++rank) {
    const Program program = schedule.program(rank), of_ring = ring.program(rank);
    std::set<int> lanes[2];
    for (size_t i = 0; i < program.steps().size(); ++i) {
      const Step& step = program.steps()[i];
      const int share = step.chunks.first % 2;
      for (int k = 0; k < step.chunks.count; ++k) EXPECT_EQ(step.chunks.id(k, 8) % 2, share);
      for (const Endpoint& end : step.recv) EXPECT_EQ(end.tag % 2, share);
      if (!step.send_to.empty()) {
        EXPECT_EQ(step.send_tag % 2, share);
      }
      lanes[share].insert(step.lane);
      if (share == 0) {
        EXPECT_EQ(step.chunks.first, 2 * of_ring.steps()[i].chunks.first);
      }
    }
    for (const int lane : lanes[0]) EXPECT_EQ(lanes[1].count(lane), 0u);
    EXPECT_EQ(lanes[0].size(), 1u);
  }
}

// Three quarters of what ring sends and a quarter of what the tree sends, which has one chunk and here does everything
// for each of eight.
TEST(Mix, costs_are_the_shares_costs) {
  const CostSummary mixed = measure(make_schedule("ring:3+tree", Collective::all_reduce, 8));
  const CostSummary ring = measure(make_schedule("ring", Collective::all_reduce, 8)),
                    tree = measure(make_schedule("tree", Collective::all_reduce, 8));
  EXPECT_EQ(mixed.messages, 3 * ring.messages + 8 * tree.messages);
  EXPECT_NEAR(mixed.total_written, (3 * ring.total_written + tree.total_written) / 4, 1e-9);
  EXPECT_EQ(mixed.hops, std::max(ring.hops, tree.hops));
}

// A mix is cut finer if one of its shares is, whatever the others have in steps. The trees with four chunks for each of
// theirs stream as they are.
TEST(Mix, is_pipelined_if_a_share_is) {
  const auto pipelined = [](const char* name) { return is_pipelined(make_schedule(name, Collective::all_reduce, 8)); };
  EXPECT_FALSE(pipelined("ring"));
  EXPECT_TRUE(pipelined("double_tree"));
  EXPECT_FALSE(pipelined("ring:2"));
  EXPECT_TRUE(pipelined("double_tree:2"));
  EXPECT_TRUE(pipelined("tree:2+chain"));
  EXPECT_FALSE(pipelined("ring+double_tree"));
  EXPECT_FALSE(pipelined("ring+recursive_doubling"));
}

TEST(Mix, names) {
  const std::vector<MixPart> parts = parse_mix("ring:3+double_tree");
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].algorithm, "ring");
  EXPECT_EQ(parts[0].shares, 3);
  EXPECT_EQ(parts[1].algorithm, "double_tree");
  EXPECT_EQ(parts[1].shares, 1);
  EXPECT_EQ(make_schedule("ring:3+double_tree", Collective::all_reduce, 4).shape().name, "ring:3+double_tree");
  EXPECT_EQ(make_schedule("ring", Collective::all_reduce, 4).shape().shares, 1);
}

std::string refused(const char* name, Collective collective = Collective::all_reduce, int num_ranks = 4) {
  try {
    const Schedule schedule = make_schedule(name, collective, num_ranks);
    for (int rank = 0; rank < num_ranks; ++rank) schedule.program(rank);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Mix, what_cannot_be_is_refused) {
  const std::string how = ": write shares as numbers from 1 to 16, for example ring:3+double_tree";
  for (const char* name : {"ring:0+tree", "ring:x+tree", "ring:+tree", "ring:17+tree", "ring:2.5+tree"})
    EXPECT_EQ(refused(name), "'" + std::string(name) + "'" + how);
  EXPECT_EQ(refused("ring:9+tree:8"), "'ring:9+tree:8' has 17 shares: at most 16 are possible");
  EXPECT_EQ(refused("ring+nvls"), "nvls can't be mixed with others: its switch works for all channels");
  for (const char* name : {"ring+", "+ring", "ring++tree", ":3", "ring+:3"})
    EXPECT_EQ(refused(name),
              "'" + std::string(name) + "' has a part without a name: write for example ring:3+double_tree");
  EXPECT_NE(refused("").find("unknown algorithm ''"), std::string::npos);
  EXPECT_NE(refused("ring+tee").find("unknown algorithm 'tee'"), std::string::npos);
  EXPECT_NE(refused("ring+double_tree", Collective::all_gather).find("cannot do all_gather"), std::string::npos);
}

// A step of chunks 3 and 1 of 4, in a mix with an algorithm of 8: 6 and 2 of its share's 8, then 7 and 3.
TEST(Mix, steps_with_gaps_and_around_the_end_keep_their_order) {
  const auto made_of = [](int num_chunks, ChunkRange chunks) {
    ScheduleShape shape{"gaps", Collective::all_reduce, 2, 0, num_chunks, chunks.count, {}};
    return Schedule(shape, [chunks](ProgramBuilder& b) {
      Step step;
      step.verb = Verb::copy;
      step.chunks = chunks;
      step.src = kInput;
      step.dst = scratch(b.reserve_scratch(3) + 1);
      b.add(step);
    });
  };
  const Schedule mixed = mix("gaps+gaps", {{"gaps", 1}, {"gaps", 1}}, {made_of(4, {3, 2, 2}), made_of(8, {1, 1, 1})});
  const Program program = mixed.program(0);
  ASSERT_EQ(program.steps().size(), 3u);
  const auto ids = [&](int step) {
    const ChunkRange& range = program.steps()[static_cast<size_t>(step)].chunks;
    std::vector<int> all;
    for (int k = 0; k < range.count; ++k) all.push_back(range.id(k, mixed.shape().num_chunks));
    return all;
  };
  EXPECT_EQ(ids(0), (std::vector<int>{12, 4}));
  EXPECT_EQ(ids(1), (std::vector<int>{14, 6}));
  EXPECT_EQ(ids(2), (std::vector<int>{3}));
  EXPECT_EQ(mixed.shape().widest, 2);
  EXPECT_EQ(program.num_scratch(), 9);
  for (const auto& [step, slot] : {std::pair{0, 1}, {1, 4}, {2, 7}})
    EXPECT_EQ(program.steps()[static_cast<size_t>(step)].dst, scratch(slot));
}

}  // namespace
}  // namespace ringtree
