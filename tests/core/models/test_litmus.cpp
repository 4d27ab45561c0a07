// The explorer against what is known: the classic small tests of the C++ memory model, each with exactly the outcomes
// that RC11 without load buffering allows. An explorer that allowed too little would miss faults, and one that allowed
// too much would report some that no machine has.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/models/explorer/explorer.h"
#include "tests/models/explorer/policy.h"

namespace ringtree::explorer {
namespace {

constexpr auto relaxed = std::memory_order_relaxed;
constexpr auto acquire = std::memory_order_acquire;
constexpr auto release = std::memory_order_release;
constexpr auto seq_cst = std::memory_order_seq_cst;

struct Litmus {
  ExploredAtomic<uint32_t> x{0}, y{0}, z{0};
  std::array<uint32_t, 6> r{};  // what was read; ordinary memory, each item written by one thread
};
using Body = std::function<void(Litmus&)>;

// All outcomes, each the digits of r[0], r[1] … as far as `count` and the final values of `x`.
std::set<std::string> outcomes(const std::vector<Body>& threads, size_t count, bool with_final_x = false,
                               const Options& options = {}) {
  std::set<std::string> found;
  const Result result = explore(
      [&](Program& program) {
        auto litmus = std::make_shared<Litmus>();
        for (size_t i = 0; i < threads.size(); ++i)
          program.thread("t" + std::to_string(i), [litmus, body = threads[i]] { body(*litmus); });
        program.at_end([litmus, &found, count, with_final_x] {
          std::string outcome;
          for (size_t i = 0; i < count; ++i) outcome += std::to_string(litmus->r[i]);
          if (with_final_x) outcome += 'x' + std::to_string(litmus->x.load(relaxed));
          found.insert(outcome);
        });
      },
      options);
  EXPECT_EQ(result.fault, Fault::none) << result.what;
  EXPECT_TRUE(result.is_exhaustive);
  return found;
}
using Outcomes = std::set<std::string>;

Outcomes store_buffering(std::memory_order store, std::memory_order load, bool fences) {
  return outcomes({[=](Litmus& m) {
                     m.x.store(1, store);
                     if (fences) fence(seq_cst);
                     m.r[0] = m.y.load(load);
                   },
                   [=](Litmus& m) {
                     m.y.store(1, store);
                     if (fences) fence(seq_cst);
                     m.r[1] = m.x.load(load);
                   }},
                  2);
}

TEST(Litmus, store_buffering) {
  const Outcomes all = {"00", "01", "10", "11"}, ordered = {"01", "10", "11"};
  EXPECT_EQ(store_buffering(relaxed, relaxed, false), all);
  EXPECT_EQ(store_buffering(release, acquire, false), all);
  EXPECT_EQ(store_buffering(release, seq_cst, false), all);
  EXPECT_EQ(store_buffering(seq_cst, acquire, false), all);
  EXPECT_EQ(store_buffering(seq_cst, seq_cst, false), ordered);
  EXPECT_EQ(store_buffering(relaxed, relaxed, true), ordered);
}

TEST(Litmus, store_buffering_with_a_fence_on_everybody_by_one_side) {
  Options options;
  options.fences_others = true;
  const auto run = [&](bool with_fence) {
    return outcomes({[](Litmus& m) {
                       m.x.store(1, release);
                       m.r[0] = m.y.load(relaxed);
                     },
                     [=](Litmus& m) {
                       m.y.store(1, relaxed);
                       if (with_fence) fence_everybody();
                       m.r[1] = m.x.load(relaxed);
                     }},
                    2, false, options);
  };
  EXPECT_EQ(run(true), (Outcomes{"01", "10", "11"}));
  EXPECT_EQ(run(false), (Outcomes{"00", "01", "10", "11"}));
}

Outcomes message_passing(std::memory_order store, std::memory_order load, bool release_fence, bool acquire_fence) {
  return outcomes({[=](Litmus& m) {
                     m.x.store(1, relaxed);
                     if (release_fence) fence(release);
                     m.y.store(1, store);
                   },
                   [=](Litmus& m) {
                     m.r[0] = m.y.load(load);
                     if (acquire_fence) fence(acquire);
                     m.r[1] = m.x.load(relaxed);
                   }},
                  2);
}

TEST(Litmus, message_passing) {
  const Outcomes all = {"00", "01", "10", "11"}, ordered = {"00", "01", "11"};
  EXPECT_EQ(message_passing(relaxed, relaxed, false, false), all);
  EXPECT_EQ(message_passing(release, relaxed, false, false), all);
  EXPECT_EQ(message_passing(relaxed, acquire, false, false), all);
  EXPECT_EQ(message_passing(release, acquire, false, false), ordered);
  EXPECT_EQ(message_passing(relaxed, acquire, true, false), ordered);
  EXPECT_EQ(message_passing(release, relaxed, false, true), ordered);
  EXPECT_EQ(message_passing(relaxed, relaxed, true, true), ordered);
  EXPECT_EQ(message_passing(relaxed, relaxed, true, false), all);
}

TEST(Litmus, load_buffering_is_left_out) {
  const Outcomes found = outcomes({[](Litmus& m) {
                                     m.r[0] = m.x.load(relaxed);
                                     m.y.store(1, relaxed);
                                   },
                                   [](Litmus& m) {
                                     m.r[1] = m.y.load(relaxed);
                                     m.x.store(1, relaxed);
                                   }},
                                  2);
  EXPECT_EQ(found, (Outcomes{"00", "01", "10"}));
}

TEST(Litmus, one_location_is_coherent) {
  const Outcomes found = outcomes({[](Litmus& m) {
                                     m.x.store(1, relaxed);
                                     m.x.store(2, relaxed);
                                   },
                                   [](Litmus& m) {
                                     m.r[0] = m.x.load(relaxed);
                                     m.r[1] = m.x.load(relaxed);
                                   }},
                                  2);
  EXPECT_EQ(found, (Outcomes{"00", "01", "02", "11", "12", "22"}));
}

// A store may enter the modification order before one that was executed earlier: both final values, and both readers
// may disagree about nothing.
TEST(Litmus, two_stores_have_one_order_for_all) {
  const Outcomes found = outcomes({[](Litmus& m) { m.x.store(1, relaxed); }, [](Litmus& m) { m.x.store(2, relaxed); },
                                   [](Litmus& m) {
                                     m.r[0] = m.x.load(relaxed);
                                     m.r[1] = m.x.load(relaxed);
                                   }},
                                  2, true);
  EXPECT_EQ(found,
            (Outcomes{"00x1", "00x2", "01x1", "01x2", "02x1", "02x2", "11x1", "11x2", "22x1", "22x2", "12x2", "21x1"}));
}

TEST(Litmus, two_plus_two_writes) {
  const auto run = [](std::memory_order order) {
    Outcomes found;
    explore([&](Program& program) {
      auto m = std::make_shared<Litmus>();
      program.thread("t0", [=] {
        m->x.store(1, order);
        m->y.store(2, order);
      });
      program.thread("t1", [=] {
        m->y.store(1, order);
        m->x.store(2, order);
      });
      program.at_end(
          [&found, m] { found.insert(std::to_string(m->x.load(relaxed)) + std::to_string(m->y.load(relaxed))); });
    });
    return found;
  };
  EXPECT_EQ(run(relaxed), (Outcomes{"11", "12", "21", "22"}));
  EXPECT_EQ(run(release), (Outcomes{"11", "12", "21", "22"}));
  EXPECT_EQ(run(seq_cst), (Outcomes{"12", "21", "22"}));
}

Outcomes independent_reads(std::memory_order store, std::memory_order load, bool fences) {
  const auto reader = [=](ExploredAtomic<uint32_t> Litmus::* first, ExploredAtomic<uint32_t> Litmus::* second,
                          size_t at) {
    return [=](Litmus& m) {
      m.r[at] = (m.*first).load(load);
      if (fences) fence(seq_cst);
      m.r[at + 1] = (m.*second).load(load);
    };
  };
  return outcomes({[=](Litmus& m) { m.x.store(1, store); }, [=](Litmus& m) { m.y.store(1, store); },
                   reader(&Litmus::x, &Litmus::y, 0), reader(&Litmus::y, &Litmus::x, 2)},
                  4);
}

TEST(Litmus, independent_reads_of_independent_writes) {
  EXPECT_EQ(independent_reads(release, acquire, false).count("1010"), 1u);
  EXPECT_EQ(independent_reads(release, acquire, false).size(), 16u);
  EXPECT_EQ(independent_reads(seq_cst, seq_cst, false).count("1010"), 0u);
  EXPECT_EQ(independent_reads(seq_cst, seq_cst, false).size(), 15u);
  EXPECT_EQ(independent_reads(relaxed, relaxed, true).count("1010"), 0u);
  EXPECT_EQ(independent_reads(relaxed, relaxed, true).size(), 15u);
}

TEST(Litmus, release_is_cumulative) {
  const auto run = [](std::memory_order store, std::memory_order load) {
    return outcomes({[=](Litmus& m) { m.x.store(1, relaxed); },
                     [=](Litmus& m) {
                       m.r[0] = m.x.load(relaxed);
                       m.y.store(1, store);
                     },
                     [=](Litmus& m) {
                       m.r[1] = m.y.load(load);
                       m.r[2] = m.x.load(relaxed);
                     }},
                    3);
  };
  EXPECT_EQ(run(release, acquire).count("110"), 0u);
  EXPECT_EQ(run(relaxed, acquire).count("110"), 1u);
}

TEST(Litmus, updates_are_atomic) {
  const Body increment = [](Litmus& m) { m.x.fetch_add(1, relaxed); };
  EXPECT_EQ(outcomes({increment, increment, increment}, 0, true), (Outcomes{"x3"}));
  const auto claim = [](size_t at) {
    return [at](Litmus& m) {
      uint32_t expected = 0;
      m.r[at] = m.x.compare_exchange_strong(expected, 1, relaxed, relaxed) ? 1 : 0;
    };
  };
  EXPECT_EQ(outcomes({claim(0), claim(1)}, 2, true), (Outcomes{"01x1", "10x1"}));
}

// C++20: a release sequence goes on through updates by anybody, not through plain stores by the releasing thread.
TEST(Litmus, release_sequences) {
  const auto run = [](bool update) {
    return outcomes({[=](Litmus& m) {
                       m.x.store(1, relaxed);
                       m.y.store(1, release);
                       if (!update) m.y.store(2, relaxed);
                     },
                     [=](Litmus& m) {
                       if (update) m.y.fetch_add(1, relaxed);
                     },
                     [](Litmus& m) {
                       m.r[0] = m.y.load(acquire);
                       m.r[1] = m.x.load(relaxed);
                     }},
                    2);
  };
  EXPECT_EQ(run(true).count("20"), 0u);
  EXPECT_EQ(run(false).count("20"), 1u);
}

}  // namespace
}  // namespace ringtree::explorer
