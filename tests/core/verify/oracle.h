// A slow, obvious judge of schedules that shares nothing with the verifier: it moves elements slice by slice through
// small FIFOs in a random order, with uneven chunks and several passes, and looks at the results. One run can only show
// that a schedule is wrong in that order; many runs make it a good witness for "right".
//
// An element is a pair: `sum`, in which each contribution counts (commutative, so only what is in it matters), and
// `order`, a hash that tells every grouping and order of folds from every other, as rounding would.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "core/schedule/schedule.h"

namespace ringtree::testing {

class Oracle {
 public:
  Oracle(const Schedule& schedule, uint64_t seed, bool in_place)
      : shape_(schedule.shape()), random_(seed), seed_(seed), in_place_(in_place) {
    for (int rank = 0; rank < shape_.num_programs(); ++rank) programs_.push_back(schedule.program(rank));
    choose_sizes();
    make_ranks();
  }

  /// Empty if this run gave the right result.
  std::string run() {
    // Half of the runs pick at random, half always prefer the same lanes: extreme orders find other faults.
    std::vector<Lane*> order;
    for (Lane& lane : lanes_) order.push_back(&lane);
    const bool keep_order = random_() % 2 == 0;
    std::shuffle(order.begin(), order.end(), random_);
    for (bool progress = true; progress;) {
      progress = false;
      if (!keep_order) std::shuffle(order.begin(), order.end(), random_);
      for (Lane* lane : order) {
        if (!can_run(*lane)) continue;
        run_slice(*lane);
        if (!problem_.empty()) return problem_;
        progress = true;
        break;
      }
    }
    for (const Lane& lane : lanes_)
      if (lane.pass < num_passes_)
        return "lane " + std::to_string(lane.number) + " of rank " + std::to_string(lane.rank) + " is stuck";
    for (const auto& [link, queue] : links_)
      if (!queue.empty()) return "a message is left over";
    check_results();
    return problem_;
  }

 private:
  struct Element {
    uint64_t sum = 0, order = 0;
  };
  using Data = std::vector<Element>;
  struct Lane {
    int rank = 0, number = 0;
    std::vector<int> steps;
    size_t at = 0;  // in steps
    int pass = 0, slice = 0;
  };
  struct Progress {
    int passes = 0, slices = 0;  // finished passes; slices of the pass that is under way
  };
  struct Memory {
    std::vector<Data> input, output, scratch;  // by chunk, chunk, slot; in place an input chunk may be empty
    std::vector<Progress> progress;            // by step
  };
  using Link = std::tuple<int, int, int>;  // src, dst, tag

  void choose_sizes() {
    slots_ = 2 << (random_() % 3);
    const int pass = 1 + static_cast<int>(random_() % 3);
    pass_elements_ = static_cast<size_t>(pass);
    slice_elements_ = static_cast<size_t>((shape_.widest * pass + slots_ / 2 - 1) / (slots_ / 2));
    for (int chunk = 0; chunk < shape_.num_chunks; ++chunk) {
      sizes_.push_back(random_() % 6);
      num_passes_ = std::max(num_passes_, static_cast<int>((sizes_.back() + pass_elements_ - 1) / pass_elements_));
    }
  }

  static uint64_t mix(uint64_t word) {
    word = (word ^ (word >> 31)) * 0x7fb5d329728ea185u;
    word = (word ^ (word >> 27)) * 0x81dadef4bc2dd44du;
    return word ^ (word >> 33);
  }
  Element contribution(int rank, int chunk, size_t i) const {
    const uint64_t word =
        mix(seed_ + mix(static_cast<uint64_t>(rank) * 1000003 + static_cast<uint64_t>(chunk) * 1009 + i));
    return {word, mix(word + 1)};
  }
  Data garbage(size_t size) {
    Data data(size);
    for (Element& element : data) element = {random_(), random_()};
    return data;
  }

