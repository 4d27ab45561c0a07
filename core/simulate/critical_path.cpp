// See critical_path.h.
#include "core/simulate/critical_path.h"

#include <algorithm>
#include <limits>
#include <map>

#include "core/base/error.h"

namespace ringtree {
namespace {

constexpr int kIdBits = 28;

}  // namespace

Mark CriticalPath::add(Ticks at, Mark before, Kind kind, int id) {
  if (marks_.size() >= std::numeric_limits<Mark>::max() || id >= 1 << kIdBits)
    throw UsageError("this call has too many slices to simulate; use larger slots");
  marks_.push_back({at, before, static_cast<uint32_t>(kind) << kIdBits | static_cast<uint32_t>(id)});
  return static_cast<Mark>(marks_.size() - 1);
}

Accounts CriticalPath::accounts(Mark last) const {
  Ticks launch = 0, latency = 0, link = 0, copy = 0, reduce = 0, slots = 0;
  std::map<int, Ticks> by_link;
  for (Mark mark = last;;) {
    const Entry& entry = marks_[mark];
    const Kind kind = static_cast<Kind>(entry.kind_and_id >> kIdBits);
    const int id = static_cast<int>(entry.kind_and_id & ((1u << kIdBits) - 1));
    if (kind == Kind::launch) {
      launch += entry.at;
      break;
    }
    Ticks passed = entry.at - marks_[entry.before].at;
    if (kind == Kind::arrival_then_copy || kind == Kind::arrival_then_reduce || kind == Kind::arrival_then_slots) {
      latency += graph_.connections[static_cast<size_t>(id)].latency;
      passed -= graph_.connections[static_cast<size_t>(id)].latency;
    }
    switch (kind) {
      case Kind::link:
        link += passed;
        by_link[id] += passed;
        break;
      case Kind::reduce:
      case Kind::arrival_then_reduce:
        reduce += passed;
        break;
      case Kind::slots:
      case Kind::arrival_then_slots:
        slots += passed;
        break;
      default:
        copy += passed;
    }
    mark = entry.before;
  }
  const auto seconds = [](Ticks ticks) { return static_cast<double>(ticks) / kTicksPerSecond; };
  Accounts accounts{
      seconds(launch), seconds(latency), seconds(link), seconds(copy), seconds(reduce), seconds(slots), {}};
  for (const auto& [id, ticks] : by_link) accounts.links.emplace_back(id, seconds(ticks));
  std::sort(accounts.links.begin(), accounts.links.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  return accounts;
}

}  // namespace ringtree
