// Which steps may hand out their operand in place: of the built-in algorithms as documented, and of schedules in which
// one word more or less makes it wrong. What comes of it: test_shared_operands.cpp.
#include "core/engine/direct.h"
#include "tests/core/engine/rank_threads.h"

namespace ringtree::testing {
namespace {

struct Shares {
  int num_sends = 0, in_place = 0, out_of_place = 0;
  bool operator==(const Shares&) const = default;
};

Shares shares_of(const Schedule& schedule) {
  Shares shares;
  for (int rank = 0; rank < schedule.shape().num_ranks; ++rank) {
    const Program program = schedule.program(rank);
    const std::vector<DirectUse> uses = find_direct_uses(schedule, program);
    EXPECT_EQ(uses.size(), program.steps().size());
    for (size_t i = 0; i < uses.size(); ++i) {
      const bool sends = !program.steps()[i].send_to.empty();
      EXPECT_TRUE(sends || (!uses[i].in_place && !uses[i].out_of_place)) << "a step that sends nothing";
      EXPECT_TRUE(uses[i].from != Buffer::none || (!uses[i].in_place && !uses[i].out_of_place));
      EXPECT_NE(uses[i].from, Buffer::scratch) << "peers cannot map it";
      shares.num_sends += sends;
      shares.in_place += uses[i].in_place;
      shares.out_of_place += uses[i].out_of_place;
    }
  }
  return shares;
}

// The table of docs/engine.md: all_reduce of four ranks.
TEST(Direct, is_as_documented_for_the_built_in_algorithms) {
  struct Row {
    const char* name;
    double in_place, out_of_place;  // share of the sends
  };
  for (const Row& row : {Row{"two_shot", 1, 1}, Row{"halving_doubling", 0.5, 0.5}, Row{"naive", 0.5, 1},
                         Row{"ring", 0.5, 2.0 / 3}, Row{"tree", 0.6, 0.8}, Row{"chain", 0.5, 2.0 / 3},
                         Row{"double_tree", 0.4, 0.8}, Row{"one_shot", 0, 1}, Row{"recursive_doubling", 0, 0.5}}) {
    const Shares shares = shares_of(make_schedule(row.name, Collective::all_reduce, 4));
    EXPECT_DOUBLE_EQ(shares.in_place, row.in_place * shares.num_sends) << row.name;
    EXPECT_DOUBLE_EQ(shares.out_of_place, row.out_of_place * shares.num_sends) << row.name;
  }
}

Step step(Verb verb, Place src, Place dst, std::vector<Endpoint> recv, std::vector<int> send_to) {
  Step made;
  made.verb = verb;
  made.src = src;
  made.dst = dst;
  made.recv = std::move(recv);
  made.send_to = std::move(send_to);
  return made;
}

enum class Afterwards { nothing, sum_of_the_reader, sum_of_another, overwritten_twice };

// Rank 0 sends its output to rank 1, which adds to it; afterwards rank 0's output is written, or not.
Schedule sent_then_written(Afterwards afterwards) {
  ScheduleShape shape;
  shape.name = "sent-then-written";
  shape.num_ranks = 3;
  return Schedule(shape, [afterwards](ProgramBuilder& builder) {
    const bool back = afterwards == Afterwards::sum_of_the_reader || afterwards == Afterwards::overwritten_twice;
    const bool on = afterwards == Afterwards::sum_of_another || afterwards == Afterwards::overwritten_twice;
    switch (builder.rank()) {
      case 0:
        builder.add(step(Verb::copy_send, kInput, kOutput, {}, {1}));
        if (back) builder.add(step(Verb::recv, {}, kOutput, {{1, 0}}, {}));
        if (on) builder.add(step(Verb::recv, {}, kOutput, {{2, 0}}, {}));
        break;
      case 1: {
        std::vector<int> readers;
        if (back) readers.push_back(0);
        if (on) readers.push_back(2);
        const Verb verb = readers.empty() ? Verb::recv_reduce_copy : Verb::recv_reduce_copy_send;
        builder.add(step(verb, kInput, kOutput, {{0, 0}}, readers));
        break;
      }
      default:
        if (on) builder.add(step(Verb::recv_copy_send, {}, kOutput, {{1, 0}}, {0}));
    }
  });
}

TEST(Direct, holds_where_the_place_is_written_again_only_by_what_its_reader_sends) {
  const auto first_use = [](Afterwards afterwards) {
    const Schedule schedule = sent_then_written(afterwards);
    return find_direct_uses(schedule, schedule.program(0))[0];
  };
  const DirectUse untouched = first_use(Afterwards::nothing), answered = first_use(Afterwards::sum_of_the_reader),
                  by_another = first_use(Afterwards::sum_of_another), twice = first_use(Afterwards::overwritten_twice);
  EXPECT_TRUE(untouched.in_place && untouched.out_of_place);
  EXPECT_EQ(untouched.from, Buffer::output);
  EXPECT_TRUE(answered.in_place && answered.out_of_place);
  EXPECT_FALSE(by_another.in_place || by_another.out_of_place) << "rank 2 does not know that rank 1 has read";
  EXPECT_FALSE(twice.in_place || twice.out_of_place);
}

// By rank: operands that may be answered in place, steps that take an answer, and steps that can give one.
struct Answers {
  int answered = 0, taken = 0, given = 0;
  bool operator==(const Answers&) const = default;
};

Answers answers_of(const Schedule& schedule, int rank) {
  Answers answers;
  const Program program = schedule.program(rank);
  const std::vector<DirectUse> uses = find_direct_uses(schedule, program);
  for (const DirectUse& use : uses) {
    answers.answered += use.answered;
    answers.taken += use.takes_answer;
    answers.given += use.answers;
    EXPECT_TRUE(!use.answered || use.in_place) << "what cannot be read in place cannot be answered there";
    EXPECT_FALSE(use.answered && use.takes_answer);
  }
  return answers;
}

TEST(Direct, an_operand_may_be_answered_in_place_where_its_reader_sends_the_sum_back) {
  for (int n : {2, 3, 7})
    for (int rank = 0; rank < n; ++rank)
      EXPECT_EQ(answers_of(make_schedule("two_shot", Collective::all_reduce, n), rank), (Answers{n - 1, n - 1, 1}));
  for (int rank = 0; rank < 2; ++rank)
    EXPECT_EQ(answers_of(make_schedule("ring", Collective::all_reduce, 2), rank), (Answers{1, 1, 1}));
  for (int rank = 0; rank < 4; ++rank)
    EXPECT_EQ(answers_of(make_schedule("one_shot", Collective::all_reduce, 4), rank).answered, 0);
}

TEST(Direct, whatever_is_answered_is_taken) {
  for (const Algorithm& algorithm : algorithms())
    for (Collective collective : algorithm.collectives)
      for (int n : {2, 3, 4}) {
        const Schedule schedule = make_schedule(algorithm.name, collective, n);
        for (int rank = 0; rank < n; ++rank) {
          const Answers answers = answers_of(schedule, rank);
          EXPECT_EQ(answers.answered, answers.taken) << algorithm.name << " of " << n;
        }
      }
}

enum class Beside { nothing, another_reader_before, another_reader_after, own_sum, a_read_of_the_sum };

// Rank 0 sends its input to rank 1, which adds to it and sends the sum back; rank 0 does something else beside.
Schedule sent_and_answered(Beside beside) {
  ScheduleShape shape;
  shape.name = "sent-and-answered";
  shape.num_ranks = 3;
  return Schedule(shape, [beside](ProgramBuilder& builder) {
    const bool twice = beside == Beside::another_reader_before || beside == Beside::another_reader_after;
    switch (builder.rank()) {
      case 0:
        if (beside == Beside::another_reader_before) builder.add(step(Verb::send, kInput, {}, {}, {2}));
        builder.add(step(Verb::send, kInput, {}, {}, {1}));
        if (beside == Beside::another_reader_after) builder.add(step(Verb::send, kInput, {}, {}, {2}));
        if (beside == Beside::own_sum)
          builder.add(step(Verb::recv_reduce_copy, kInput, kOutput, {{1, 0}}, {}));
        else
          builder.add(step(Verb::recv, {}, kOutput, {{1, 0}}, {}));
        if (beside == Beside::a_read_of_the_sum) builder.add(step(Verb::send, kOutput, {}, {}, {2}));
        break;
      case 1:
        builder.add(step(Verb::recv_reduce_copy_send, kInput, kOutput, {{0, 0}}, {0}));
        break;
      default:
        if (twice || beside == Beside::a_read_of_the_sum) builder.add(step(Verb::recv, {}, kOutput, {{0, 0}}, {}));
    }
  });
}

TEST(Direct, an_operand_that_somebody_else_reads_too_is_not_answered_in_place) {
  const auto answers = [](Beside beside) { return answers_of(sent_and_answered(beside), 0); };
  EXPECT_EQ(answers(Beside::nothing), (Answers{1, 1, 0}));
  EXPECT_EQ(answers(Beside::another_reader_before), Answers{});
  EXPECT_EQ(answers(Beside::another_reader_after), Answers{});
  EXPECT_EQ(answers(Beside::own_sum).answered, 0) << "the rank adds to what comes";
  EXPECT_EQ(answers(Beside::a_read_of_the_sum), (Answers{1, 1, 0})) << "which waits until the sum is there";
}

TEST(Direct, an_input_that_is_the_output_too_is_overwritten) {
  const Schedule schedule = make_schedule("one_shot", Collective::all_reduce, 2);
  for (const DirectUse& use : find_direct_uses(schedule, schedule.program(0))) {
    if (use.from == Buffer::none) continue;
    EXPECT_EQ(use.from, Buffer::input);
    EXPECT_TRUE(use.out_of_place);
    EXPECT_FALSE(use.in_place) << "each would wait for the other to read before it writes its sum";
  }
}

}  // namespace
}  // namespace ringtree::testing