  void make_ranks() {
    for (int rank = 0; rank < shape_.num_programs(); ++rank) {
      const Program& program = programs_[rank];
      Memory& memory = memories_.emplace_back();
      memory.progress.resize(program.steps().size());
      memory.input.resize(sizes_.size()), memory.output.resize(sizes_.size());
      for (int chunk = 0; chunk < shape_.num_chunks; ++chunk) {
        const bool has_output = shape_.output(rank).contains(chunk), has_input = shape_.input(rank).contains(chunk);
        if (has_output) memory.output[chunk] = garbage(sizes_[chunk]);
        if (!has_input) continue;
        Data& input = in_place_ && has_output ? memory.output[chunk] : memory.input[chunk];
        input.resize(sizes_[chunk]);
        for (size_t i = 0; i < input.size(); ++i) input[i] = contribution(rank, chunk, i);
      }
      for (int slot = 0; slot < program.num_scratch(); ++slot) memory.scratch.push_back(garbage(pass_elements_));
      for (int number = 0; number < program.num_lanes(); ++number) {
        Lane lane{rank, number, {}, 0, 0, 0};
        for (size_t i = 0; i < program.steps().size(); ++i)
          if (program.steps()[i].lane == number) lane.steps.push_back(static_cast<int>(i));
        if (!lane.steps.empty()) lanes_.push_back(lane);
      }
    }
  }

  size_t elements_in_pass(int chunk, int pass) const {
    const size_t begin = static_cast<size_t>(pass) * pass_elements_;
    return sizes_[chunk] <= begin ? 0 : std::min(pass_elements_, sizes_[chunk] - begin);
  }

  /// One element of a step's operand in one pass: i-th chunk of the step, element of that chunk's part in the pass.
  struct Item {
    int i, chunk;
    size_t element;
  };
  std::vector<Item> items(const Step& step, int pass, int slice) const {
    std::vector<Item> all;
    for (int i = 0; i < step.chunks.count; ++i) {
      const int chunk = step.chunks.id(i, shape_.num_chunks);
      for (size_t element = 0; element < elements_in_pass(chunk, pass); ++element) all.push_back({i, chunk, element});
    }
    const size_t begin = std::min(all.size(), static_cast<size_t>(slice) * slice_elements_);
    const size_t end = std::min(all.size(), begin + slice_elements_);
    return {all.begin() + static_cast<std::ptrdiff_t>(begin), all.begin() + static_cast<std::ptrdiff_t>(end)};
  }
  int num_slices(const Step& step, int pass) const {
    size_t total = 0;
    for (int i = 0; i < step.chunks.count; ++i) total += elements_in_pass(step.chunks.id(i, shape_.num_chunks), pass);
    return total == 0 ? 1 : static_cast<int>((total + slice_elements_ - 1) / slice_elements_);
  }

  Element* find(int rank, const Place& place, const Item& item, int pass) {
    Memory& memory = memories_[rank];
    if (place.buffer == Buffer::scratch) return &memory.scratch[place.slot + item.i][item.element];
    const size_t at = static_cast<size_t>(pass) * pass_elements_ + item.element;
    const bool aliased = in_place_ && shape_.output(rank).contains(item.chunk);
    return place.buffer == Buffer::input && !aliased ? &memory.input[item.chunk][at] : &memory.output[item.chunk][at];
  }

  bool can_run(const Lane& lane) {
    if (lane.pass >= num_passes_) return false;
    const int index = lane.steps[lane.at];
    const Step& step = programs_[lane.rank].steps()[index];
    for (const Endpoint& end : step.recv)
      if (links_[{end.peer, lane.rank, end.tag}].empty()) return false;
    for (int peer : step.send_to)
      if (links_[{lane.rank, peer, step.send_tag}].size() >= static_cast<size_t>(slots_)) return false;
    for (const Dependency& dependency : programs_[lane.rank].dependencies()[index]) {
      const int pass = lane.pass - (dependency.previous_pass ? 1 : 0);
      if (pass < 0) continue;
      const Progress& done = memories_[lane.rank].progress[dependency.step];
      const bool slice_done = dependency.by_slice && done.passes == pass && done.slices > lane.slice;
      if (done.passes <= pass && !slice_done) return false;
    }
    return true;
  }

