// How calls are cut: slices within the size that was asked for and what the protocol carries, messages around the size
// that still travels in a line, and outputs that are written around the caches. Exact data throughout. How the cut is
// computed: tests/core/schedule/test_layout.cpp.
#include <gtest/gtest.h>

#include "core/base/processor.h"
#include "tests/core/engine/exact_data.h"
#include "tests/core/engine/rank_threads.h"

namespace ringtree::testing {
namespace {

struct Request {
  size_t wanted, simple, ll, ll128;  // bytes: of the slices that are asked for, and the most that each protocol makes
  size_t of(Protocol protocol) const {
    return protocol == Protocol::simple ? simple : protocol == Protocol::ll ? ll : ll128;
  }
};
constexpr Request kRequests[] = {
    {16'384, 16'384, 16'384, 16'384}, {32'768, 32'768, 32'704, 32'768},  {65'536, 65'536, 32'704, 57'344},
    {10'000, 10'048, 10'048, 10'048}, {32'705, 32'768, 32'704, 32'768},  {1, 8'192, 8'192, 8'192},
    {8'193, 8'256, 8'256, 8'256},     {1 << 24, 65'536, 32'704, 57'344},
};

TEST(Slices, are_at_most_of_the_size_that_was_asked_for_and_that_the_protocol_carries) {
  const size_t count = kSanitized ? 30'000 : 150'000;  // of 8 bytes; a third of it is more than a slice
  for (int n : {2, 3}) {
    const World<uint64_t> world(61, n, count + 8);
    expect_all_well(run_communicators(n, test_settings(), [&](Communicator& communicator) {
      for (const Request& request : kRequests)
        for (const ProtocolInfo& info : kProtocols)
          for (const char* name : {"ring", "tree"}) {
            make_checked_call(communicator, world,
                              {Collective::all_reduce, by(name, info.protocol, request.wanted), Dtype::kInt64, count, 0,
                               request.wanted % 3 == 0, 5, 0});
            const LastCall last = communicator.last_call();
            const size_t most = request.of(info.protocol);  // a step has more than one, so none is below half of it
            if (last.cut.slice_bytes > most || last.cut.slice_bytes <= most / 2)
              throw std::runtime_error("slices of " + std::to_string(last.cut.slice_bytes) + " bytes where " +
                                       std::to_string(request.wanted) + " were asked of " + info.name);
            if (last.configuration.slice_bytes != request.wanted || last.configuration.protocol != info.protocol)
              throw std::runtime_error("the record does not say what was asked for");
          }
    }));
  }
}

TEST(Slices, are_as_large_as_a_slot_unless_messages_pass_through_idle_ranks) {
  expect_all_well(run_communicators(4, test_settings(), [&](Communicator& communicator) {
    for (const ProtocolInfo& info : kProtocols)
      for (const std::string name : {"ring", "two_shot", "one_shot", "chain"})
        for (size_t bytes : {48 * 1024, 64 * 1024}) {  // the second size finds the plan made
          sum_of_ones(communicator, bytes / sizeof(float), by(name, info.protocol));
          size_t expected = info.slice_bytes;
          if (name == "chain") expected = bytes / 4;
          // Its step is the whole vector: in halves where a slot carries less, in thirds where two carry less.
          if (name == "one_shot" && bytes > info.slice_bytes)
            expected = bytes == 64 * 1024 && info.protocol == Protocol::ll ? 22 * 1024 : bytes / 2;
          const size_t slice = communicator.last_call().cut.slice_bytes;
          if (slice != expected)
            throw std::runtime_error(name + "/" + info.name + " has slices of " + std::to_string(slice));
        }
  }));
}

TEST(Slices, of_every_size_may_follow_each_other_over_the_same_links) {
  const World<uint64_t> world(62, 2, 50'000);
  expect_all_well(run_communicators(2, test_settings(), [&](Communicator& communicator) {
    for (size_t i = 0; i < (kSanitized ? 60 : 150); ++i)
      make_checked_call(communicator, world,
                        {Collective::all_reduce, by("two_shot", kProtocols[i % 3].protocol, i * 997 % 70'000),
                         Dtype::kInt64, i * i * 31 % 50'000, 0, i % 2 == 1, 0, 0});
  }));
}

// 56 bytes of a line are one cache line, 1,144 travel in it, 1,145 lie in a slot; ll cuts after 4 bytes, ll128
// after 56.
template <typename Item>
void expect_right_around_a_line(Dtype dtype, int n) {
  const size_t most = sizeof(Line) / sizeof(Item) * static_cast<size_t>(n);
  const World<Item> world(63, n, most + 4);
  expect_all_well(run_communicators(n, test_settings(), [&](Communicator& communicator) {
    for (const ProtocolInfo& info : kProtocols)
      for (const char* name : {"one_shot", "two_shot", "ring", "tree"})
        for (size_t bytes : {4, 48, 52, 56, 57, 60, 64, 68, 112, 113, 128, 256, 1140, 1144, 1145, 1148}) {
          // What a message carries: the vector, or a rank's share of it.
          const bool whole = std::string(name) == "one_shot" || std::string(name) == "tree";
          const size_t count = bytes / sizeof(Item) * (whole ? 1 : static_cast<size_t>(n));
          make_checked_call(communicator, world,
                            {Collective::all_reduce, by(name, info.protocol), dtype, count, 0, bytes % 8 == 0,
                             bytes % 3, bytes % 5 * sizeof(Item)});
        }
  }));
}

TEST(Slices, are_right_around_the_size_of_a_line) {
  for (int n : {2, 3, 4}) {
    expect_right_around_a_line<uint8_t>(Dtype::kUint8, n);
    expect_right_around_a_line<float>(Dtype::kFloat32, n);
  }
}

constexpr size_t kStreamingFrom = size_t{6} << 20;  // bytes; as selection.h has it

TEST(Slices, outputs_are_right_however_they_are_written) {
  const size_t most = kSanitized ? 100'000 : (size_t{20} << 20) / sizeof(uint64_t);
  const World<uint64_t> world(64, 2, most);
  expect_all_well(run_communicators(2, test_settings(), [&](Communicator& communicator) {
    for (size_t count : {size_t{0}, size_t{1}, size_t{7}, size_t{8}, size_t{1'025}, size_t{50'001}, most})
      for (const char* name : {"two_shot", "tree", "one_shot"})
        for (const ProtocolInfo& info : kProtocols)
          for (bool in_place : {false, true}) {
            if (count == most && (in_place != (info.protocol == Protocol::simple))) continue;  // slow enough
            for (bool streaming : {false, true}) {
              CheckedCall call{Collective::all_reduce,
                               by(name, info.protocol, 0, streaming),
                               Dtype::kInt64,
                               count,
                               0,
                               in_place,
                               0,
                               0};
              call.misalignment = streaming ? 8 : 0;
              make_checked_call(communicator, world, call);
              if (communicator.last_call().configuration.streaming != streaming)
                throw std::runtime_error("was not written as asked for");
            }
          }
  }));
}

TEST(Slices, outputs_of_every_collective_may_be_written_around_the_caches) {
  const World<uint64_t> world(65, 3, 60'010);
  expect_all_well(run_communicators(3, test_settings(), [&](Communicator& communicator) {
    for (const Algorithm& algorithm : algorithms())
      for (Collective collective : algorithm.collectives)
        for (bool in_place : {false, true})
          make_checked_call(communicator, world,
                            {collective, by(algorithm.name, {}, 0, true), Dtype::kInt64, 20'000, 0, in_place, 3,
                             in_place ? size_t{0} : size_t{24}});
  }));
}

TEST(Slices, large_outputs_out_of_place_are_written_around_the_caches_unless_asked_otherwise) {
  expect_all_well(run_communicators(2, test_settings(), [&](Communicator& communicator) {
    std::vector<std::byte> input(kStreamingFrom + 1), output(input.size());
    const auto streams = [&](size_t bytes, bool in_place, std::optional<bool> asked) {
      Call arguments;
      arguments.op = ReduceOp::max;
      arguments.dtype = Dtype::kUint8;
      arguments.count = bytes;
      arguments.input = in_place ? output.data() : input.data();
      arguments.output = output.data();
      communicator.run(with(arguments, by("ring", {}, 0, asked)));
      return communicator.last_call().configuration.streaming;
    };
    for (size_t bytes : {size_t{0}, kStreamingFrom - 1, kStreamingFrom, kStreamingFrom + 1})
      for (bool in_place : {false, true})
        if (streams(bytes, in_place, {}) != (!in_place && bytes >= kStreamingFrom) || !streams(bytes, in_place, true) ||
            streams(bytes, in_place, false))
          throw std::runtime_error(std::to_string(bytes) + " bytes" + (in_place ? ", in place" : ""));
  }));
}

// In place too, as it has not read what it overwrites.
TEST(Slices, who_receives_a_large_broadcast_writes_it_around_the_caches) {
  const size_t kFrom = size_t{is_amd_before_zen4() ? 4u : 24u} << 20;
  expect_all_well(run_communicators(2, test_settings(), [&](Communicator& communicator) {
    std::vector<std::byte> buffer(kFrom);
    for (size_t bytes : {kFrom / 2, kFrom - 1, kFrom}) {
      Call arguments;
      arguments.collective = Collective::broadcast;
      arguments.dtype = Dtype::kUint8;
      arguments.count = bytes;
      arguments.root = 0;
      if (communicator.rank() == 0) arguments.input = buffer.data();
      arguments.output = buffer.data();
      communicator.run(with(arguments, by("ring", {}, 0, {})));
      if (communicator.rank() == 1 && communicator.last_call().configuration.streaming != (bytes >= kFrom))
        throw std::runtime_error(std::to_string(bytes) + " bytes");
    }
  }));
}

}  // namespace
}  // namespace ringtree::testing
