// A program: two ranks that send to each other through the real exchange pool (core/transport/exchange_pool.h), each by
// a script. The ranks poll, or sleep whenever they cannot move.
#pragma once

#include "tests/models/programs/bell.h"
#include "tests/models/programs/link_world.h"

namespace ringtree::explorer {

/// What a rank does, a letter a step:
///   a b   sends a message in a slot over its first or second link
///   i j   sends one that needs no slot
///   A B   receives from the peer's first or second link
///   x     receives from the peer's first link and answers over its own first one at once, as a step that reduces what
///         arrives and sends it on: in the slot that arrived, before the message is released
using Script = std::string;

struct Exchange {
  std::array<Script, 2> scripts;
  std::array<int, 2> num_links = {1, 1};  // that each rank sends over
  bool fenced = false;
  int above_limit = 0;  // a fault: a side keeps so many foreign slots more than it may
  LinkUse use = {};
  SleepUse sleep = {};
};

inline constexpr int kMaxLinks = 2;  // one way
inline constexpr size_t kMaxSlots = static_cast<size_t>(pool_slots(kMaxLinks, kMaxLinks, kSlots));

/// What the two ranks share.
template <class Bell>
struct ExchangeMemory {
  struct GivenBack {  // by one rank
    BasicReturnRing<Explored> ring;
    std::array<BasicReturnRing<Explored>::Entry, kMaxSlots> entries;
  };

  std::array<std::array<LinkLines<1>, kMaxLinks>, 2> links;  // by sender
  std::array<GivenBack, 2> given_back;                       // by giver
  std::array<SlotMemory, kMaxSlots> slots;
  std::array<Bell, 2> bells;  // by owner

  void name_all(Program& program) {
    for (auto& of_rank : links)
      for (auto& link : of_rank) link.name_all(program);
    for (auto& of_rank : given_back) {
      program.name(&of_rank.ring, sizeof of_rank.ring, "num_given");
      program.name(&of_rank.entries, sizeof of_rank.entries, "entries");
    }
    program.name(&slots, sizeof slots, "slots");
    for (size_t rank = 0; rank < 2; ++rank) bells[rank].name_all(program, std::to_string(rank));
  }
};

/// One rank's ends. `Bell`: SilentBell to poll, ExploredBell to sleep.
template <class Bell>
class ExchangeRank {
 public:
  using Side = BasicExchangeSide<Explored>;
  using Sender = BasicSendEnd<Explored, Bell>;
  using Receiver = BasicRecvEnd<Explored, Bell>;

  ExchangeRank(ExchangeMemory<Bell>& memory, size_t rank, const Exchange& exchange)
      : exchange_(exchange), bell_(memory.bells[rank]), side_(make_side(memory, rank, exchange)) {
    const size_t peer = 1 - rank;
    const LinkGeometry geometry{.num_readers = 1, .num_slots = kSlots, .slot_bytes = kSlotBytes};
    const std::vector<BasicReaderRoute<Bell>> routes = {{&memory.bells[peer], false}};
    for (int i = 0; i < exchange.num_links[rank]; ++i) {
      auto& link = memory.links[rank][static_cast<size_t>(i)];
      senders_.push_back(std::make_unique<Sender>(link.lines.data(), link.readers.data(), memory.slots[0].data(),
                                                  geometry, routes, &side_, exchange.fenced));
      own_links_.push_back(senders_.back().get());
    }
    for (int i = 0; i < exchange.num_links[peer]; ++i) {
      auto& link = memory.links[peer][static_cast<size_t>(i)];
      receivers_.push_back(std::make_unique<Receiver>(link.lines.data(), link.readers.data(), memory.slots[0].data(),
                                                      geometry, &side_, &own_links_, &memory.bells[peer],
                                                      static_cast<int>(peer), nullptr, exchange.fenced));
    }
  }

  void play(const Script& script) {
    for (const char action : script) switch (action) {
        case 'a':
        case 'b':
          send_over(static_cast<size_t>(action - 'a'), kLarge);
          break;
        case 'i':
        case 'j':
          send_over(static_cast<size_t>(action - 'i'), kSmall);
          break;
        case 'x':
          answer();
          break;
        default:
          receive_over(static_cast<size_t>(action - 'A'));
      }
  }

 private:
  static Side make_side(ExchangeMemory<Bell>& memory, size_t rank, const Exchange& exchange) {
    auto& own = memory.given_back[rank];
    auto& peer = memory.given_back[1 - rank];
    const int num_slots = pool_slots(exchange.num_links[0], exchange.num_links[1], kSlots);
    return Side(&own.ring, own.entries.data(), &peer.ring, peer.entries.data(), num_slots,
                rank == 0 ? 0 : num_slots / 2, exchange.num_links[rank] * kSlots + exchange.above_limit);
  }

  void send_over(size_t link, size_t bytes) {
    Sender& end = *senders_[link];
    wait_for([&] { return end.has_free_slot(); });
    send(end, end.next(), bytes, exchange_.use);
  }

  void receive_over(size_t link) {
    Receiver& end = *receivers_[link];
    wait_for([&] { return end.has_message(); });
    receive(end, end.next(), exchange_.use);
  }

  void answer() {
    Receiver& from = *receivers_[0];
    Sender& to = *senders_[0];
    wait_for([&] { return from.has_message() && to.has_free_slot(); });
    locate(from);
    from.take_slot(kLarge);
    std::byte* const leaving = to.room(kLarge);
    require(!from.becomes_ours() || leaving == from.data(), "the answer does not leave in the slot that arrived");
    read_payload(from.data(), from.next());
    write_and_publish(to, leaving, to.next(), kLarge, exchange_.use);
    from.release(false, 0);
  }

  template <class Ready>
  void wait_for(const Ready& ready) {
    await(bell_, exchange_.fenced, exchange_.sleep, ready);
  }

  const Exchange& exchange_;
  Bell& bell_;
  Side side_;
  std::vector<std::unique_ptr<Sender>> senders_;
  std::vector<std::unique_ptr<Receiver>> receivers_;
  std::vector<Sender*> own_links_;
};

template <class Bell = SilentBell>
Result explore_exchange(const Exchange& exchange, const Options& options = {}) {
  return explore(
      [&exchange](Program& program) {
        auto memory = std::make_shared<ExchangeMemory<Bell>>();
        memory->name_all(program);
        for (size_t rank = 0; rank < 2; ++rank)
          program.thread("rank " + std::to_string(rank), [memory, rank, &exchange] {
            ExchangeRank<Bell>(*memory, rank, exchange).play(exchange.scripts[rank]);
          });
      },
      options);
}

}  // namespace ringtree::explorer
