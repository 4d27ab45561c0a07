// Communicators made of parts of one: by choice (split) or because ranks have died (shrink). See communicator.h.
#include <algorithm>
#include <array>
#include <cstdio>
#include <tuple>

#include "core/bootstrap/tcp_store.h"
#include "core/bootstrap/unix_store.h"
#include "core/bootstrap/wire.h"
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

// What all ranks of this communicator hold alike, so that the part need not be told again.
Settings Communicator::settings_of_part() const {
  if (settings_.emulation) throw UsageError("a communicator that emulates a cluster has no parts");
  Settings settings = settings_;
  settings.profile = selection_.profile.text();
  return settings;
}

std::unique_ptr<Communicator> Communicator::split(int color, int key) {
  const Settings settings = settings_of_part();
  const size_t n = static_cast<size_t>(world_size());
  const std::array<int64_t, 2> mine{color, key};
  std::vector<std::array<int64_t, 2>> all(n);
  CallArguments gather;
  gather.collective = Collective::all_gather;
  gather.dtype = Dtype::kInt64;
  gather.count = mine.size();
  gather.input = mine.data();
  gather.output = all.data();
  call(gather);
  const int number = num_splits_++;
  if (color < 0) return nullptr;
  std::vector<std::pair<int64_t, int>> members;  // key, rank
  for (size_t i = 0; i < n; ++i)
    if (all[i][0] == color) members.emplace_back(all[i][1], static_cast<int>(i));
  std::sort(members.begin(), members.end());
  const auto own = std::find(members.begin(), members.end(), std::pair{int64_t{key}, rank()});
  auto part = std::make_unique<Communicator>(*store_, static_cast<int>(own - members.begin()),
                                             static_cast<int>(members.size()), settings, table_,
                                             prefix_ + "/" + std::to_string(number) + "." + std::to_string(color));
  part->kept_store_ = kept_store_;  // a part of a part may outlive this one
  part->set_interrupt_check(interrupted_);
  return part;
}

// On one host by its name alone. On several the first survivor takes a port and tells the others over the mesh, which
// goes on when a communicator has failed.
std::unique_ptr<Store> Communicator::open_meeting(const std::string& id, int place, const std::vector<int>& survivors,
                                                  Deadline deadline) {
  const std::optional<Address>& own = session_->mesh().own_address();
  if (!own) return std::make_unique<UnixStore>(id, place, deadline);
  const std::shared_ptr<const Secret>& secret = settings_.network.secret;
  if (place == 0) {
    auto store = std::make_unique<TcpStore>(own->host_text(), 0, 0, secret, deadline);
    const std::string payload = ByteWriter()
                                    .number(static_cast<uint8_t>(LinkMessage::meeting), 1)
                                    .text(store->address().host_text())
                                    .number(store->address().port(), 2)
                                    .text(id)
                                    .take();
    for (const int peer : survivors)
      if (peer != rank()) session_->mesh().send(peer, ControlType::link, payload);
    return store;
  }
  std::pair<std::string, uint16_t> where;
  const bool told = session_->wait(
      [&] {
        const auto found = meetings_.find(id);
        if (found != meetings_.end()) where = found->second;
        return found != meetings_.end();
      },
      [&] { return deadline.passed(); });
  if (!told) throw TimeoutError("the first survivor has not said where to meet");
  const Deadline connected = Deadline::after_seconds(kConnectS);
  return std::make_unique<TcpStore>(where.first, where.second, place, secret, connected);
}

void Communicator::on_meeting(Session& session, std::string_view payload) {
  ByteReader reader(payload);
  reader.number(1);
  std::string host = reader.text(kMaxHostBytes);
  const auto port = static_cast<uint16_t>(reader.number(2));
  std::string id = reader.text(kMaxIdBytes);
  if (!reader.done()) throw WorldError("malformed message about a meeting");
  session.notify([&] { meetings_[std::move(id)] = {std::move(host), port}; });
}

// Those who believe that the same ranks are left meet in a store whose name says who, and which the lowest of them
// serves, since who served the first one may have died. Whoever finds all of them there goes on, and so do then all of
// them; whoever sees another one go looks for the others elsewhere. Nobody comes back, so all come to believe the same.
std::unique_ptr<Communicator> Communicator::shrink() {
  const Settings settings = settings_of_part();
  check_fork();
  const Deadline deadline = Deadline::after_seconds(settings_.timeout_s);
  while (true) {
    std::vector<int> alive;
    for (int peer = 0; peer < world_size(); ++peer)
      if (peer == rank() || !session_->is_gone(peer)) alive.push_back(peer);
    const std::string id = token_ + "." + std::to_string(num_shrinks_) + "." + hash_of(alive);
    const int place = static_cast<int>(std::find(alive.begin(), alive.end(), rank()) - alive.begin());
    const auto still_there = [&] {
      return std::none_of(alive.begin(), alive.end(),
                          [&](int peer) { return peer != rank() && session_->is_gone(peer); });
    };
    // Tries again until it works; false if somebody has gone meanwhile.
    const auto patiently = [&](const auto& attempt) {
      while (true) {
        try {
          return attempt(Deadline::after_seconds(kLookAgainS));
        } catch (const TimeoutError&) {  // NOLINT(bugprone-empty-catch): tried again below
        } catch (const PeerError&) {     // who serves this store has seen somebody go
          return false;
        }
        if (!still_there()) return false;
        if (deadline.passed())
          throw TimeoutError("the survivors " + text_of(alive) + " did not all call shrink() in time");
        if (interrupted_ && interrupted_() != 0) throw Interrupted("interrupted while the survivors were waited for");
      }
    };
    std::unique_ptr<Store> store;
    bool agreed = patiently([&](Deadline soon) {
      store = open_meeting(id, place, alive, soon);
      return true;
    });
    agreed = agreed && patiently([&](Deadline) {
               store->set("here/" + std::to_string(rank()), "");
               return true;
             });
    for (size_t i = 0; agreed && i < alive.size(); ++i)
      agreed = patiently([&](Deadline soon) {
        store->get("here/" + std::to_string(alive[i]), soon);
        return true;
      });
    if (!agreed) continue;
    auto part = std::make_unique<Communicator>(*store, place, static_cast<int>(alive.size()), settings, table_, "part");
    part->kept_store_ = std::move(store);
    part->set_interrupt_check(interrupted_);
    ++num_shrinks_;  // one that failed may be tried again and is then the same
    return part;
  }
}

}  // namespace ringtree
