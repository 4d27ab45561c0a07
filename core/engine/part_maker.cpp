// See part_maker.h.
#include "core/engine/part_maker.h"

#include <algorithm>
#include <cstdio>

#include "core/bootstrap/tcp_store.h"
#include "core/bootstrap/unix_store.h"
#include "core/engine/communicator.h"

namespace ringtree {
namespace {

constexpr double kLookAgainS = 0.05;  // how long one attempt to reach a survivor may take
constexpr double kConnectS = 2;       // the same for a connection to another host, which takes three round trips
constexpr size_t kMaxHostBytes = 128, kMaxIdBytes = 256;

std::string text_of(const std::vector<int>& ranks) {
  std::string text;
  for (int rank : ranks) text += (text.empty() ? "" : " ") + std::to_string(rank);
  return text;
}

std::string hash_of(const std::vector<int>& ranks) {
  uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
  for (int rank : ranks) hash = (hash ^ static_cast<uint64_t>(rank)) * 0x100000001b3u;
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

}  // namespace

std::unique_ptr<Communicator> PartMaker::make(Store& store, std::shared_ptr<Store> kept, size_t place, size_t num_ranks,
                                              const Whole& whole, const std::string& prefix) {
  auto part = std::make_unique<Communicator>(store, static_cast<int>(place), static_cast<int>(num_ranks),
                                             whole.settings, whole.table, prefix);
  part->parts_.kept_store_ = std::move(kept);
  part->set_interrupt_check(whole.interrupted);
  return part;
}

std::unique_ptr<Communicator> PartMaker::split(const Whole& whole, const std::vector<Wish>& wishes) {
  const int number = num_splits_++;
  const auto rank = static_cast<size_t>(whole.session.rank());
  const auto [color, key] = wishes[rank];
  if (color < 0) return nullptr;
  std::vector<std::pair<int64_t, size_t>> members;  // key, rank
  for (size_t i = 0; i < wishes.size(); ++i)
    if (wishes[i][0] == color) members.emplace_back(wishes[i][1], i);
  std::sort(members.begin(), members.end());
  const auto own = std::find(members.begin(), members.end(), std::pair{key, rank});
  // A part of a part may outlive this one.
  return make(*store_, kept_store_, static_cast<size_t>(own - members.begin()), members.size(), whole,
              prefix_ + "/" + std::to_string(number) + "." + std::to_string(color));
}

// On one host by its name alone. On several the first survivor takes a port and tells the others over the mesh, which
// goes on when a communicator has failed.
std::unique_ptr<Store> PartMaker::open_meeting(const Whole& whole, const std::string& id, int place,
                                               const std::vector<int>& survivors, Deadline deadline) {
  Session& session = whole.session;
  const std::optional<Address>& own = session.mesh().own_address();
  if (!own) return std::make_unique<UnixStore>(id, place, deadline);
  const std::shared_ptr<const Secret>& secret = whole.settings.network.secret;
  if (place == 0) {
    auto store = std::make_unique<TcpStore>(own->host_text(), 0, 0, secret, deadline);
    const std::string payload = link_message(LinkMessage::meeting)
                                    .text(store->address().host_text())
                                    .number(store->address().port(), 2)
                                    .text(id)
                                    .take();
    for (const int peer : survivors)
      if (peer != session.rank()) session.mesh().send(peer, ControlType::link, payload);
    return store;
  }
  std::pair<std::string, uint16_t> where;
  const bool told = session.wait(
      [&] {
        const auto found = meetings_.find(id);
        if (found != meetings_.end()) where = found->second;
        return found != meetings_.end();
      },
      [&] { return deadline.passed(); });
  if (!told) throw TimeoutError("the first survivor did not announce where to meet");
  const Deadline connected = Deadline::after_seconds(kConnectS);
  return std::make_unique<TcpStore>(where.first, where.second, place, secret, connected);
}

void PartMaker::on_meeting(Session& session, ByteReader reader) {
  std::string host = reader.text(kMaxHostBytes);
  const auto port = static_cast<uint16_t>(reader.number(2));
  std::string id = reader.text(kMaxIdBytes);
  if (!reader.done()) throw WorldError("malformed message about a meeting");
  session.notify([&] { meetings_[std::move(id)] = {std::move(host), port}; });
}

// Those who believe that the same ranks are left meet in a store whose name says who, and which the lowest of them
// serves, since who served the first one may have died. Whoever finds all of them there goes on, and so do then all of
// them; whoever sees another one go looks for the others elsewhere. Nobody comes back, so all come to believe the same.
std::unique_ptr<Communicator> PartMaker::shrink(const Whole& whole) {
  Session& session = whole.session;
  const int rank = session.rank();
  const Deadline deadline = Deadline::after_seconds(whole.settings.timeout_s);
  while (true) {
    std::vector<int> alive;
    for (int peer = 0; peer < session.world_size(); ++peer)
      if (peer == rank || !session.members().is_gone(peer)) alive.push_back(peer);
    const std::string id = token_ + "." + std::to_string(num_shrinks_) + "." + hash_of(alive);
    const int place = static_cast<int>(std::find(alive.begin(), alive.end(), rank) - alive.begin());
    const auto still_there = [&] {
      return std::none_of(alive.begin(), alive.end(),
                          [&](int peer) { return peer != rank && session.members().is_gone(peer); });
    };
    // Tries again until it works; false if somebody has gone meanwhile, or who serves the store seems to think so.
    // Tries before it looks who has gone: what all have found, all must go on with.
    const auto patiently = [&](const auto& attempt) {
      for (bool closed = false; !closed;) {
        try {
          return attempt(Deadline::after_seconds(kLookAgainS));
        } catch (const TimeoutError&) {  // NOLINT(bugprone-empty-catch): tried again below
        } catch (const PeerError&) {
          closed = true;
          const Deadline soon = Deadline::after_seconds(kLookAgainS);
          session.wait([&] { return !still_there(); }, [&] { return soon.passed(); });
        }
        if (!still_there()) return false;
        if (deadline.passed())
          throw TimeoutError("the survivors " + text_of(alive) + " did not all call shrink() in time");
        if (whole.interrupted && whole.interrupted() != 0)
          throw Interrupted("interrupted while waiting for the survivors");
      }
      return false;
    };
    std::shared_ptr<Store> store;
    bool agreed = patiently([&](Deadline soon) {
      store = open_meeting(whole, id, place, alive, soon);
      return true;
    });
    agreed = agreed && patiently([&](Deadline) {
               store->set("here/" + std::to_string(rank), "");
               return true;
             });
    for (size_t i = 0; agreed && i < alive.size(); ++i)
      agreed = patiently([&](Deadline soon) {
        store->get("here/" + std::to_string(alive[i]), soon);
        return true;
      });
    if (!agreed) continue;
    auto part = make(*store, store, static_cast<size_t>(place), alive.size(), whole, "part");
    ++num_shrinks_;  // one that failed may be tried again and is then the same
    return part;
  }
}

}  // namespace ringtree