  void run_slice(Lane& lane) {
    const int index = lane.steps[lane.at];
    const Step& step = programs_[lane.rank].steps()[index];
    const std::vector<Item> part = items(step, lane.pass, lane.slice);
    std::vector<Data> operands;
    for (const Endpoint& end : step.recv) {
      std::deque<Data>& queue = links_[{end.peer, lane.rank, end.tag}];
      operands.push_back(queue.front());
      queue.pop_front();
      if (operands.back().size() != part.size()) problem_ = "a message has another length than its receiver expects";
    }
    const auto insert = [&](const Place& place, int at) {
      Data own;
      for (const Item& item : part) own.push_back(*find(lane.rank, place, item, lane.pass));
      operands.insert(operands.begin() + at, own);
    };
    if (!problem_.empty()) return;
    if (step.verb == Verb::reduce) insert(step.dst, 0);
    if (step.src) insert(step.src, step.src_at);
    const Data result = fold(operands, part.size());
    for (size_t i = 0; step.dst && i < part.size(); ++i) *find(lane.rank, step.dst, part[i], lane.pass) = result[i];
    for (int peer : step.send_to) links_[{lane.rank, peer, step.send_tag}].push_back(result);
    advance(lane, index);
  }

  static Data fold(const std::vector<Data>& operands, size_t size) {
    if (operands.size() == 1) return operands[0];
    Data result(size);
    for (size_t i = 0; i < size; ++i) {
      result[i].order = operands.size();
      for (const Data& operand : operands) {
        result[i].sum += operand[i].sum;
        result[i].order = mix(result[i].order * 31 + operand[i].order);
      }
    }
    return result;
  }

  void advance(Lane& lane, int index) {
    Progress& progress = memories_[lane.rank].progress[index];
    ++progress.slices;
    if (++lane.slice < num_slices(programs_[lane.rank].steps()[index], lane.pass)) return;
    progress = {lane.pass + 1, 0};
    lane.slice = 0;
    if (++lane.at < lane.steps.size()) return;
    lane.at = 0;
    ++lane.pass;
  }

  void fail(int rank, const char* what, int chunk) {
    problem_ = "rank " + std::to_string(rank) + " has " + what + " in chunk " + std::to_string(chunk);
  }

  void check_results() {
    for (int chunk = 0; chunk < shape_.num_chunks; ++chunk) {
      for (size_t i = 0; i < sizes_[chunk]; ++i) {
        uint64_t sum = 0;
        for (int rank = 0; rank < shape_.num_ranks; ++rank)
          if (shape_.input(rank).contains(chunk)) sum += contribution(rank, chunk, i).sum;
        const Element* first = nullptr;
        for (int rank = 0; rank < shape_.num_ranks; ++rank) {
          if (!shape_.output(rank).contains(chunk)) continue;
          const Element& element = memories_[rank].output[chunk][i];
          if (first == nullptr) first = &element;
          if (element.sum != sum) return fail(rank, "a wrong sum", chunk);
          if (element.order != first->order) return fail(rank, "other bits", chunk);
        }
      }
    }
  }

  ScheduleShape shape_;
  std::mt19937_64 random_;
  uint64_t seed_;
  bool in_place_;
  int slots_ = 2, num_passes_ = 1;
  size_t pass_elements_ = 1, slice_elements_ = 1;
  std::vector<size_t> sizes_;  // elements of each chunk
  std::vector<Program> programs_;
  std::vector<Memory> memories_;
  std::vector<Lane> lanes_;
  std::map<Link, std::deque<Data>> links_;
  std::string problem_;
};

/// Runs the oracle `num_runs` times in each mode; the first problem found, or nothing.
inline std::string oracle_problem(const Schedule& schedule, uint64_t seed, int num_runs) {
  for (int run = 0; run < num_runs; ++run) {
    for (bool in_place : {false, true}) {
      const std::string problem = Oracle(schedule, seed * 1000 + static_cast<uint64_t>(run), in_place).run();
      if (!problem.empty()) return problem;
    }
  }
  return "";
}

}  // namespace ringtree::testing
