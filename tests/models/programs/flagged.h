// A program: one rank sends to another by the protocols whose messages carry flags of their own, as core/protocol/ll.h
// and ll128.h do it, over the explorer's memory. The credits (`released`) are the real link's.
#pragma once

#include "core/protocol/ll128.h"
#include "tests/models/programs/one_way.h"

namespace ringtree::explorer {

enum class Flagged : uint8_t { ll, ll128 };

struct FlaggedTraffic {
  Flagged protocol = Flagged::ll;
  uint64_t num_messages = 4;
  bool fenced = false;
  uint32_t num_flags = 1u << 31;     // a fault if small: flags repeat after so many messages
  bool flag_before_payload = false;  // a fault (ll128 only: in ll they are one store)
  bool first_flag_only = false;      // a fault: the reader looks at the first flag only
};

inline constexpr size_t kItems = 2;  // a message: words of ll, or lines of ll128

/// A slot as either protocol sees it.
struct FlaggedSlot {
  std::array<ExploredAtomic<uint64_t>, kItems> words;
  std::array<ll128::BasicLine<Explored>, kItems> lines;
};

/// One end's view of a message in a slot.
class FlaggedMessageAt {
 public:
  FlaggedMessageAt(FlaggedSlot& slot, const FlaggedTraffic& traffic, uint64_t number)
      : slot_(slot), traffic_(traffic), number_(number), flag_(1 + static_cast<uint32_t>(number) % traffic.num_flags) {}

  void pack() {
    for (size_t i = 0; i < kItems; ++i) {
      if (traffic_.protocol == Flagged::ll) {
        publish_in(slot_.words[i], uint64_t{flag_} << 32 | item(i), traffic_.fenced);
        continue;
      }
      const uint64_t data = item(i);
      if (traffic_.flag_before_payload) publish_in(slot_.lines[i].flag, uint64_t{flag_}, traffic_.fenced);
      write_bytes(slot_.lines[i].payload.data(), &data, sizeof data);
      if (!traffic_.flag_before_payload) publish_in(slot_.lines[i].flag, uint64_t{flag_}, traffic_.fenced);
    }
  }
  bool arrived() const {
    for (size_t i = 0; i < (traffic_.first_flag_only ? 1 : kItems); ++i)
      if (flag_at(i) != flag_) return false;
    return true;
  }
  /// Reads it and requires it to be what pack() wrote.
  void unpack() const {
    for (size_t i = 0; i < kItems; ++i) {
      uint64_t data = 0;
      if (traffic_.protocol == Flagged::ll) {
        data = slot_.words[i].load(std::memory_order_relaxed) & 0xffffffff;
      } else {
        read_bytes(&data, slot_.lines[i].payload.data(), sizeof data);
      }
      require(data == item(i), "not the message that is due");
    }
  }

 private:
  uint32_t item(size_t index) const { return static_cast<uint32_t>(100 * (number_ + 1) + index); }
  uint32_t flag_at(size_t index) const {
    if (traffic_.protocol == Flagged::ll128)
      return static_cast<uint32_t>(slot_.lines[index].flag.load(std::memory_order_seq_cst));
    return static_cast<uint32_t>(slot_.words[index].load(std::memory_order_seq_cst) >> 32);
  }

  FlaggedSlot& slot_;
  const FlaggedTraffic& traffic_;
  uint64_t number_;
  uint32_t flag_;
};

/// Explores it. `Bell`: SilentBell to poll, ExploredBell to sleep.
template <class Bell>
Result explore_flagged(const FlaggedTraffic& traffic, const Options& options = {}) {
  struct World : OneWayWorld<1, Bell> {
    std::array<FlaggedSlot, kSlots> flagged;
  };
  return explore(
      [&traffic](Program& program) {
        auto world = std::make_shared<World>();
        world->begin(program);
        for (auto& slot : world->flagged) {
          for (auto& word : slot.words) program.name(&word, sizeof word, "word");
          for (auto& line : slot.lines) program.name(&line.flag, sizeof line.flag, "line flag");
          for (auto& line : slot.lines) program.name(&line.payload, sizeof line.payload, "line payload");
        }
        const auto message = [world, &traffic](uint64_t number) {
          return FlaggedMessageAt(world->flagged[number % kSlots], traffic, number);
        };
        program.thread("sender", [world, &traffic, message] {
          auto end = world->sender(traffic.fenced);
          for (uint64_t number = 0; number < traffic.num_messages; ++number) {
            await(world->bells[1], traffic.fenced, {}, [&] { return end.has_free_slot(); });
            message(number).pack();
            end.publish_flagged();
          }
        });
        program.thread("reader", [world, &traffic, message] {
          auto end = world->receiver(0, traffic.fenced);
          for (uint64_t number = 0; number < traffic.num_messages; ++number) {
            await(world->bells[0], traffic.fenced, {}, [&] { return message(number).arrived(); });
            message(number).unpack();
            end.release(false, 0);
          }
        });
      },
      options);
}

}  // namespace ringtree::explorer
