// A program: one rank sends some messages to one or several readers over the real one-way link. The ranks poll, or
// sleep whenever they cannot move.
#pragma once

#include "tests/models/programs/bell.h"
#include "tests/models/programs/link_world.h"

namespace ringtree::explorer {

struct OneWay {
  uint64_t num_messages = 4;
  size_t bytes = kLarge;
  bool fenced = false;
  LinkUse use = {};
  SleepUse sleep = {};
};

template <size_t num_readers, class Bell>
struct OneWayWorld {
  LinkLines<num_readers> link;
  std::array<SlotMemory, kSlots> slots;
  SlotMemory buffer;                        // of the sender's, read in place
  SharedTable shared;                       // the readers have mapped it
  std::array<Bell, num_readers + 1> bells;  // the last one is the sender's
  LinkGeometry geometry{.num_readers = static_cast<int>(num_readers), .num_slots = kSlots, .slot_bytes = kSlotBytes};

  using Sender = BasicSendEnd<Explored, Bell>;
  using Receiver = BasicRecvEnd<Explored, Bell>;

  void begin(Program& program) {
    link.name_all(program);
    program.name(&slots, sizeof slots, "slots");
    program.name(&buffer, sizeof buffer, "buffer");
    shared.set(0, buffer.data(), sizeof buffer);
    for (size_t i = 0; i < bells.size(); ++i)
      bells[i].name_all(program, i < num_readers ? "reader " + std::to_string(i) : "sender");
  }
  Sender sender(bool fenced) {
    std::vector<BasicReaderRoute<Bell>> routes;
    for (size_t i = 0; i < num_readers; ++i) routes.push_back({&bells[i], false});
    return {link.lines.data(), link.readers.data(), slots[0].data(), geometry, std::move(routes), nullptr, fenced};
  }
  Receiver receiver(size_t reader, bool fenced) {
    return {link.lines.data(),
            &link.readers[reader],
            slots[0].data(),
            geometry,
            nullptr,
            nullptr,
            &bells[num_readers],
            0,  // the sender's rank
            &shared,
            fenced};
  }
};

/// Explores it. `Bell`: SilentBell to poll, ExploredBell to sleep.
template <size_t num_readers, class Bell>
Result explore_one_way(const OneWay& traffic, const Options& options = {}) {
  return explore(
      [&traffic](Program& program) {
        auto world = std::make_shared<OneWayWorld<num_readers, Bell>>();
        world->begin(program);
        program.thread("sender", [world, &traffic] {
          auto end = world->sender(traffic.fenced);
          const auto await_that = [&](const auto& ready) {
            await(world->bells[num_readers], traffic.fenced, traffic.sleep, ready);
          };
          for (uint64_t message = 0; message < traffic.num_messages; ++message) {
            await_that([&] { return traffic.use.in_lines ? end.has_free_line() : end.has_free_slot(); });
            if (!traffic.use.in_place) {
              send(end, message, traffic.bytes, traffic.use);
              continue;
            }
            if (!traffic.use.overwrite_at_once) await_that([&] { return end.all_consumed(); });
            const uint64_t value = payload_of(message);
            write_bytes(world->buffer.data(), &value, sizeof value);
            end.publish_in_place(kFingerprint, SharedPlace{.region = 0, .offset = 0});
          }
        });
        for (size_t reader = 0; reader < num_readers; ++reader)
          program.thread("reader " + std::to_string(reader), [world, reader, &traffic] {
            auto end = world->receiver(reader, traffic.fenced);
            for (uint64_t message = 0; message < traffic.num_messages; ++message) {
              await(world->bells[reader], traffic.fenced, traffic.sleep, [&] { return has_message(end, traffic.use); });
              receive(end, message, traffic.use);
            }
          });
      },
      options);
}

}  // namespace ringtree::explorer
