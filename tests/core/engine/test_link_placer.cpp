// Which messages from other hosts are received where they belong: by what steps do with them and by how far the lanes
// are, and that whole calls place all that they can. The links' part: tests/core/transport/test_placement.cpp.
#include <array>
#include <barrier>
#include <map>

#include "core/engine/executor.h"
#include "core/engine/link_placer.h"
#include "core/engine/plan.h"
#include "core/transport/tcp_link.h"
#include "tests/core/engine/host_threads.h"
#include "tests/core/transport/aligned_bytes.h"

namespace ringtree::testing {
namespace {

/// Ends of links to ranks that are all on other hosts.
struct RemoteEnds : LinkSource {
  SendEnd* send_end(const std::vector<int>& readers, int, int) override {
    Out& made = out[readers];
    if (made.end) return made.end.get();
    made.memory = aligned_bytes(geometry.bytes());
    construct_link(made.memory.get(), geometry);
    made.end = std::make_unique<SendEnd>(make_send_end(made.memory.get(), geometry, {}, {{&bell, false}}, true, {}));
    return made.end.get();
  }
  RecvEnd* recv_end(int peer, int, int) override {
    In& made = in[peer];
    if (made.end) return made.end.get();
    made.link = std::make_unique<TcpIn>(geometry, 0);
    made.end =
        std::make_unique<RecvEnd>(make_recv_end(made.link->memory(), geometry, 0, {}, &bell, peer, nullptr, true));
    made.end->set_placement(made.link.get());
    return made.end.get();
  }
  bool can_read_in_place(const std::vector<int>&) const override { return false; }
  bool are_on_other_hosts(const std::vector<int>&) const override { return true; }

  struct Out {
    AlignedBytes memory;
    std::unique_ptr<SendEnd> end;
  };
  struct In {
    std::unique_ptr<TcpIn> link;
    std::unique_ptr<RecvEnd> end;
  };
  const LinkGeometry geometry{1, kSlots, 2'000};
  Doorbell bell;
  std::map<std::vector<int>, Out> out;
  std::map<int, In> in;
};

/// The plan of `steps`, of rank 0 of three, and a call of two chunks of `chunk_bytes`, each in passes of two slices.
struct PlacedCall {
  static constexpr size_t kSlice = 1'000;

  PlacedCall(const std::vector<Step>& steps, size_t chunk_bytes) : output(2 * chunk_bytes) {
    const auto schedule =
        std::make_shared<const Schedule>(ScheduleShape{"by-hand", Collective::all_reduce, 3, 0, 2, 2, {}},
                                         [&](ProgramBuilder& builder) { add_all(builder, steps); });
    plan = compile_plan(schedule, schedule->program(0), 1, Protocol::simple, 1, false, ends);
    call.output = output.data();
    call.num_chunks = 2;
    call.parts = {{chunk_bytes, 0, 0}, {chunk_bytes, chunk_bytes, chunk_bytes}};
    call.cut = {kSlice, 2 * kSlice, std::max<size_t>(1, (chunk_bytes + 2 * kSlice - 1) / (2 * kSlice))};
    call.fingerprint = 7;
  }
  static void add_all(ProgramBuilder& builder, const std::vector<Step>& steps) {
    if (builder.rank() != 0) return;
    builder.reserve_scratch(1);
    for (const Step& step : steps) builder.add(step);
  }
  /// Of the plan's only one.
  LinkPlacer& placer() {
    EXPECT_EQ(plan->placers.size(), 1u);
    plan->placers.at(0)->begin(call);
    return *plan->placers[0];
  }
  /// As an offset into the output; -1: nowhere.
  std::ptrdiff_t place(uint64_t number, size_t bytes = kSlice, uint32_t fingerprint = 7) {
    const std::byte* const found = placer().place_for(number, bytes, fingerprint);
    return found ? found - output.data() : -1;
  }
  LaneState& lane(size_t index = 0) { return plan->states.at(index); }

