// Calls whose operands lie in memory that peers can map (ringtree.empty) and are read there in place: the same results,
// whoever has such buffers, however they come and go. When a step may do so: test_direct.cpp; the memory itself:
// tests/core/transport/test_shared_buffer.cpp.
#include "core/bootstrap/unix_store.h"
#include "tests/core/bootstrap/child_process.h"
#include "tests/core/engine/exact_data.h"
#include "tests/core/engine/rank_threads.h"

namespace ringtree::testing {
namespace {

constexpr size_t kLarge = kSanitized ? 70'001 : 150'007;  // of 8 bytes: several passes

enum class Owners { all, odd_ranks };

// Every collective by every algorithm, from sizes that travel in a line to several passes.
std::vector<CheckedCall> every_call(int n) {
  std::vector<CheckedCall> calls;
  for (const Algorithm& algorithm : algorithms())
    for (Collective collective : algorithm.collectives)
      for (size_t count : {size_t{0}, size_t{5}, size_t{8}, size_t{1'000}, kLarge})
        for (bool in_place : {false, true}) {
          const size_t blocks = has_blocks(collective) && count > 100 ? static_cast<size_t>(n) : 1;
          const int root = has_root(collective) ? static_cast<int>(calls.size()) % n : 0;
          calls.push_back({collective, by(algorithm.name), Dtype::kInt64, count / blocks, root, in_place,
                           calls.size() % 50, calls.size() % 3 * 8, true});
        }
  return calls;
}

class SharedOperands : public ::testing::TestWithParam<std::tuple<int, int, Owners>> {};

TEST_P(SharedOperands, give_the_same_results) {
  const auto [n, num_channels, owners] = GetParam();
  const World<uint64_t> world(81, n, kLarge + 100);
  const std::vector<CheckedCall> calls = every_call(n);
  expect_all_well(run_communicators(n, test_settings(num_channels), [&, owners = owners](Communicator& communicator) {
    for (CheckedCall call : calls) {
      call.shared = owners == Owners::all || communicator.rank() % 2 == 1;
      make_checked_call(communicator, world, call);
    }
  }));
}

INSTANTIATE_TEST_SUITE_P(RanksAndChannels, SharedOperands,
                         ::testing::Values(std::tuple(2, 1, Owners::all), std::tuple(2, 3, Owners::odd_ranks),
                                           std::tuple(3, 1, Owners::odd_ranks), std::tuple(4, 1, Owners::all),
                                           std::tuple(4, 2, Owners::odd_ranks),
                                           std::tuple(kSanitized ? 5 : 7, 1, Owners::all)));

TEST(SharedOperands, of_protocols_that_cannot_use_them_are_sent_as_always) {
  const World<uint64_t> world(82, 2, 20'000);
  expect_all_well(run_communicators(2, test_settings(), [&](Communicator& communicator) {
    for (const ProtocolInfo& info : kProtocols)
      for (const char* name : {"two_shot", "one_shot", "ring"})
        for (bool streaming : {false, true})
          make_checked_call(communicator, world,
                            {Collective::all_reduce, by(name, info.protocol, 0, streaming), Dtype::kInt64, 20'000, 0,
                             false, 0, 8, true});
  }));
}

void sum_in(Communicator& communicator, std::byte* buffer, size_t count, float mine, float expected) {
  float* const data = reinterpret_cast<float*>(buffer);
  std::fill_n(data, count, mine);
  Call arguments;
  arguments.count = count;
  arguments.input = arguments.output = data;
  communicator.run(with(arguments, by("two_shot")));
  for (size_t i = 0; i < count; ++i)
    if (data[i] != expected) throw std::runtime_error("element " + std::to_string(i) + " is wrong");
}

// A buffer that is gone makes room for the next one, which often lies at the same address.
TEST(SharedOperands, may_come_and_go) {
  constexpr size_t kCount = 5'000;
  expect_all_well(run_communicators(2, test_settings(), [](Communicator& communicator) {
    for (int i = 0; i < 700; ++i) {  // more than a rank has numbers for at a time
      const auto buffer = allocate_shared(kCount * sizeof(float));
      const float round = static_cast<float>(i);
      sum_in(communicator, buffer->data(), kCount, round + static_cast<float>(communicator.rank()), 2 * round + 1);
    }
  }));
}

// Where shared memory was, ordinary memory may be next, and the other way round.
TEST(SharedOperands, and_ordinary_ones_take_turns) {
  constexpr size_t kCount = kSanitized ? 50'000 : 200'000;
  expect_all_well(run_communicators(2, test_settings(), [](Communicator& communicator) {
    for (int i = 0; i < 60; ++i) {
      const float round = static_cast<float>(i);
      const auto both = [&](std::byte* buffer) {
        sum_in(communicator, buffer, kCount, round + static_cast<float>(communicator.rank()), 2 * round + 1);
      };
      if (i % 3 == communicator.rank()) {
        std::vector<std::byte> ordinary(kCount * sizeof(float));
        both(ordinary.data());
      } else {
        both(allocate_shared(kCount * sizeof(float))->data());
      }
    }
  }));
}

TEST(SharedOperands, of_which_there_are_more_than_numbers_are_sent_as_always) {
  constexpr size_t kCount = 1'000;
  expect_all_well(run_communicators(2, test_settings(), [](Communicator& communicator) {
    std::vector<std::shared_ptr<Segment>> buffers;
    for (size_t i = 0; i < kMaxSharedRegions + 30; ++i) buffers.push_back(allocate_shared(kCount * sizeof(float)));
    for (int round = 0; round < 2; ++round) {
      for (const auto& buffer : buffers) sum_in(communicator, buffer->data(), kCount, 1, 2);
      buffers.erase(buffers.begin(), buffers.begin() + 100);  // now there are numbers for the rest
    }
  }));
}

TEST(SharedOperands, serve_several_communicators) {
  constexpr size_t kCount = 3'000;
  ThreadStore store;
  expect_all_well(run_ranks(2, [&](int rank) {
    Communicator first(store, rank, 2, test_settings(), built_in_table(), "first");
    const auto buffer = allocate_shared(kCount * sizeof(float));
    sum_in(first, buffer->data(), kCount, 1, 2);
    {
      Communicator second(store, 1 - rank, 2, test_settings(), built_in_table(), "second");
      for (int i = 0; i < 10; ++i)
        for (Communicator* communicator : {&first, &second}) sum_in(*communicator, buffer->data(), kCount, 1, 2);
    }
    sum_in(first, buffer->data(), kCount, 1, 2);
  }));
}

Settings answering_settings(int num_channels = 1) {
  Settings settings = test_settings(num_channels);
  settings.answers_in_place = true;
  return settings;
}

/// Of the last call; throws unless there were answers, or none.
void expect_answers(const Communicator& communicator, bool some) {
  if ((communicator.last_call().num_answers > 0) != some)
    throw std::runtime_error(some ? "no sum was written in place" : "a sum was written in place");
}

class AnsweredOperands : public ::testing::TestWithParam<std::tuple<int, int, Owners>> {};

TEST_P(AnsweredOperands, give_the_same_results) {
  const auto [n, num_channels, owners] = GetParam();
  const World<uint64_t> world(84, n, kLarge + 100);
  const std::vector<CheckedCall> calls = every_call(n);
  const Settings settings = answering_settings(num_channels);
  expect_all_well(run_communicators(n, settings, [&, owners = owners](Communicator& communicator) {
    for (CheckedCall call : calls) {
      call.shared = owners == Owners::all || communicator.rank() % 2 == 1;
      make_checked_call(communicator, world, call);
      if (call.algorithm.name == std::string("two_shot") && call.count == kLarge)
        expect_answers(communicator, owners == Owners::all && call.in_place);
    }
  }));
}

INSTANTIATE_TEST_SUITE_P(RanksAndChannels, AnsweredOperands,
                         ::testing::Values(std::tuple(2, 1, Owners::all), std::tuple(3, 2, Owners::all),
                                           std::tuple(4, 1, Owners::all), std::tuple(4, 1, Owners::odd_ranks)));

// Each rank says so for its own buffers: the others' are written by copying.
TEST(AnsweredOperands, are_those_of_ranks_that_allow_it) {
  const auto settings_of = [](int rank) { return rank == 0 ? answering_settings() : test_settings(); };
  constexpr size_t kCount = 100'000;
  expect_all_well(run_communicators(2, settings_of, [](Communicator& communicator) {
    const auto buffer = allocate_shared(kCount * sizeof(float));
    for (int i = 0; i < 5; ++i) {
      sum_in(communicator, buffer->data(), kCount, static_cast<float>(i + communicator.rank()), float(2 * i + 1));
      expect_answers(communicator, communicator.rank() == 0);
    }
  }));
}

// As DDP does: the next gradients are written there as soon as the call has returned.
TEST(AnsweredOperands, are_their_owners_again_when_the_call_returns) {
  constexpr size_t kCount = kSanitized ? 60'000 : 150'000;
  for (int n : {2, 3})
    expect_all_well(run_communicators(n, answering_settings(), [n](Communicator& communicator) {
      std::vector<std::shared_ptr<Segment>> buckets;
      for (int i = 0; i < 3; ++i) buckets.push_back(allocate_shared(kCount * sizeof(float)));
      for (int i = 0; i < 60; ++i) {
        const float round = static_cast<float>(i);
        sum_in(communicator, buckets[static_cast<size_t>(i % 3)]->data(), kCount,
               round + static_cast<float>(communicator.rank()), static_cast<float>(n * i + n * (n - 1) / 2));
        expect_answers(communicator, true);
      }
    }));
}

TEST(AnsweredOperands, are_not_those_of_other_protocols) {
  const World<uint64_t> world(85, 2, 50'000);
  expect_all_well(run_communicators(2, answering_settings(), [&](Communicator& communicator) {
    for (const ProtocolInfo& info : kProtocols)
      for (bool streaming : {false, true}) {
        make_checked_call(communicator, world,
                          {Collective::all_reduce, by("two_shot", info.protocol, 0, streaming), Dtype::kInt64, 50'000,
                           0, true, 0, 8, true});
        expect_answers(communicator, info.protocol == Protocol::simple);
      }
  }));
}

// A peer that was given up in the middle of a slice may go on one day: from then on it writes elsewhere. Calls of
// another communicator that knows the buffer go on with it as with ordinary memory.
TEST(AnsweredOperands, of_a_call_that_failed_are_withdrawn) {
  constexpr size_t kCount = 50'000;
  ThreadStore store;
  expect_all_well(run_ranks(2, [&](int rank) {
    const Settings settings = rank == 0 ? answering_settings() : test_settings();
    auto failing = std::make_unique<Communicator>(store, rank, 2, settings, built_in_table(), "failing");
    Communicator other(store, rank, 2, answering_settings(), built_in_table(), "other");
    const auto buffer = allocate_shared(kCount * sizeof(float));
    for (Communicator* each : {failing.get(), &other}) sum_in(*each, buffer->data(), kCount, 1, 2);
    expect_answers(other, true);
    if (rank == 1) failing = nullptr;
    if (rank == 0 && outcome_of([&] { sum_in(*failing, buffer->data(), kCount, 1, 2); }).empty())
      throw std::runtime_error("nobody was there to sum with");
    if ((find_shared(buffer->data(), 1) == nullptr) != (rank == 0))
      throw std::runtime_error("withdrawn is what failed, and only that");
    for (int i = 0; i < 3; ++i) {
      sum_in(other, buffer->data(), kCount, 1, 2);
      expect_answers(other, rank == 1);  // its own buffer is as it was
    }
  }));
}

// Here every rank has a mapping of its own, at another address.
TEST(SharedOperands, are_read_and_answered_by_other_processes) {
  const std::string id = unique_id();
  std::vector<ChildProcess> ranks;
  for (int rank = 0; rank < 3; ++rank)
    ranks.emplace_back([=](const ChildProcess::Pipe& pipe) {
      UnixStore store(id, rank, patience());
      Communicator communicator(store, rank, 3, answering_settings(), built_in_table());
      const World<uint64_t> world(83, 3, 50'100);
      pipe.say(outcome_of([&] {
                 for (int round = 0; round < 5; ++round)
                   for (const std::string name : {"two_shot", "one_shot", "ring", "tree"})
                     for (bool in_place : {false, true}) {
                       const bool large = round % 2 == 0;
                       make_checked_call(
                           communicator, world,
                           {Collective::all_reduce, by(name), Dtype::kInt64, large ? size_t{50'000} : size_t{500}, 0,
                            in_place, static_cast<size_t>(round), 0, true});
                       if (name == "two_shot") expect_answers(communicator, large && in_place);
                     }
               }) +
               ".");
      return 0;
    });
  for (const ChildProcess& rank : ranks) EXPECT_EQ(rank.pipe().hear(), ".");
}

}  // namespace
}  // namespace ringtree::testing
