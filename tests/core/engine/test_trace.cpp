// Traces of small schedules against what is counted by hand: every slice step once and in order, waits that name what
// was waited for, and what happens when the memory for events is full. Files and pictures of traces: tests/python.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "core/transport/shared_buffer.h"
#include "tests/core/engine/rank_threads.h"

namespace ringtree::testing {
namespace {

constexpr size_t kEnough = 10'000;  // events

std::vector<TraceEvent> of_kind(const Trace& trace, TraceKind kind) {
  std::vector<TraceEvent> found;
  for (const TraceEvent& event : trace.events)
    if (event.kind == kind) found.push_back(event);
  return found;
}

void require(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

// What holds of every trace that lost nothing: the rank does one slice step at a time, a lane waits or works, and all
// lies within calls.
void require_consistent(const Trace& trace, bool well = true) {
  require(trace.num_lost == 0, "events are lost");
  const std::vector<TraceEvent> calls = of_kind(trace, TraceKind::call), steps = of_kind(trace, TraceKind::step);
  require(calls.size() == trace.calls.size(), "a call without its event, or the other way round");
  for (size_t i = 0; i < calls.size(); ++i) {
    require(calls[i].call == trace.calls[i].description.sequence, "calls out of order");
    require(trace.calls[i].complete == well, "complete, or not");
  }
  for (const TraceEvent& event : trace.events) {
    require(event.begin_ns > 0 && event.begin_ns <= event.end_ns, "an event ends before it begins");
    require(std::any_of(calls.begin(), calls.end(),
                        [&](const TraceEvent& call) {
                          return call.call == event.call && call.begin_ns <= event.begin_ns &&
                                 event.end_ns <= call.end_ns;
                        }),
            "an event outside of its call");
  }
  for (size_t i = 1; i < steps.size(); ++i)
    require(steps[i - 1].end_ns <= steps[i].begin_ns, "two slice steps at a time");
  for (const TraceEvent& wait : trace.events) {
    if (wait.lane < 0 || wait.kind == TraceKind::step) continue;
    for (const TraceEvent& other : trace.events)
      require(&other == &wait || other.lane != wait.lane || other.channel != wait.channel ||
                  other.end_ns <= wait.begin_ns || wait.end_ns <= other.begin_ns,
              "a lane that waits does something else");
  }
}

// (step, pass, slice, bytes) of each slice step.
using Done = std::array<int64_t, 4>;
std::vector<Done> done_in(const Trace& trace, int channel = 0) {
  std::vector<Done> all;
  for (const TraceEvent& event : of_kind(trace, TraceKind::step))
    if (event.channel == channel) all.push_back({event.step, event.pass, event.slice, event.bytes});
  return all;
}

TEST(Trace, has_every_slice_step_of_a_ring_once_and_in_order) {
  // Seven steps a rank; a chunk of 160 KB is three slices: two of 54 KB and one of 52 KB.
  std::vector<Done> expected;
  for (int step = 0; step < 7; ++step)
    for (int slice = 0; slice < 3; ++slice) expected.push_back({step, 0, slice, slice < 2 ? 54 * 1024 : 52 * 1024});
  expect_all_well(run_communicators(4, test_settings(), [&](Communicator& communicator) {
    const size_t count = size_t{4} * 160 * 1024 / sizeof(float);
    sum_of_ones(communicator, count);
    communicator.start_trace(kEnough);
    sum_of_ones(communicator, count);
    sum_of_ones(communicator, count);
    const Trace trace = communicator.take_trace();
    require(trace.rank == communicator.rank(), "whose trace is it?");
    require(trace.calls.size() == 2 && trace.calls[0].description.sequence == 2, "the calls that were traced");
    require(trace.calls[1].schedule->shape().name == "ring" && trace.calls[1].num_channels == 1 &&
                trace.calls[1].cut.slice_bytes == 54 * 1024 && trace.calls[1].cut.num_passes == 1,
            "how they were run");
    require_consistent(trace);
    std::vector<Done> twice = expected;
    twice.insert(twice.end(), expected.begin(), expected.end());
    require(done_in(trace) == twice, "other slice steps than the schedule has");
    for (const TraceEvent& wait : of_kind(trace, TraceKind::message))
      require(wait.peer == (communicator.rank() + 3) % 4 && wait.step > 0, "a message of another than the one before");
    for (const TraceEvent& event : trace.events)
      require(event.kind != TraceKind::dependency && event.kind != TraceKind::wire && event.kind != TraceKind::card,
              "a wait that a ring cannot have");
  }));
}

TEST(Trace, tells_passes_and_channels_apart) {
  // Of two ranks a ring has three steps. A channel's part of a chunk, 300 KB, is two passes of three slices of 50 KB.
  std::vector<Done> expected;
  for (int pass = 0; pass < 2; ++pass)
    for (int step = 0; step < 3; ++step)
      for (int slice = 0; slice < 3; ++slice) expected.push_back({step, pass, slice, 50 * 1024});
  expect_all_well(run_communicators(2, test_settings(2), [&](Communicator& communicator) {
    communicator.start_trace(kEnough);
    sum_of_ones(communicator, size_t{2} * 2 * 300 * 1024 / sizeof(float));
    const Trace trace = communicator.take_trace();
    require_consistent(trace);
    require(trace.calls.at(0).cut.num_passes == 2 && trace.calls[0].num_channels == 2, "how it was run");
    for (int channel : {0, 1}) require(done_in(trace, channel) == expected, "other slice steps than the schedule has");
  }));
}

TEST(Trace, has_small_calls_of_every_protocol) {
  for (const ProtocolInfo& info : kProtocols)
    expect_all_well(run_communicators(3, test_settings(),
                                      [&](Communicator& communicator) {
                                        communicator.start_trace(kEnough);
                                        sum_of_ones(communicator, 30, by("ring", info.protocol));
                                        const Trace trace = communicator.take_trace();
                                        require_consistent(trace);
                                        std::vector<Done> expected;
                                        for (int step = 0; step < 5; ++step) expected.push_back({step, 0, 0, 40});
                                        require(done_in(trace) == expected, "other slice steps");
                                        require(trace.calls.at(0).description.protocol == info.protocol, "protocol");
                                      }),
                    info.name);
}

// One rank, so that nothing waits: `num_steps` copies a call.
AlgorithmRef copies(int num_steps) {
  ScheduleShape shape;
  shape.name = "copies";
  shape.num_ranks = 1;
  return own(Schedule(shape, [num_steps](ProgramBuilder& builder) {
    for (int i = 0; i < num_steps; ++i) {
      Step step;
      step.verb = Verb::copy;
      step.src = kInput;
      step.dst = kOutput;
      builder.add(step);
    }
  }));
}

// Sequence number and step of each event (the call itself: -1), of three calls of four steps traced with `capacity`.
std::pair<std::vector<std::pair<uint64_t, int>>, Trace> three_calls_of_four_steps(size_t capacity) {
  Trace trace;
  expect_all_well(run_communicators(1, test_settings(), [&](Communicator& communicator) {
    const AlgorithmRef algorithm = copies(4);
    communicator.start_trace(capacity);
    for (int i = 0; i < 3; ++i) sum_of_ones(communicator, 10, algorithm);
    trace = communicator.take_trace();
  }));
  std::vector<std::pair<uint64_t, int>> events;
  for (const TraceEvent& event : trace.events) events.emplace_back(event.call, event.step);
  return {events, trace};
}

TEST(Trace, keeps_the_newest_events_and_counts_the_others) {
  std::vector<std::pair<uint64_t, int>> all;
  for (uint64_t call : {1, 2, 3})
    for (int step : {0, 1, 2, 3, -1}) all.emplace_back(call, step);
  for (const size_t capacity : {1, 4, 5, 6, 10, 12, 14, 15, 16, 100}) {
    const auto [events, trace] = three_calls_of_four_steps(capacity);
    const size_t num_kept = std::min<size_t>(capacity, 15);
    EXPECT_EQ(trace.num_lost, 15 - num_kept) << capacity;
    EXPECT_EQ(events, decltype(all)(all.end() - static_cast<std::ptrdiff_t>(num_kept), all.end())) << capacity;
    std::vector<std::pair<uint64_t, bool>> calls, expected;
    for (const TracedCall& call : trace.calls) calls.emplace_back(call.description.sequence, call.complete);
    for (uint64_t call : {1, 2, 3})
      if (num_kept > 5 * (3 - call)) expected.emplace_back(call, num_kept >= 5 * (4 - call));
    EXPECT_EQ(calls, expected) << capacity;
  }
}

// Rank 0: lane 0 waits for a message that rank 1 sends only after it got that of lane 2; what lane 1 sends is what lane
// 0 receives. Lanes are looked at in their order, so all of that happens in every run.
AlgorithmRef waiting_lanes() {
  ScheduleShape shape;
  shape.name = "waiting-lanes";
  shape.num_ranks = 2;
  shape.num_chunks = 2;
  return own(Schedule(shape, [](ProgramBuilder& builder) {
    const auto receive = [&](int lane, int chunk, int tag) {
      Step step;
      step.verb = Verb::recv;
      step.lane = lane;
      step.chunks = {chunk};
      step.recv = {{1 - builder.rank(), tag}};
      step.dst = kOutput;
      builder.add(step);
    };
    const auto send = [&](int lane, int chunk, int tag, Place src) {
      Step step;
      step.verb = Verb::send;
      step.lane = lane;
      step.chunks = {chunk};
      step.src = src;
      step.send_to = {1 - builder.rank()};
      step.send_tag = tag;
      builder.add(step);
    };
    if (builder.rank() == 0) {
      receive(0, 0, 0);
      send(1, 0, 1, kOutput);
      send(2, 1, 2, kInput);
    } else {
      receive(0, 1, 2);
      send(0, 0, 0, kInput);
      receive(0, 0, 1);
    }
  }));
}

TEST(Trace, says_what_a_lane_waits_for) {
  expect_all_well(run_communicators(2, test_settings(), [&](Communicator& communicator) {
    const AlgorithmRef algorithm = waiting_lanes();
    std::vector<float> input(100, 1.0f), output(100);
    Call call;
    call.count = input.size();
    call.input = input.data();
    call.output = output.data();
    communicator.run(with(call, algorithm));
    communicator.start_trace(kEnough);
    communicator.run(with(call, algorithm));
    const Trace trace = communicator.take_trace();
    require_consistent(trace);
    if (communicator.rank() != 0) return;
    std::vector<TraceEvent> events;
    for (const TraceEvent& event : trace.events)
      if (event.kind != TraceKind::sleep) events.push_back(event);
    require(events.size() == 6, std::to_string(events.size()) + " events");
    const auto is = [&](size_t at, TraceKind kind, int lane, int step, int peer, int awaited_step) {
      const TraceEvent& event = events[at];
      return event.kind == kind && event.lane == lane && event.step == step && event.peer == peer &&
             event.awaited_step == awaited_step;
    };
    require(is(0, TraceKind::step, 2, 2, -1, -1), "lane 2 sends at once");
    require(is(1, TraceKind::message, 0, 0, 1, -1), "lane 0 waits for rank 1");
    require(is(2, TraceKind::step, 0, 0, -1, -1), "and receives");
    require(is(3, TraceKind::dependency, 1, 1, -1, 0), "lane 1 waits for the first step");
    require(is(4, TraceKind::step, 1, 1, -1, -1), "and sends");
    require(is(5, TraceKind::call, -1, -1, -1, -1), "the call is the last");
    require(events[1].end_ns == events[2].begin_ns && events[3].end_ns == events[4].begin_ns, "waits end in steps");
  }));
}

// Messages between the hosts take 0.2 s: whoever expects one finds it under way long before it arrives, and sleeps.
TEST(Trace, tells_messages_under_way_on_an_emulated_cluster) {
  Settings settings = test_settings();
  settings.emulation = Cluster{2, 1, 0.2, 1e9};
  expect_all_well(run_communicators(2, settings, [&](Communicator& communicator) {
    communicator.start_trace(kEnough);
    sum_of_ones(communicator, 10, by("recursive_doubling"));
    const Trace trace = communicator.take_trace();
    require_consistent(trace);
    const std::vector<TraceEvent> waits = of_kind(trace, TraceKind::wire), sleeps = of_kind(trace, TraceKind::sleep);
    require(!waits.empty() && !sleeps.empty(), "neither waited nor slept");
    for (const TraceEvent& wait : waits) require(wait.peer == 1 - communicator.rank(), "whose message?");
    for (const TraceEvent& step : of_kind(trace, TraceKind::step))
      require(step.virtual_ns > 0 && step.virtual_ns <= step.begin_ns, "done before its time on the cluster");
  }));
}

std::atomic<bool> rank_0_waits{false}, rank_0_is_done{false};

// Rank 1 begins the call only when rank 0, whose only step is done, has waited for some time.
TEST(Trace, has_the_wait_for_peers_that_read_in_place) {
  rank_0_waits = rank_0_is_done = false;
  expect_all_well(run_communicators(2, test_settings(), [&](Communicator& communicator) {
    std::vector<std::byte> input(50'000);
    const auto output = allocate_shared(input.size());  // the root sends what it has written there
    Call call;
    call.collective = Collective::broadcast;
    call.dtype = Dtype::kUint8;
    call.count = input.size();
    call.input = communicator.rank() == 0 ? input.data() : nullptr;
    call.output = output->data();
    communicator.run(with(call, by("chain", {}, 0, true)));
    if (communicator.rank() == 0) {
      communicator.set_interrupt_check([] {
        rank_0_waits = true;
        return 0;
      });
    } else {
      while (!rank_0_waits && !rank_0_is_done) std::this_thread::yield();
    }
    communicator.start_trace(kEnough);
    communicator.run(with(call, by("chain", {}, 0, true)));
    if (communicator.rank() == 0) rank_0_is_done = true;
    const Trace trace = communicator.take_trace();
    require_consistent(trace);
    const std::vector<TraceEvent> waits = of_kind(trace, TraceKind::readers);
    require(waits.size() == (communicator.rank() == 0 ? 1 : 0), std::to_string(waits.size()) + " waits for readers");
    if (communicator.rank() == 0)
      require(waits[0].end_ns == of_kind(trace, TraceKind::call).at(0).end_ns, "it ends with the call");
  }));
}

TEST(Trace, can_be_taken_after_a_failure_and_says_what_was_waited_for) {
  expect_all_well(run_communicators(2, test_settings(), [&](Communicator& communicator) {
    sum_of_ones(communicator, 100);
    if (communicator.rank() == 1) return;  // leaves
    communicator.start_trace(kEnough);
    require(contains(outcome_of([&] { sum_of_ones(communicator, 100); }), "peer: "), "did not fail");
    const Trace trace = communicator.take_trace();
    require_consistent(trace, false);
    const std::vector<TraceEvent> waits = of_kind(trace, TraceKind::message);
    require(waits.size() == 1 && waits[0].peer == 1, "does not say that rank 1's message was missing");
  }));
}

TEST(Trace, is_on_from_start_to_take) {
  expect_all_well(run_communicators(2, test_settings(), [&](Communicator& communicator) {
    require(contains(outcome_of([&] { communicator.take_trace(); }), "usage: no trace is running"), "not refused");
    for (const size_t capacity : {size_t{0}, TraceLog::kMostEvents + 1})
      require(contains(outcome_of([&] { communicator.start_trace(capacity); }), "usage: a trace has room"), "taken");
    communicator.start_trace(kEnough);
    sum_of_ones(communicator, 10);
    communicator.start_trace(kEnough);
    std::vector<float> data(10, 1.0f);
    Call call;
    call.count = data.size();
    call.input = call.output = data.data();
    communicator.start(with(call, by("ring")));  // is part of the trace: taking it waits for what was started
    const Trace trace = communicator.take_trace();
    require(trace.calls.size() == 1 && trace.calls[0].description.sequence == 2, "not what came after the start");
    require_consistent(trace);
    sum_of_ones(communicator, 10);
    require(contains(outcome_of([&] { communicator.take_trace(); }), "usage: no trace is running"), "still on");
  }));
}

}  // namespace
}  // namespace ringtree::testing