  RemoteEnds ends;
  std::vector<std::byte> output;
  std::unique_ptr<Plan> plan;
  BoundCall call;
};

Step step_with(Verb verb, Place src, Place dst, std::vector<Endpoint> recv, std::vector<int> send_to, ChunkRange chunks,
               int lane = 0) {
  Step made;
  made.verb = verb;
  made.src = src;
  made.dst = dst;
  made.recv = std::move(recv);
  made.send_to = std::move(send_to);
  made.chunks = chunks;
  made.lane = lane;
  return made;
}

Step receives(ChunkRange chunks, int peer = 1, int lane = 0) {
  return step_with(Verb::recv, {}, kOutput, {{peer, 0}}, {}, chunks, lane);
}

// Chunks of 4,500 bytes in passes of 2,000: slices of 1,000 and 1,000, again, and of 500. First all of chunk 0 of the
// pass, then all of chunk 1.
TEST(LinkPlacer, finds_the_place_of_each_message_up_to_the_last_that_may_be_under_way) {
  PlacedCall call({receives({0}), receives({1})}, 4'500);
  const std::vector<std::ptrdiff_t> from_the_beginning = {0, 1'000, 4'500, 5'500, 2'000, 3'000, 6'500, 7'500};
  for (size_t i = 0; i < from_the_beginning.size(); ++i) EXPECT_EQ(call.place(i), from_the_beginning[i]) << i;
  call.lane().pass = 1;
  call.lane().step = 1;
  call.lane().slice = 1;
  EXPECT_EQ(call.place(0), 7'500);
  EXPECT_EQ(call.place(1, 500), 4'000);
  EXPECT_EQ(call.place(2, 500), 8'500);
  EXPECT_EQ(call.place(3, 500), -1) << "of the next call";
  call.lane().pass = 3;
  EXPECT_EQ(call.place(0), -1) << "all is done";
}

TEST(LinkPlacer, knows_where_chunks_lie_side_by_side) {
  PlacedCall call({receives({0, 2})}, 1'500);  // 3,000 bytes: all in one pass
  for (uint64_t m = 0; m < 3; ++m) EXPECT_EQ(call.place(m), static_cast<std::ptrdiff_t>(m * 1'000));
  PlacedCall other_way_round({receives({1, 2})}, 1'500);
  EXPECT_EQ(other_way_round.place(0), 1'500);
  EXPECT_EQ(other_way_round.place(1), -1) << "its first half lies behind its second";
  EXPECT_EQ(other_way_round.place(2), 500);
}

TEST(LinkPlacer, takes_nothing_that_is_not_exactly_what_is_waited_for) {
  PlacedCall call({receives({0}), receives({1})}, 1'500);
  EXPECT_EQ(call.place(1, 500), 1'000);
  EXPECT_EQ(call.place(1, 499), -1);
  EXPECT_EQ(call.place(1, 501), -1);
  EXPECT_EQ(call.place(1, 500, 8), -1) << "another call's";
}

TEST(LinkPlacer, places_only_what_goes_to_the_output_as_it_is) {
  const auto num_placers = [](const Step& step) { return PlacedCall({step}, 1'000).plan->placers.size(); };
  EXPECT_EQ(num_placers(receives({0})), 1u);
  EXPECT_EQ(num_placers(step_with(Verb::recv_copy_send, {}, kOutput, {{1, 0}}, {2}, {0})), 1u);
  EXPECT_EQ(num_placers(step_with(Verb::recv, {}, {Buffer::scratch, 0}, {{1, 0}}, {}, {0})), 0u);
  EXPECT_EQ(num_placers(step_with(Verb::recv_reduce_copy, kInput, kOutput, {{1, 0}}, {}, {0})), 0u);
  EXPECT_EQ(num_placers(step_with(Verb::copy_send, kInput, kOutput, {}, {1}, {0})), 0u);
}

// In each case rank 0 first has to do something with what lies in chunk 0, or not, and then receives it anew.
TEST(LinkPlacer, waits_for_what_has_to_do_with_the_place_before) {
  struct Case {
    const char* name;
    Step first;
    bool waits;
  };
  const Case cases[] = {
      {"sends it, in place perhaps", step_with(Verb::send, kInput, {}, {}, {2}, {0}), true},
      {"writes it", step_with(Verb::copy_send, kInput, kOutput, {}, {2}, {0}), true},
      {"folds into it", step_with(Verb::recv_reduce_copy, kInput, kOutput, {{2, 0}}, {}, {0}), true},
      {"folds it", step_with(Verb::recv_reduce_send, kInput, {}, {{2, 0}}, {2}, {0}), true},
      {"sends both", step_with(Verb::send, kInput, {}, {}, {2}, {0, 2}), true},
      {"sends the other one", step_with(Verb::send, kInput, {}, {}, {2}, {1}), false},
  };
  for (const Case& each : cases)
    for (const int lane : {0, 1}) {
      SCOPED_TRACE(std::string(each.name) + ", then receives on lane " + std::to_string(lane));
      PlacedCall call({each.first, receives({0}, 1, lane)}, 4'500);
      EXPECT_EQ(call.place(0), each.waits ? -1 : 0);
      EXPECT_EQ(call.place(3), each.waits ? -1 : 3'000) << "a later pass, of which nothing is done either";
      // With chunks alike what is done is done slice by slice; else not before all slices are.
      call.lane().slice = 1;
      EXPECT_EQ(call.place(0), each.waits && each.first.chunks.count > 1 ? -1 : 0);
      EXPECT_EQ(call.place(1), each.waits ? -1 : 1'000);
      call.lane().slice = 0;
      if (call.plan->lanes.size() == 1) {
        call.lane().step = 1;
      } else {
        call.lane().pass = 1;  // the lane has no other step
      }
      EXPECT_EQ(call.place(0), 0);
      EXPECT_EQ(call.place(1), 1'000);
      EXPECT_EQ(call.place(2), each.waits ? -1 : 2'000) << "the next pass";
    }
}

TEST(LinkPlacer, does_not_wait_for_what_comes_after) {
  PlacedCall call({receives({0}), step_with(Verb::send, kOutput, {}, {}, {2}, {0})}, 1'000);
  EXPECT_EQ(call.place(0), 0);
}

TEST(LinkPlacer, is_asked_while_a_run_lasts) {
  PlacedCall call({receives({0})}, 2'000);
  call.call.cut = {2'000, 4'000, 1};  // more than travels in a line
  TcpFrame frame;
  frame.bytes = 2'000;
  frame.fingerprint = 7;
  const auto goes_to_the_output = [&] {
    const std::byte* const room = call.ends.in.at(1).link->room_for(frame);
    EXPECT_NE(room, nullptr);
    return room == call.output.data();
  };
  EXPECT_FALSE(goes_to_the_output());
  call.ends.in.at(1).link->deliver(frame);
  call.plan->recv_ends[0]->has_message();
  call.plan->recv_ends[0]->release(false, 0);
  RunPlace place;
  place.begin(*call.plan, call.call, false);
  frame.number = 1;
  EXPECT_TRUE(goes_to_the_output());
  place.end();
  EXPECT_NE(call.ends.in.at(1).link->room_of(frame), call.output.data()) << "it was half there";
  frame.number = 2;
  EXPECT_FALSE(goes_to_the_output());
}

struct Wanted {
  Collective collective;
  const char* algorithm;
  size_t kilobytes;      // of a chunk: a quarter of the vector
  size_t messages_each;  // by hand: of a chunk
};

// All messages of these calls that go to the output as they are, one chunk from each of the three others. By then all
// that was in their places was read: in an all_reduce, since the sum that comes holds it.
TEST(LinkPlacer, places_all_that_it_can_of_whole_calls) {
  const std::vector<Wanted> all = {
      {Collective::all_gather, "ring", 16, 1},      {Collective::all_gather, "ring", 256, 4},
      {Collective::all_gather, "direct", 257, 6},   {Collective::all_to_all, "direct", 256, 4},
      {Collective::all_reduce, "ring", 256, 4},     {Collective::all_reduce, "ring", 2'048, 36},
      {Collective::all_reduce, "two_shot", 257, 6}, {Collective::reduce_scatter, "ring", 256, 0},
  };
  const std::vector<int> hosts{0, 1, 2, 3};
  for (const Wanted& wanted : all)
    for (const bool in_place : {false, true}) {
      if (in_place && wanted.collective != Collective::all_reduce) continue;
      std::barrier all_here(4);
      std::array<std::array<size_t, 3>, 4> placed{};  // by rank and round
      const auto outcomes = run_on_hosts(hosts, [&](Communicator& communicator) {
        const size_t chunk = wanted.kilobytes * 1024 / sizeof(float), count = 4 * chunk;
        for (size_t round = 0; round < 3; ++round) {
          std::vector<float> input(count, 1.0f), output(count);
          Call call = call_of(wanted.collective, has_blocks(wanted.collective) ? chunk : count);
          call.input = input.data();
          call.output = in_place ? input.data() : output.data();
          all_here.arrive_and_wait();  // what came during the call before would lie in slots
          communicator.run(with(call, by(wanted.algorithm)));
          placed[static_cast<size_t>(communicator.rank())][round] = communicator.last_call().num_placed;
        }
      });
      const std::string what = std::string(wanted.algorithm) + ", " + std::to_string(wanted.kilobytes) + " KB" +
                               (in_place ? " in place" : "");
      expect_all_well(outcomes, what);
      for (const auto& of_a_rank : placed)
        for (const size_t number : of_a_rank) EXPECT_EQ(number, 3 * wanted.messages_each) << what;
    }
}

TEST(LinkPlacer, has_nothing_to_do_on_one_host) {
  expect_all_well(run_communicators(2, test_settings(), [](Communicator& communicator) {
    sum_of_ones(communicator, 1 << 20);
    if (communicator.last_call().num_placed != 0) throw std::runtime_error("placed what lies in shared memory");
  }));
}

}  // namespace
}  // namespace ringtree::testing
