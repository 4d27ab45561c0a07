// What goes one way to a core that is far is written around the caches, slots and output, and arrives all the same. The
// distance is told to the link here, as the cores of a test are where they are. That distances are found:
// tests/core/transport/test_link.cpp.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "core/algorithms/registry.h"
#include "core/base/processor.h"
#include "core/engine/executor.h"
#include "core/engine/plan.h"
#include "core/schedule/layout.h"
#include "tests/core/transport/aligned_bytes.h"

namespace ringtree::testing {
namespace {

std::shared_ptr<const Schedule> one_message() {
  const auto generate = [](ProgramBuilder& b) {
    Step step;
    if (b.rank() == 0) {
      step.verb = Verb::send;
      step.src = kInput;
      step.send_to = {1};
    } else {
      step.verb = Verb::recv;
      step.recv = {{0, 0}};
      step.dst = kOutput;
    }
    b.add(step);
  };
  return std::make_shared<const Schedule>(ScheduleShape{"one_message", Collective::broadcast, 2, 0, 1, 1, {}},
                                          generate);
}

/// A link from rank 0 to rank 1, both of which run on this thread.
struct OneLink : LinkSource {
  explicit OneLink(bool far) {
    geometry.slot_bytes = kSlotBytes;
    memory = aligned_bytes(geometry.bytes());
    construct_link(memory.get(), geometry);
    send = std::make_unique<SendEnd>(make_send_end(memory.get(), geometry, {}, {{&bell, false}}, false, {}));
    recv = std::make_unique<RecvEnd>(make_recv_end(memory.get(), geometry, 0, {}, &bell, 0, nullptr, false));
    tell(far);
  }
  /// Looks of the link's own, one in 16 messages, do not change it for the next 64.
  void tell(bool far) {
    for (int i = 0; i < 8; ++i) send->distance().add(far ? 1000 : 10);
  }
  SendEnd* send_end(const std::vector<int>&, int, int) override { return send.get(); }
  RecvEnd* recv_end(int, int, int) override { return recv.get(); }
  bool can_read_in_place(const std::vector<int>&) const override { return false; }
  bool are_on_other_hosts(const std::vector<int>&) const override { return false; }

