// A program: an owner names a place in its buffer, a folder reads there, writes what it made of it there, and says so
// over a link of its own; then the owner writes its next value into the buffer, at once. The ranks poll.
#pragma once

#include "tests/models/programs/bell.h"
#include "tests/models/programs/link_world.h"

namespace ringtree::explorer {

/// How many rounds, and faults of either rank.
struct Answered {
  uint64_t num_rounds = 3;
  bool fenced = false;
  bool answer_before_writing = false;
  bool release_before_writing = false;   // no fault: the owner waits for the answer, not for the release
  bool overwrite_after_release = false;  // the owner waits for the release, not for the answer
};

struct AnsweredWorld {
  std::array<LinkLines<1>, 2> links;  // by sender: owner, folder
  std::array<SlotMemory, kSlots> slots;
  SlotMemory buffer;   // of the owner's
  SharedTable shared;  // the folder has mapped it
  std::array<SilentBell, 2> bells;

  using Sender = BasicSendEnd<Explored, SilentBell>;
  using Receiver = BasicRecvEnd<Explored, SilentBell>;
  static constexpr LinkGeometry kGeometry{.num_readers = 1, .num_slots = kSlots, .slot_bytes = kSlotBytes};

  void begin(Program& program) {
    for (auto& link : links) link.name_all(program);
    program.name(&buffer, sizeof buffer, "buffer");
    shared.set(0, buffer.data(), sizeof buffer);
  }
  Sender sender(size_t rank, bool fenced) {
    const std::vector<BasicReaderRoute<SilentBell>> routes = {{&bells[1 - rank], false}};
    return {links[rank].lines.data(), links[rank].readers.data(), slots[0].data(), kGeometry, routes, nullptr, fenced};
  }
  Receiver receiver(size_t rank, bool fenced) {
    LinkLines<1>& link = links[1 - rank];
    return {link.lines.data(), link.readers.data(),        slots[0].data(), kGeometry, nullptr, nullptr,
            &bells[1 - rank],  static_cast<int>(1 - rank), &shared,         fenced};
  }
};

inline uint64_t folded(uint64_t value) { return value + 1000; }

inline Result explore_answered(const Answered& use, const Options& options = {}) {
  return explore(
      [&use](Program& program) {
        auto world = std::make_shared<AnsweredWorld>();
        world->begin(program);
        program.thread("owner", [world, &use] {
          auto out = world->sender(0, use.fenced);
          auto in = world->receiver(0, use.fenced);
          const auto await_that = [&](const auto& ready) { await(world->bells[0], use.fenced, {}, ready); };
          for (uint64_t round = 0; round < use.num_rounds; ++round) {
            await_that([&] { return out.has_free_slot(); });
            const uint64_t value = payload_of(round);
            write_bytes(world->buffer.data(), &value, sizeof value);
            out.publish_in_place(kFingerprint, SharedPlace{.region = 0, .offset = 0}, true);
            if (use.overwrite_after_release) {
              await_that([&] { return out.all_consumed(); });
              continue;
            }
            await_that([&] { return in.has_message(); });
            require(in.is_answer(), "not an answer");
            uint64_t sum = 0;
            read_bytes(&sum, world->buffer.data(), sizeof sum);
            require(sum == folded(value), "not the answer that is due");
            in.release(false, 0);
          }
        });
        program.thread("folder", [world, &use] {
          auto in = world->receiver(1, use.fenced);
          auto out = world->sender(1, use.fenced);
          const auto await_that = [&](const auto& ready) { await(world->bells[1], use.fenced, {}, ready); };
          for (uint64_t round = 0; round < use.num_rounds; ++round) {
            await_that([&] { return in.has_message(); });
            if (!use.overwrite_after_release) await_that([&] { return out.has_free_slot(); });
            require(in.may_answer(), "no leave to answer in place");
            locate(in);
            uint64_t value = 0;
            read_bytes(&value, in.data(), sizeof value);
            require(value == payload_of(round), "not the value that is due");
            const uint64_t sum = folded(value);
            if (use.answer_before_writing) out.publish_answer(kFingerprint);
            if (use.release_before_writing || use.overwrite_after_release) in.release(false, 0);
            write_bytes(const_cast<std::byte*>(in.data()), &sum, sizeof sum);
            if (use.overwrite_after_release) continue;
            if (!use.answer_before_writing) out.publish_answer(kFingerprint);
            if (!use.release_before_writing) in.release(false, 0);
          }
        });
      },
      options);
}

}  // namespace ringtree::explorer
