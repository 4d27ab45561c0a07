// send and recv: many at once, in both directions, in order, beside collectives; and each way in which they can go
// wrong gives every rank one clear error.
#include <gtest/gtest.h>

#include <numeric>

#include "tests/core/engine/exact_data.h"
#include "tests/core/engine/rank_threads.h"
#include "tests/core/engine/transfers.h"

namespace ringtree::testing {
namespace {

// From nothing to more than all slots of a link hold.
constexpr size_t kTransferLengths[] = {0, 1, 7, 8, 1'000, kSanitized ? 20'000 : 200'000};

TEST(Transfers, of_everybody_with_everybody_at_once) {
  for (int n : {1, 2, 3, 5})
    expect_all_well(run_communicators(
                        n, test_settings(),
                        [](Communicator& communicator) { exchange_with_everybody(communicator, kTransferLengths, 3); }),
                    std::to_string(n) + " ranks");
}

TEST(Transfers, of_one_direction_keep_their_order) {
  expect_all_well(run_communicators(2, test_settings(), [](Communicator& communicator) {
    std::vector<Words> words;
    std::vector<Transfer> transfers;
    for (int i = 0; i < 20; ++i)
      words.push_back(message(0, 1, i, kTransferLengths[static_cast<size_t>(i) % std::size(kTransferLengths)]));
    const std::vector<Words> wanted = words;
    for (Words& each : words) transfers.push_back(communicator.rank() == 0 ? sending(1, each) : receiving(0, each));
    if (communicator.rank() == 1)
      for (Words& each : words) std::fill(each.begin(), each.end(), 0);
    communicator.transfer(transfers);
    for (size_t i = 0; i < words.size(); ++i) expect_equal(words[i], wanted[i], "message " + std::to_string(i));
  }));
}

TEST(Transfers, one_by_one_around_a_ring) {
  expect_all_well(
      run_communicators(4, test_settings(), [](Communicator& communicator) { pass_around(communicator, 3); }));
}

TEST(Transfers, go_between_collectives) {
  const World<uint64_t> world(91, 2, 10'000);
  expect_all_well(run_communicators(2, test_settings(), [&](Communicator& communicator) {
    const int other = 1 - communicator.rank();
    for (int i = 0; i < 10; ++i) {
      // Sent before a collective that the receiver makes first.
      Words out = message(communicator.rank(), other, i, 100), in(100);
      const Transfer send = sending(other, out), receive = receiving(other, in);
      communicator.transfer({&send, 1});
      make_checked_call(
          communicator, world,
          {Collective::all_reduce, by("ring"), Dtype::kInt64, 9'000, 0, false, static_cast<size_t>(i), 0});
      communicator.transfer({&receive, 1});
      expect_equal(in, message(other, communicator.rank(), i, 100), "the message");
    }
  }));
}

TEST(Transfers, of_shared_buffers_are_read_in_place) {
  expect_all_well(run_communicators(2, test_settings(), [](Communicator& communicator) {
    const auto segment = allocate_shared(80'000);
    uint64_t* const words = reinterpret_cast<uint64_t*>(segment->data());
    for (int number = 0; number < 5; ++number) {
      const Words sent = message(0, 1, number, 10'000);
      if (communicator.rank() == 0) std::copy(sent.begin(), sent.end(), words);
      const Transfer transfer{communicator.rank() == 0, 1 - communicator.rank(), Dtype::kInt64, 10'000, words};
      communicator.transfer({&transfer, 1});
      if (communicator.rank() == 0) std::fill_n(words, 10'000, 0);  // it has been read
      if (communicator.rank() == 1) expect_equal(Words(words, words + 10'000), sent, "the message");
    }
  }));
}

TEST(Transfers, of_unequal_counts_are_a_mismatch_that_names_both) {
  expect_unequal_counts_named(run_communicators(2, test_settings(), transfer_unequal_counts));
}

TEST(Transfers, a_peer_that_leaves_is_named) {
  const auto outcomes = run_communicators(3, test_settings(), [](Communicator& communicator) {
    Words words(10);
    const Transfer transfer = receiving(0, words);
    if (communicator.rank() == 1) communicator.transfer({&transfer, 1});
  });
  EXPECT_TRUE(contains(outcomes[1], "rank 0 (pid")) << outcomes[1];
  EXPECT_TRUE(contains(outcomes[1], "left the communicator before the recv of 10 int64 from rank 0")) << outcomes[1];
}

TEST(Transfers, what_a_peer_sent_before_it_left_arrives) {
  expect_all_well(run_communicators(2, test_settings(), [](Communicator& communicator) {
    Words words = message(0, 1, 0, 1'000);
    const Transfer transfer = communicator.rank() == 0 ? sending(1, words) : receiving(0, words);
    if (communicator.rank() == 1) std::fill(words.begin(), words.end(), 0);
    communicator.transfer({&transfer, 1});
    expect_equal(words, message(0, 1, 0, 1'000), "the message");
  }));
}

TEST(Transfers, that_nobody_answers_time_out) {
  Settings settings = test_settings();
  const auto outcomes = run_communicators(2, settings, [](Communicator& communicator) {
    Words words(10);
    const Transfer transfer = receiving(1, words);
    if (communicator.rank() == 0) communicator.transfer({&transfer, 1}, 0.05);
    if (communicator.rank() == 1) sum_of_ones(communicator, 10);
  });
  EXPECT_TRUE(contains(outcomes[0], "recv of 10 int64 from rank 1")) << outcomes[0];
  EXPECT_TRUE(contains(outcomes[0], "not complete after 0.05 s")) << outcomes[0];
  EXPECT_TRUE(contains(outcomes[1], "recv of 10 int64 from rank 1")) << outcomes[1];
}

TEST(Transfers, wrong_arguments_harm_nobody) {
  expect_all_well(run_communicators(2, test_settings(), [](Communicator& communicator) {
    Words words(3);
    const auto text_of = [&](const Transfer& transfer) -> std::string {
      try {
        communicator.transfer({&transfer, 1});
      } catch (const UsageError& error) {
        return error.what();
      }
      return "nothing";
    };
    for (const auto& [transfer, text] : std::vector<std::pair<Transfer, std::string>>{
             {{true, 2, Dtype::kInt64, 3, words.data()}, "rank 2 is not a rank"},
             {{true, 1, Dtype::kInt64, 3, nullptr}, "needs a buffer"},
             {{true, communicator.rank(), Dtype::kInt64, 3, words.data()}, "as many receives from itself"}})
      if (!contains(text_of(transfer), text)) throw std::runtime_error(text_of(transfer));
    sum_of_ones(communicator, 10);
  }));
}

}  // namespace
}  // namespace ringtree::testing
