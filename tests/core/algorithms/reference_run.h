// The slow, obvious executor that algorithms are tested with: all ranks' programs on small vectors of integers, one
// slice a step, two slots a link, lanes advanced in a random order that a seed fixes. It shares no code with the
// verifier or the engine, and stays slow.
//
// A chunk's value is a number and the hash of the expression that made it: the number shows whether each contribution
// is there once, the hash whether all ranks evaluated the same expression.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "core/schedule/schedule.h"

namespace ringtree::reference {

struct Value {
  uint64_t sum = 0;         // modulo 2^64
  uint64_t expression = 0;  // hash
  bool operator==(const Value&) const = default;
};

/// What rank `rank` contributes to `chunk` in `pass`: random words, so that a sum with one contribution missing, twice
/// or of another chunk does not come out right.
inline Value contribution(int pass, int rank, int chunk) {
  uint64_t word = (static_cast<uint64_t>(pass) << 40) + (static_cast<uint64_t>(rank) << 20) + chunk + 1;
  for (int round = 0; round < 3; ++round) {  // the mixing steps of SplitMix64 (Steele, Lea & Flood 2014)
    word = (word + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
    word ^= word >> 31;
  }
  return {word, word * 0x9e3779b97f4a7c15u};
}

/// One node with its operands in order.
inline Value fold(const std::vector<Value>& operands) {
  Value result{0, operands.size()};
  for (const Value& operand : operands) {
    result.sum += operand.sum;
    result.expression = (result.expression ^ operand.expression) * 0x9e3779b97f4a7c15u + 0x7f4a7c15u;
    result.expression ^= result.expression >> 29;
  }
  return result;
}

struct Message {
  std::vector<int> ids;
  std::vector<Value> values;
};

class Run {
 public:
  Run(const Schedule& schedule, bool in_place, uint64_t seed, int num_passes = 3)
      : shape_(schedule.shape()), in_place_(in_place), num_passes_(num_passes), random_(seed) {
    for (int rank = 0; rank < shape_.num_programs(); ++rank) add_rank(schedule.program(rank));
  }

  /// Empty if all is well, else the first fault.
  std::string operator()() {
    for (bool progress = true; progress && fault_.empty();) {
      progress = false;
      std::shuffle(order_.begin(), order_.end(), random_);
      for (const auto& [rank, lane] : order_)
        while (fault_.empty() && fire(ranks_[rank], lane)) {
          progress = true;
          if (random_() % 2 == 0) break;  // some lanes run ahead, some lag
        }
    }
    if (fault_.empty()) check_finished();
    if (fault_.empty()) check_results();
    return fault_;
  }

 private:
  using Chunks = std::vector<std::optional<Value>>;
  struct Rank {
    Program program;
    std::vector<Chunks> input, output;             // by pass
    Chunks scratch;                                // one for all passes
    std::vector<std::vector<int>> lanes;           // lane -> its steps
    std::vector<size_t> done;                      // lane -> steps that it has finished, over all passes
    std::vector<std::pair<size_t, size_t>> place;  // step -> (lane, place in it)
  };

  void add_rank(Program program) {
    const int rank = program.rank();
    Rank state{std::move(program), {}, {}, {}, {}, {}, {}};
    const size_t num_chunks = static_cast<size_t>(shape_.num_chunks), num_lanes = state.program.num_lanes();
    state.scratch.resize(state.program.num_scratch());
    state.lanes.resize(num_lanes);
    state.done.resize(num_lanes);
    for (size_t i = 0; i < state.program.steps().size(); ++i) {
      const size_t lane = state.program.steps()[i].lane;
      state.place.emplace_back(lane, state.lanes[lane].size());
      state.lanes[lane].push_back(static_cast<int>(i));
    }
    const ChunkSpan own = shape_.input(rank);
    for (int pass = 0; pass < num_passes_; ++pass) {
      state.input.emplace_back(num_chunks);
      state.output.emplace_back(num_chunks);
      Chunks& where = in_place_ ? state.output.back() : state.input.back();
      for (int i = 0; i < own.count; ++i) where[own.id(i)] = contribution(pass, rank, own.id(i));
    }
    for (size_t lane = 0; lane < num_lanes; ++lane) order_.emplace_back(rank, lane);
    ranks_.push_back(std::move(state));
  }

  /// Runs the lane's next step if it can.
  bool fire(Rank& rank, size_t lane) {
    const std::vector<int>& steps = rank.lanes[lane];
    if (rank.done[lane] == steps.size() * num_passes_) return false;
    const size_t pass = rank.done[lane] / steps.size(), index = steps[rank.done[lane] % steps.size()];
    const Step& step = rank.program.steps()[index];
    const int self = rank.program.rank();
    for (const Dependency& dependency : rank.program.dependencies()[index])
      if (!has_run(rank, dependency.step, pass, dependency.previous_pass)) return false;
    for (const Endpoint& end : step.recv)
      if (links_[{end.peer, self, end.tag}].empty()) return false;
    for (int peer : step.send_to)
      if (links_[{self, peer, step.send_tag}].size() >= 2) return false;
    execute(rank, step, pass, "rank " + std::to_string(self) + ", step " + std::to_string(index));
    ++rank.done[lane];
    return true;
  }

  bool has_run(const Rank& rank, int step, size_t pass, bool previous_pass) const {
    if (previous_pass && pass == 0) return true;
    const auto& [lane, place] = rank.place[step];
    return rank.done[lane] > (pass - (previous_pass ? 1 : 0)) * rank.lanes[lane].size() + place;
  }

  std::optional<Value>& cell(Rank& rank, const Step& step, const Place& place, size_t pass, int i) {
    if (place.buffer == Buffer::scratch) return rank.scratch[place.slot + i];
    const bool is_input = place.buffer == Buffer::input && !in_place_;
    return (is_input ? rank.input : rank.output)[pass][step.chunks.id(i, shape_.num_chunks)];
  }

  void execute(Rank& rank, const Step& step, size_t pass, const std::string& who) {
    const int self = rank.program.rank();
    std::vector<Message> arrived;
    for (const Endpoint& end : step.recv) {
      std::deque<Message>& link = links_[{end.peer, self, end.tag}];
      arrived.push_back(link.front());
      link.pop_front();
    }
    Message result;
    for (int i = 0; i < step.chunks.count; ++i) {
      const int id = step.chunks.id(i, shape_.num_chunks);
      std::vector<Value> operands;
      for (const Message& message : arrived) {
        if (message.ids.size() != static_cast<size_t>(step.chunks.count) || message.ids[i] != id)
          return fail(who + " got another chunk than " + std::to_string(id));
        operands.push_back(message.values[i]);
      }
      auto take_own = [&](const Place& place, int at) {
        const std::optional<Value>& own = cell(rank, step, place, pass, i);
        if (!own) return fail(who + " reads chunk " + std::to_string(id) + " before it is written");
        operands.insert(operands.begin() + at, *own);
      };
      if (step.verb == Verb::reduce) take_own(step.dst, 0);  // the one verb that folds into what its destination holds
      if (step.src && fault_.empty()) take_own(step.src, step.src_at);
      if (!fault_.empty()) return;
      const Value value = shape_of(step.verb).reduces ? fold(operands) : operands.at(0);
      if (step.dst) cell(rank, step, step.dst, pass, i) = value;
      result.ids.push_back(id);
      result.values.push_back(value);
    }
    for (int peer : step.send_to) links_[{self, peer, step.send_tag}].push_back(result);
  }

  void check_finished() {
    for (const Rank& rank : ranks_)
      for (size_t lane = 0; lane < rank.lanes.size(); ++lane)
        if (rank.done[lane] != rank.lanes[lane].size() * num_passes_)
          return fail("rank " + std::to_string(rank.program.rank()) + ", lane " + std::to_string(lane) + " is stuck");
    for (const auto& [link, messages] : links_)
      if (!messages.empty()) return fail("a message is left over for rank " + std::to_string(std::get<1>(link)));
  }

  void check_results() {
    std::map<std::pair<int, int>, Value> first;    // (pass, chunk) -> what the first rank with it has
    std::map<std::pair<int, int>, uint64_t> sums;  // (pass, chunk) -> what it should be
    for (const Rank& rank : ranks_)
      for (int pass = 0; pass < num_passes_; ++pass) {
        const ChunkSpan span = shape_.output(rank.program.rank());
        for (int i = 0; i < span.count; ++i) {
          const int c = span.id(i);
          const std::string who = "chunk " + std::to_string(c) + " of rank " + std::to_string(rank.program.rank());
          const std::optional<Value>& got = rank.output[pass][c];
          if (!got) return fail(who + " is missing");
          const auto [known, is_new] = sums.try_emplace({pass, c}, 0);
          if (is_new) known->second = expected(pass, c);
          if (got->sum != known->second) return fail(who + " is wrong");
          if (first.try_emplace({pass, c}, *got).first->second != *got)
            return fail(who + " is the value of another expression");
        }
      }
  }

  /// The contributions of all ranks that hold the chunk before.
  uint64_t expected(int pass, int chunk) const {
    uint64_t sum = 0;
    for (int rank = 0; rank < shape_.num_ranks; ++rank)
      if (shape_.input(rank).contains(chunk)) sum += contribution(pass, rank, chunk).sum;
    return sum;
  }

  void fail(const std::string& what) { fault_ = what; }

  ScheduleShape shape_;
  bool in_place_;
  int num_passes_;
  std::mt19937_64 random_;
  std::string fault_;
  std::vector<Rank> ranks_;
  std::vector<std::pair<int, size_t>> order_;  // every (rank, lane)
  std::map<std::tuple<int, int, int>, std::deque<Message>> links_;
};

/// Empty if the schedule does what its collective should, else the first fault.
inline std::string run(const Schedule& schedule, bool in_place, uint64_t seed) {
  return Run(schedule, in_place, seed)();
}

}  // namespace ringtree::reference
