// See schedule.h.
#include "core/schedule/schedule.h"

#include <string_view>

namespace ringtree {
namespace {

void check(const ScheduleShape& shape) {
  auto fail = [&](const std::string& what) { throw ScheduleError(shape.name + ": " + what); };
  if (shape.num_ranks < 1) fail("needs at least one rank");
  if (shape.root < 0 || shape.root >= shape.num_ranks) fail("root " + std::to_string(shape.root) + " is not a rank");
  if (!has_root(shape.collective) && shape.root != 0)
    fail(std::string(collective_name(shape.collective)) + " has no root");
  if (shape.num_chunks < 1) fail("needs at least one chunk");
  if (shape.widest < 1 || shape.widest > shape.num_chunks)
    fail("widest " + std::to_string(shape.widest) + " is not within 1.." + std::to_string(shape.num_chunks));
  if (shape.shares < 1 || shape.shares > kMostShares)
    fail(std::to_string(shape.shares) + " shares are not within 1.." + std::to_string(kMostShares));
  if (shape.num_chunks % shape.shares != 0)
    fail(std::to_string(shape.num_chunks) + " chunks are not a multiple of " + std::to_string(shape.shares) +
         " shares");
  const int64_t blocks = num_blocks(shape.collective, shape.num_ranks);
  if (shape.num_chunks % blocks != 0)
    fail(std::to_string(shape.num_chunks) + " chunks are not a multiple of " + std::to_string(blocks) +
         " blocks, which " + collective_name(shape.collective) + " of " + std::to_string(shape.num_ranks) +
         " ranks has");
  for (const int rank : shape.switches)
    if (rank < 0 || rank >= shape.num_ranks)
      fail("a switch is connected to rank " + std::to_string(rank) + ", which does not exist");
}

/// FNV-1a over 64-bit words: stable across builds and machines, unlike std::hash.
class Hash {
 public:
  void add(uint64_t word) {
    for (int byte = 0; byte < 8; ++byte) value_ = (value_ ^ ((word >> (8 * byte)) & 0xff)) * 0x100000001b3u;
  }
  void add(std::string_view text) {
    add(text.size());
    for (unsigned char c : text) value_ = (value_ ^ c) * 0x100000001b3u;
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0xcbf29ce484222325u;
};

void add_place(Hash& hash, const Place& place) {
  hash.add(static_cast<uint64_t>(place.buffer));
  hash.add(static_cast<uint64_t>(place.slot));
}

void add_step(Hash& hash, const Step& step) {
  hash.add(static_cast<uint64_t>(step.verb));
  for (int word : {step.lane, step.chunks.first, step.chunks.count, step.chunks.stride, step.src_at, step.send_tag})
    hash.add(static_cast<uint64_t>(word));
  add_place(hash, step.src);
  add_place(hash, step.dst);
  hash.add(step.recv.size());
  for (const Endpoint& end : step.recv)
    hash.add((uint64_t{static_cast<uint32_t>(end.peer)} << 32) | static_cast<uint32_t>(end.tag));
  hash.add(step.send_to.size());
  for (int peer : step.send_to) hash.add(static_cast<uint64_t>(peer));
}

}  // namespace

Schedule::Schedule(ScheduleShape shape, Generator generator)
    : shape_(std::move(shape)), generator_(std::move(generator)) {
  check(shape_);
}

Schedule::Schedule(ScheduleShape shape, std::vector<std::vector<Step>> steps_by_rank,
                   std::vector<int> num_scratch_by_rank)
    : shape_(std::move(shape)) {
  check(shape_);
  const size_t n = static_cast<size_t>(shape_.num_programs());
  if (steps_by_rank.size() != n || num_scratch_by_rank.size() != n)
    throw ScheduleError(shape_.name + ": has programs for " + std::to_string(steps_by_rank.size()) +
                        (shape_.switches.empty() ? " ranks, not " : " ranks and switches, not ") + std::to_string(n));
  auto programs = std::make_shared<std::vector<Program>>();
  for (size_t rank = 0; rank < n; ++rank)
    programs->emplace_back(shape_, static_cast<int>(rank), num_scratch_by_rank[rank], std::move(steps_by_rank[rank]));
  stored_ = std::move(programs);
}

Program Schedule::program(int rank) const {
  if (rank < 0 || rank >= shape_.num_programs())
    throw UsageError(shape_.name + ": rank " + std::to_string(rank) + " of " + std::to_string(shape_.num_ranks) +
                     " does not exist");
  if (stored_) return (*stored_)[static_cast<size_t>(rank)];
  ProgramBuilder builder(shape_, rank);
  generator_(builder);
  return std::move(builder).build();
}

void Schedule::require_ranks_alone(const char* who) const {
  if (!shape_.switches.empty())
    throw UsageError(shape_.name + " needs a switch that reduces (NVLink SHARP), which " + who +
                     " does not have: simulate it (ringtree simulate)");
}

uint64_t Schedule::structural_hash() const {
  Hash hash;
  hash.add(std::string_view(shape_.name));
  for (int word :
       {static_cast<int>(shape_.collective), shape_.num_ranks, shape_.root, shape_.num_chunks, shape_.widest})
    hash.add(static_cast<uint64_t>(word));
  for (const auto& [name, value] : shape_.parameters) {
    hash.add(std::string_view(name));
    hash.add(static_cast<uint64_t>(value));
  }
  for (const int rank : shape_.switches) hash.add(static_cast<uint64_t>(rank));
  if (shape_.shares != 1) {  // slices are cut by them (is_pipelined()), so ranks must agree on them
    hash.add(std::string_view("shares"));
    hash.add(static_cast<uint64_t>(shape_.shares));
  }
  for (int rank = 0; rank < shape_.num_programs(); ++rank) {
    const Program own = program(rank);
    hash.add(static_cast<uint64_t>(own.num_scratch()));
    hash.add(own.steps().size());
    for (const Step& step : own.steps()) add_step(hash, step);
  }
  return hash.value();
}

}  // namespace ringtree
