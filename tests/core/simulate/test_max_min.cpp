// Shares against a brute-force reference, and the checks of shares, which must fail when shares are wrong.
//
// The reference fills all links anew after each change, from nothing. It shares no code with the incremental one.
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "tests/core/simulate/networks.h"

namespace ringtree {
namespace {

struct Case {
  std::vector<std::pair<int, int>> ends;
  Traffic traffic;
  SimulatedNetwork network;
  WireProtocol protocol;
  PlacedTraffic placed;
  FlowGraph graph;

  Case(int num_ranks, std::vector<std::pair<int, int>> pairs, std::mt19937& random, int num_links)
      : ends(std::move(pairs)),
        traffic(testing::messages(num_ranks, ends)),
        network(draw(traffic, random, num_links)),
        placed(traffic, {1000, 1, 1, 0}, network, protocol),
        graph(placed, distinct(placed)) {}

  /// Routes of up to 4 of the links, or none.
  static SimulatedNetwork draw(const Traffic& traffic, std::mt19937& random, int num_links) {
    const auto pick = [&](int count) { return static_cast<int>(random() % static_cast<unsigned>(count)); };
    SimulatedNetwork network;
    for (int link = 0; link < num_links; ++link) {
      network.link_rate.push_back(1 + pick(20));
      network.link_latency.push_back(0);
    }
    for (int rank = 0; rank < traffic.shape.num_ranks; ++rank) {
      network.copy_rate.push_back(pick(3) == 0 ? 1 + pick(5) : 1000);
      network.reduce_rate.push_back(1);
    }
    std::tie(network.pair_src, network.pair_dst) = pairs_of(traffic);
    network.route_offsets.push_back(0);
    for (size_t i = 0; i < network.pair_src.size(); ++i) {
      std::vector<int> all;
      for (int link = 0; link < num_links; ++link) all.push_back(link);
      std::shuffle(all.begin(), all.end(), random);
      network.route_links.insert(network.route_links.end(), all.begin(),
                                 all.begin() + pick(std::min(4, num_links) + 1));
      network.route_offsets.push_back(static_cast<int64_t>(network.route_links.size()));
    }
    return network;
  }
};

std::vector<double> reference(const Case& of, const std::vector<bool>& active) {
  const size_t num = active.size();
  std::vector<double> rate(num, 0), left = of.network.link_rate;
  std::vector<bool> open = active;
  while (std::find(open.begin(), open.end(), true) != open.end()) {
    std::vector<int> users(left.size(), 0);
    for (size_t i = 0; i < num; ++i)
      if (open[i])
        for (int link : of.placed.route(static_cast<int>(i))) ++users[link];
    double step = std::numeric_limits<double>::infinity();
    for (size_t link = 0; link < left.size(); ++link)
      if (users[link] > 0) step = std::min(step, left[link] / users[link]);
    for (size_t i = 0; i < num; ++i)
      if (open[i]) step = std::min(step, of.placed.copy_rate(static_cast<int>(i), Leg::crossing) - rate[i]);
    for (size_t link = 0; link < left.size(); ++link) left[link] -= step * users[link];
    for (size_t i = 0; i < num; ++i) {
      if (!open[i]) continue;
      rate[i] += step;
      bool stays = rate[i] < of.placed.copy_rate(static_cast<int>(i), Leg::crossing) * (1 - 1e-12);
      for (int link : of.placed.route(static_cast<int>(i))) stays = stays && left[link] > 1e-9;
      open[i] = stays;
    }
  }
  return rate;
}

TEST(MaxMin, LikeBruteForceAfterEachStartAndStop) {
  std::mt19937 random(11);
  for (int round = 0; round < 60; ++round) {
    const int num_ranks = 2 + round % 6, num = 1 + static_cast<int>(random() % 14);
    std::vector<std::pair<int, int>> ends;
    for (int i = 0; i < num; ++i) {
      const int from = static_cast<int>(random() % num_ranks);
      ends.emplace_back(from, (from + 1 + static_cast<int>(random() % (num_ranks - 1))) % num_ranks);
    }
    const Case one(num_ranks, ends, random, 1 + static_cast<int>(random() % 8));
    MaxMin shares(one.graph);
    std::vector<bool> active(one.graph.connections.size(), false);
    for (int change = 0; change < 25; ++change) {
      for (unsigned i = 0; i <= random() % 3; ++i) {
        const size_t id = random() % active.size();
        active[id] = !active[id];
        active[id] ? shares.start(static_cast<int>(id)) : shares.stop(static_cast<int>(id));
      }
      shares.settle(change);
      const std::vector<double> expected = reference(one, active);
      for (size_t id = 0; id < active.size(); ++id)
        ASSERT_NEAR(shares.rate(static_cast<int>(id)), expected[id], 1e-9 * (1 + expected[id])) << round << ' ' << id;
    }
  }
}

/// Three messages over one link of 12 bytes a second.
SimulatedNetwork one_link(const Traffic& traffic) {
  SimulatedNetwork network;
  network.link_rate = {12};
  network.link_latency = {0};
  network.copy_rate.assign(static_cast<size_t>(traffic.shape.num_ranks), 100);
  network.reduce_rate = network.copy_rate;
  std::tie(network.pair_src, network.pair_dst) = pairs_of(traffic);
  network.route_offsets = {0};
  for (size_t i = 0; i < network.pair_src.size(); ++i) {
    network.route_links.push_back(0);
    network.route_offsets.push_back(static_cast<int64_t>(i) + 1);
  }
  return network;
}

TEST(MaxMin, WrongSharesAreFound) {
  const Traffic traffic(testing::messages(4, {{0, 1}, {2, 3}, {0, 3}}));
  const SimulatedNetwork network = one_link(traffic);
  const CallSize size{600, 1, 1, 0};
  EXPECT_DOUBLE_EQ(simulate(traffic, size, network, {}).seconds, 3 * 600 / 12.0);
  for (const SharingFault fault : {SharingFault{1.01, 1}, SharingFault{0.99, 1}, SharingFault{1, 0.999}}) {
    SimulateOptions options;
    options.fault = fault;
    EXPECT_THROW(simulate(traffic, size, network, {}, options), ConservationError)
        << fault.of_rates << ' ' << fault.of_carried;
  }
}

}  // namespace
}  // namespace ringtree