  LinkGeometry geometry;
  AlignedBytes memory;
  Doorbell bell;
  std::unique_ptr<SendEnd> send;
  std::unique_ptr<RecvEnd> recv;
};

struct Arrived {
  bool right = true, streamed = false;
};

Arrived send_over(OneLink& link, size_t bytes, const std::function<void(size_t)>& before_poll = [](size_t) {}) {
  const auto schedule = one_message();
  std::mt19937 random(static_cast<uint32_t>(bytes));
  std::vector<std::byte> input(bytes), output(bytes + 1, std::byte{0xA5});
  for (std::byte& b : input) b = static_cast<std::byte>(random());
  std::unique_ptr<Plan> plans[2];
  BoundCall calls[2];
  RunPlace places[2];
  for (int rank = 0; rank < 2; ++rank) {
    plans[rank] = compile_plan(schedule, schedule->program(rank), 1, Protocol::simple, 1, false, link);
    BoundCall& call = calls[rank];
    if (rank == 0) call.input = input.data();
    if (rank == 1) call.output = output.data();
    call.num_chunks = 1;
    call.parts.assign(1, {bytes, 0, 0});
    call.cut = cut_parts(bytes, 1, kSlots, kSlotBytes, kSlotBytes);
    call.item_bytes = 1;
    call.fingerprint = 7;
    places[rank].begin(*plans[rank], call, false);
  }
  bool moved = true;
  for (size_t num_polls = 0; moved; ++num_polls) {
    before_poll(num_polls);
    moved = places[0].run()->poll() | places[1].run()->poll();
  }
  Arrived arrived;
  arrived.streamed = link.recv->is_streamed();
  arrived.right = places[1].run()->finished() && std::memcmp(input.data(), output.data(), bytes) == 0 &&
                  output[bytes] == std::byte{0xA5};
  return arrived;
}

constexpr size_t kFrom = size_t{2} << 20;  // as slice.h

TEST(FarPeers, get_much_around_the_caches_and_near_ones_through_them) {
  for (size_t bytes : {size_t{100}, kFrom - 1, kFrom, kFrom + 1, kFrom + kFrom / 2 + 77})
    for (bool far : {false, true}) {
      OneLink link(far);
      const Arrived arrived = send_over(link, bytes);
      EXPECT_TRUE(arrived.right) << bytes << " bytes, far: " << far;
      EXPECT_EQ(arrived.streamed, far && bytes >= kFrom) << bytes << " bytes";
    }
}

TEST(FarPeers, may_come_nearer_in_the_middle_of_a_message) {
  OneLink link(true);
  EXPECT_TRUE(send_over(link, 2 * kFrom - 1, [&](size_t num_polls) { link.tell(num_polls < 4); }).right);
  EXPECT_FALSE(link.recv->is_streamed()) << "the last one";
}

TEST(FarPeers, are_looked_for_on_amd_alone) {
  OneLink link(false);
  const uint64_t before = link.send->distance().num_looks();
  EXPECT_TRUE(send_over(link, 64 * kSlotBytes).right);
  EXPECT_EQ(link.send->distance().num_looks() > before, is_amd()) << "docs/decisions/0036";
}

// Both ranks of an exchange, over a link each way.
struct EndsOf : LinkSource {
  EndsOf(OneLink& out, OneLink& in) : out_(out), in_(in) {}
  SendEnd* send_end(const std::vector<int>&, int, int) override { return out_.send.get(); }
  RecvEnd* recv_end(int, int, int) override { return in_.recv.get(); }
  bool can_read_in_place(const std::vector<int>&) const override { return false; }
  bool are_on_other_hosts(const std::vector<int>&) const override { return false; }
  OneLink &out_, &in_;
};

TEST(FarPeers, exchange_through_the_caches) {
  const size_t block = kFrom;
  const auto schedule = std::make_shared<const Schedule>(make_schedule("ring", Collective::all_gather, 2));
  OneLink links[2] = {OneLink(true), OneLink(true)};  // from rank 0, from rank 1
  std::vector<std::byte> inputs[2], outputs[2];
  std::unique_ptr<Plan> plans[2];
  BoundCall calls[2];
  RunPlace places[2];
  for (int rank = 0; rank < 2; ++rank) {
    EndsOf ends(links[rank], links[1 - rank]);
    inputs[rank].assign(block, static_cast<std::byte>(rank + 1));
    outputs[rank].resize(2 * block);
    plans[rank] = compile_plan(schedule, schedule->program(rank), 1, Protocol::simple, 1, false, ends);
    const RankLayout layout(schedule->shape(), rank, block);
    BoundCall& call = calls[rank];
    call.input = inputs[rank].data();
    call.output = outputs[rank].data();
    bind_parts(call, layout, schedule->shape().num_chunks, 1, 1);
    call.cut = cut_parts(layout.longest_chunk(), schedule->shape().widest);
    call.fingerprint = 7;
    places[rank].begin(*plans[rank], call, false);
  }
  while (places[0].run()->poll() | places[1].run()->poll()) {
  }
  std::vector<std::byte> gathered = inputs[0];
  gathered.insert(gathered.end(), inputs[1].begin(), inputs[1].end());
  for (int rank = 0; rank < 2; ++rank) {
    EXPECT_TRUE(places[rank].run()->finished());
    EXPECT_TRUE(outputs[rank] == gathered);
    EXPECT_TRUE(links[rank].send->reader_is_far());
    EXPECT_FALSE(links[rank].recv->is_streamed());
  }
}

}  // namespace
}  // namespace ringtree::testing
