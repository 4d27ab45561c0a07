// What the operations of an explored thread do. See run.h; who goes next is scheduling.cpp's.
#include "tests/models/explorer/run.h"

#include <cstring>

namespace ringtree::explorer {
namespace {

uint64_t bits_at(Place place) {
  uint64_t bits = 0;
  std::memcpy(&bits, place.address, place.bytes);
  return bits;
}

}  // namespace

LocationId Run::locate(Place place) {
  for (const auto& [address, id] : located_)
    if (address == place.address) return id;
  int region = -1;
  for (size_t i = 0; i < regions_.size() && region < 0; ++i)
    if (regions_[i].contains(place.address)) region = static_cast<int>(i);
  const LocationId id = memory_.add(place.address, place.bytes, region, bits_at(place));
  located_.emplace_back(place.address, id);
  return id;
}

bool Run::is_named(LocationId location, const std::string& name) const {
  const int region = memory_.location(location).region;
  return region >= 0 && regions_[static_cast<size_t>(region)].name == name;
}

std::memory_order Run::effective(LocationId location, Access access, std::memory_order order) const {
  for (const Weakening& weakening : options_.weakenings)
    if (weakening.access == access && is_named(location, weakening.name)) return weakening.order;
  return order;
}

size_t Run::add_event(EventKind kind, LocationId location, std::memory_order order, uint64_t value, MessageId from) {
  const Location& where = memory_.location(location);
  const Message& source = where.messages[from];
  return trace_.add({running_, kind, where.address, where.bytes, order, value, source.event,
                     where.order.size() - 1 - source.position});
}

void Run::note_reading(LocationId location, MessageId message) { self().readings.push_back({location, message}); }

void Run::begin_round() {
  if (is_over()) return;
  self().readings.clear();
  self().stored = false;
}

void Run::give_up() {
  if (is_over()) return;
  if (self().stored) fail(Fault::program, "a fruitless round of a waiting loop stored something");
  trace_.add({.thread = running_, .kind = EventKind::wait});
  self().state = State::waiting;
  hand_over();
}

uint64_t Run::load(Place place, std::memory_order order) {
  if (!in_thread())
    return ended_ ? memory_.message(locate(place), memory_.newest(locate(place))).value : bits_at(place);
  if (is_over()) return 0;
  const LocationId location = locate(place);
  order = effective(location, Access::load, order);
  const MessageId message = decide({.kind = Kind::load, .location = location, .order = order});
  const uint64_t value = memory_.message(location, message).value;
  add_event(EventKind::load, location, order, value, message);
  memory_.read(self().views, location, message, order);
  note_reading(location, message);
  return value;
}

void Run::store(Place place, uint64_t value, std::memory_order order) {
  if (!in_thread()) {
    std::memcpy(place.address, &value, place.bytes);
    return;
  }
  if (is_over()) return;
  const LocationId location = locate(place);
  for (const std::string& name : options_.late_stores)
    if (is_named(location, name)) {
      self().late.push_back([this, location, value, order] { store_now(location, value, order); });
      return;
    }
  store_now(location, value, order);
  store_late();
}

void Run::store_now(LocationId location, uint64_t value, std::memory_order order) {
  order = effective(location, Access::store, order);
  const MessageId predecessor = decide({.kind = Kind::store, .location = location, .order = order});
  const size_t event = add_event(EventKind::store, location, order, value, predecessor);
  memory_.write(self().views, running_, location, predecessor, value, order, event);
  self().stored = true;
}

void Run::store_late() {
  const auto late = std::move(self().late);
  self().late.clear();
  for (const auto& store : late) store();
}

uint64_t Run::update(Place place, const std::function<uint64_t(uint64_t)>& next, std::memory_order order) {
  if (is_over()) return 0;
  const LocationId location = locate(place);
  order = effective(location, Access::update, order);
  const MessageId source = decide({.kind = Kind::update, .location = location, .order = order});
  const uint64_t old = memory_.message(location, source).value;
  const size_t event = add_event(EventKind::update, location, order, next(old), source);
  memory_.read(self().views, location, source, order);
  memory_.update(self().views, running_, location, source, next(old), order, event);
  self().stored = true;
  return old;
}

bool Run::compare_exchange(Place place, uint64_t& expected, uint64_t desired, std::memory_order order,
                           std::memory_order if_different) {
  if (is_over()) return false;
  const LocationId location = locate(place);
  order = effective(location, Access::update, order);
  const MessageId source = decide({.kind = Kind::compare, .location = location, .order = order, .expected = expected});
  const uint64_t old = memory_.message(location, source).value;
  if (old != expected) {
    add_event(EventKind::failed_update, location, if_different, old, source);
    memory_.read(self().views, location, source, if_different);
    note_reading(location, source);
    expected = old;
    return false;
  }
  const size_t event = add_event(EventKind::update, location, order, desired, source);
  memory_.read(self().views, location, source, order);
  memory_.update(self().views, running_, location, source, desired, order, event);
  self().stored = true;
  return true;
}

void Run::fence(std::memory_order order) {
  if (is_over() || (order == std::memory_order_seq_cst && options_.without_full_fences)) return;
  decide({.kind = Kind::fence, .order = order});
  trace_.add({.thread = running_, .kind = EventKind::fence, .order = order});
  memory_.fence(self().views, running_, order);
  self().stored = true;
}

void Run::store_fence() {
  if (is_over() || options_.without_store_fences) return;
  trace_.add({.thread = running_, .kind = EventKind::store_fence});
  Shadow::drain(self().views.current.clock, running_);
}

void Run::fence_everybody() {
  if (!options_.fences_others) fail(Fault::program, "fence_everybody() without Options::fences_others");
  if (options_.without_full_fences) return;
  fence(std::memory_order_seq_cst);
  for (size_t other = 0; other < threads_.size() && !is_over(); ++other) {
    if (other == running_) continue;
    decide({.kind = Kind::fence_of_other, .order = std::memory_order_seq_cst, .target = other});
    trace_.add({.thread = running_, .kind = EventKind::fence_of_other, .value = other});
    memory_.fence(threads_[other].views, other, std::memory_order_seq_cst);
  }
  fence(std::memory_order_seq_cst);
}

void Run::sleep_if(Place place, uint64_t expected) {
  if (is_over()) return;
  const LocationId location = locate(place);
  const MessageId message = decide({.kind = Kind::sleep, .location = location});
  const uint64_t value = memory_.message(location, message).value;
  memory_.lock_futex(self().views, location);
  memory_.read(self().views, location, message, std::memory_order_relaxed);
  self().stored = true;
  add_event(value == expected ? EventKind::sleep : EventKind::no_sleep, location, std::memory_order_relaxed, value,
            message);
  if (value != expected) return;
  self().state = State::asleep;
  self().sleeps_on = location;
  hand_over();
}

void Run::wake_all(Place place) {
  if (is_over()) return;
  const LocationId location = locate(place);
  decide({.kind = Kind::wake, .location = location});
  memory_.unlock_futex(self().views, location);
  uint64_t num_woken = 0;
  for (Thread& thread : threads_)
    if (thread.state == State::asleep && thread.sleeps_on == location) {
      thread.state = State::runnable;
      ++num_woken;
    }
  add_event(EventKind::wake, location, std::memory_order_relaxed, num_woken, memory_.newest(location));
  self().stored = true;
}

void Run::judge_access(const ShadowVerdict& verdict, const void* address, const char* what) {
  if (verdict.kind == ShadowVerdict::fine) return;
  const std::string access = std::string(what) + ' ' + name_of(address, regions_) + ' ';
  const std::string other = '#' + std::to_string(verdict.event);
  switch (verdict.kind) {
    case ShadowVerdict::fine:
      return;
    case ShadowVerdict::races_with_write:
      return fail(Fault::race, access + "races with the write " + other);
    case ShadowVerdict::races_with_read:
      return fail(Fault::race, access + "races with the read " + other);
    case ShadowVerdict::never_written:
      return fail(Fault::uninitialised, access + "finds what nobody wrote");
    case ShadowVerdict::other_extent:
      return fail(Fault::program, access + "has another size than the accesses before");
  }
}

void Run::read(const void* address, size_t bytes) {
  if (!in_thread() || is_over()) return;
  const size_t event = trace_.add({.thread = running_, .kind = EventKind::read, .address = address, .bytes = bytes});
  judge_access(shadow_.read(address, bytes, self().views.current.clock, running_, event), address, "the read of");
}

void Run::write(const void* address, size_t bytes, bool non_temporal) {
  if (!in_thread()) return shadow_.initialise(address, bytes);
  if (is_over()) return;
  const size_t event = trace_.add({.thread = running_,
                                   .kind = non_temporal ? EventKind::stream_write : EventKind::write,
                                   .address = address,
                                   .bytes = bytes});
  judge_access(shadow_.write(address, bytes, self().views.current.clock, running_, event, non_temporal), address,
               "the write of");
  self().stored = true;
}

void Run::note_fault(Fault fault, const std::string& what) {
  if (fault_ != Fault::none) return;
  fault_ = fault;
  what_ = in_thread() ? threads_[running_].name + ": " + what : what;
}

void Run::fail(Fault fault, const std::string& what) {
  note_fault(fault, what);
  if (in_thread()) throw Abandoned{};
}

std::string Run::report() const {
  std::vector<std::string> names;
  for (const Thread& thread : threads_) names.push_back(thread.name);
  return std::string(fault_name(fault_)) + ": " + what_ + '\n' + trace_.text(names, regions_);
}

}  // namespace ringtree::explorer
