// See trace.h.
#include "tests/models/explorer/trace.h"

#include <iomanip>
#include <sstream>

namespace ringtree::explorer {
namespace {

const char* order_name(std::memory_order order) {
  switch (order) {
    case std::memory_order_relaxed:
      return "relaxed";
    case std::memory_order_acquire:
    case std::memory_order_consume:
      return "acquire";
    case std::memory_order_release:
      return "release";
    case std::memory_order_acq_rel:
      return "acq_rel";
    case std::memory_order_seq_cst:
      break;
  }
  return "seq_cst";
}

std::string read_from(const Event& event) {
  std::ostringstream out;
  out << " from " << (event.from == 0 ? std::string("the start") : "#" + std::to_string(event.from));
  if (event.num_unseen > 0) out << ", " << event.num_unseen << " newer not seen";
  return out.str();
}

std::string describe(const Event& event, const std::string& where, const std::vector<std::string>& threads) {
  std::ostringstream out;
  const auto of = [&] { return std::string(" (") + order_name(event.order) + ")"; };
  out << std::hex;
  switch (event.kind) {
    case EventKind::load:
      out << "load  " << where << " = 0x" << event.value << of() << read_from(event);
      break;
    case EventKind::store:
      out << "store " << where << " := 0x" << event.value << of();
      break;
    case EventKind::update:
      out << "update " << where << " := 0x" << event.value << of() << " read" << read_from(event);
      break;
    case EventKind::failed_update:
      out << "compare " << where << " = 0x" << event.value << of() << " differs," << read_from(event);
      break;
    case EventKind::fence:
      out << "fence" << of();
      break;
    case EventKind::fence_of_other:
      out << "fence on " << threads[event.value];
      break;
    case EventKind::store_fence:
      out << "store fence";
      break;
    case EventKind::read:
      out << "read  " << where << ", " << std::dec << event.bytes << " B";
      break;
    case EventKind::write:
      out << "write " << where << ", " << std::dec << event.bytes << " B";
      break;
    case EventKind::stream_write:
      out << "write " << where << ", " << std::dec << event.bytes << " B, non-temporal";
      break;
    case EventKind::sleep:
      out << "sleeps on " << where << " = 0x" << event.value << read_from(event);
      break;
    case EventKind::no_sleep:
      out << "does not sleep: " << where << " = 0x" << event.value << read_from(event);
      break;
    case EventKind::wake:
      out << "wakes " << std::dec << event.value << " of those who sleep on " << where;
      break;
    case EventKind::wait:
      out << "waits for something new";
      break;
  }
  return out.str();
}

}  // namespace

std::string name_of(const void* address, const std::vector<Region>& regions) {
  if (!address) return "";
  for (const Region& region : regions) {
    if (!region.contains(address)) continue;
    const auto offset = static_cast<const std::byte*>(address) - region.begin;
    return offset == 0 ? region.name : region.name + "+" + std::to_string(offset);
  }
  std::ostringstream out;
  out << address;
  return out.str();
}

std::string Trace::text(const std::vector<std::string>& threads, const std::vector<Region>& regions) const {
  std::ostringstream out;
  for (size_t i = 0; i < events_.size(); ++i) {
    const Event& event = events_[i];
    out << std::setw(4) << '#' + std::to_string(i + 1) << "  " << std::left << std::setw(10) << threads[event.thread]
        << std::right << describe(event, name_of(event.address, regions), threads) << '\n';
  }
  return out.str();
}

}  // namespace ringtree::explorer
