// See memory.h.
#include "tests/models/explorer/memory.h"

#include <stdexcept>

namespace ringtree::explorer {

void Memory::clear() {
  num_locations_ = 0;
  sc_ = View{};
}

LocationId Memory::add(const void* address, size_t bytes, int region, uint64_t initial) {
  if (num_locations_ == kMaxLocations)
    throw std::logic_error("an explored program has more than kMaxLocations atomics");
  if (num_locations_ == locations_.size()) locations_.emplace_back();
  Location& location = locations_[num_locations_];
  location.address = address;
  location.bytes = bytes;
  location.region = region;
  location.messages.clear();
  location.messages.push_back({.value = initial});
  location.order.assign(1, 0);
  location.kernel = View{};
  return static_cast<LocationId>(num_locations_++);
}

bool Memory::is_later(LocationId id, MessageId a, MessageId b) const {
  const auto& messages = locations_[id].messages;
  return messages[a].position > messages[b].position;
}

void Memory::see(View& view, LocationId id, MessageId message) const {
  if (is_later(id, message, view.seen[id])) view.seen[id] = message;
}

void Memory::join_seen(View& into, const View& from) const {
  for (size_t i = 0; i < num_locations_; ++i)
    if (into.seen[i] != from.seen[i]) see(into, static_cast<LocationId>(i), from.seen[i]);
}

void Memory::join(View& into, const View& from) const {
  join_seen(into, from);
  into.clock.join(from.clock);
}

MessageId Memory::floor(const ThreadViews& views, LocationId id, std::memory_order order) const {
  const MessageId own = views.current.seen[id];
  if (order != std::memory_order_seq_cst) return own;
  return is_later(id, sc_.seen[id], own) ? sc_.seen[id] : own;
}

bool Memory::is_taken(LocationId id, MessageId message) const {
  const Location& location = locations_[id];
  const size_t next = location.messages[message].position + 1;
  return next < location.order.size() && location.messages[location.order[next]].is_update;
}

void Memory::readable(const ThreadViews& views, LocationId id, std::memory_order order,
                      std::vector<MessageId>& out) const {
  const Location& location = locations_[id];
  const size_t oldest = location.messages[floor(views, id, order)].position;
  out.clear();
  for (size_t at = location.order.size(); at > oldest; --at) out.push_back(location.order[at - 1]);
}

void Memory::updatable(const ThreadViews& views, LocationId id, std::memory_order order,
                       std::vector<MessageId>& out) const {
  readable(views, id, order, out);
  std::erase_if(out, [&](MessageId message) { return is_taken(id, message); });
}

void Memory::lock_futex(ThreadViews& views, LocationId id) const { join_seen(views.current, locations_[id].kernel); }

void Memory::unlock_futex(const ThreadViews& views, LocationId id) { join_seen(locations_[id].kernel, views.current); }

void Memory::read(ThreadViews& views, LocationId id, MessageId message, std::memory_order order) {
  const View& carried = locations_[id].messages[message].view;
  see(views.current, id, message);
  join(views.acquired, carried);
  if (acquires(order)) join(views.current, carried);
  if (order == std::memory_order_seq_cst) see(sc_, id, message);
}

MessageId Memory::insert(LocationId id, MessageId predecessor, uint64_t value, size_t event) {
  Location& location = locations_[id];
  const size_t position = location.messages[predecessor].position + 1;
  const auto added = static_cast<MessageId>(location.messages.size());
  location.messages.push_back({.value = value, .event = event});
  location.order.insert(location.order.begin() + static_cast<std::ptrdiff_t>(position), added);
  for (size_t at = position; at < location.order.size(); ++at) location.messages[location.order[at]].position = at;
  return added;
}

MessageId Memory::write(ThreadViews& views, size_t thread, LocationId id, MessageId predecessor, uint64_t value,
                        std::memory_order order, size_t event) {
  const MessageId added = insert(id, predecessor, value, event);
  views.current.seen[id] = added;
  View& carried = locations_[id].messages[added].view;
  carried = releases(order) ? views.current : views.released;
  see(carried, id, added);
  ++views.current.clock.at[Clock::ordinary(thread)];
  if (order == std::memory_order_seq_cst) see(sc_, id, added);
  return added;
}

MessageId Memory::update(ThreadViews& views, size_t thread, LocationId id, MessageId source, uint64_t value,
                         std::memory_order order, size_t event) {
  const MessageId added = write(views, thread, id, source, value, order, event);
  Location& location = locations_[id];
  location.messages[added].is_update = true;
  join(location.messages[added].view, location.messages[source].view);  // the release sequence goes on
  return added;
}

void Memory::fence(ThreadViews& views, size_t thread, std::memory_order order) {
  if (acquires(order)) join(views.current, views.acquired);
  if (order == std::memory_order_seq_cst) {
    join_seen(views.current, sc_);
    join_seen(sc_, views.current);
  }
  if (releases(order)) {
    views.released = views.current;
    ++views.current.clock.at[Clock::ordinary(thread)];
  }
}

}  // namespace ringtree::explorer
