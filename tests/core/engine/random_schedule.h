// Well-formed all_reduce schedules drawn at random: every message that is sent is received, and nothing waits for ever.
// What they compute is nonsense; they are for whoever only asks when things happen.
//
// Steps are drawn one after the other for all ranks together, and a step receives only what an earlier one sent. Run in
// that order no step waits, with at most two steps' messages on a link, which eight slots hold in every pass.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include "core/schedule/schedule.h"

namespace ringtree::testing {

class RandomSchedule {
 public:
  RandomSchedule(uint64_t seed, int num_ranks, int most_lanes) : random_(seed) {
    shape_.name = "random " + std::to_string(seed);
    shape_.num_ranks = num_ranks;
    shape_.num_chunks = 1 + pick(6);
    shape_.widest = 1 + pick(std::min(4, shape_.num_chunks));
    for (int rank = 0; rank < num_ranks; ++rank) {
      num_lanes_.push_back(1 + pick(most_lanes));
      for (int tag = pick(3); num_ranks > 1 && tag >= 0; --tag) ports_.push_back(draw_port(rank, tag));
    }
    for (const Port& port : ports_)
      for (int reader : port.readers) links_[{port.rank, reader, port.tag}].lane = pick(num_lanes_[at(reader)]);
    programs_.resize(at(num_ranks));
    for (int left = num_ranks * (3 + pick(12)); left > 0; --left) draw_step(pick(num_ranks));
    for (auto& [ends, link] : links_)
      while (!link.under_way.empty()) receive(ends);
    for (int rank = 0; rank < num_ranks; ++rank)
      for (int lane = 0; lane < num_lanes_[at(rank)]; ++lane) fill(rank, lane);
  }

  Schedule schedule() const {
    return Schedule(shape_, programs_, std::vector<int>(programs_.size(), 2 * shape_.widest));
  }

 private:
  using Ends = std::tuple<int, int, int>;  // sender, receiver, tag
  struct Port {                            // the sending end of links with one tag
    int rank, tag, lane;
    std::vector<int> readers;
  };
  struct Link {
    int lane = 0;  // of the receiver
    std::deque<ChunkRange> under_way;
  };

  static size_t at(int index) { return static_cast<size_t>(index); }
  int pick(int count) { return static_cast<int>(random_() % static_cast<uint64_t>(count)); }

  Port draw_port(int rank, int tag) {
    std::vector<int> others;
    for (int other = 0; other < shape_.num_ranks; ++other)
      if (other != rank) others.push_back(other);
    std::shuffle(others.begin(), others.end(), random_);
    others.resize(at(1 + pick(std::min(3, static_cast<int>(others.size())))));
    return {rank, tag, pick(num_lanes_[at(rank)]), others};
  }

  void draw_step(int rank) {
    Step step;
    step.lane = pick(num_lanes_[at(rank)]);
    step.chunks = {pick(shape_.num_chunks), 1 + pick(shape_.widest), 1};
    if (pick(4) > 0) draw_receives(rank, step);
    draw_send(rank, step);
    complete(step);
    programs_[at(rank)].push_back(step);
  }

  /// Some of the messages that wait for the lane, all of the same chunks.
  void draw_receives(int rank, Step& step) {
    for (auto& [ends, link] : links_) {
      const auto [src, dst, tag] = ends;
      if (dst != rank || link.lane != step.lane || link.under_way.empty() || pick(4) == 0) continue;
      if (!step.recv.empty() && !(link.under_way.front() == step.chunks)) continue;
      step.chunks = link.under_way.front();
      link.under_way.pop_front();
      step.recv.push_back({src, tag});
    }
  }

  void draw_send(int rank, Step& step) {
    for (const Port& port : ports_) {
      const auto full = [&](int reader) { return links_[{rank, reader, port.tag}].under_way.size() >= 2; };
      if (port.rank != rank || port.lane != step.lane || pick(4) == 0) continue;
      if (std::any_of(port.readers.begin(), port.readers.end(), full)) continue;
      for (int reader : port.readers) links_[{rank, reader, port.tag}].under_way.push_back(step.chunks);
      step.send_to = port.readers;
      step.send_tag = port.tag;
      return;
    }
  }

  /// Gives a step that has its links a verb that fits them, and the places that the verb needs.
  void complete(Step& step) {
    const auto fits = [&](const VerbShape& verb) {
      const bool right_number = step.recv.size() == 1  ? verb.recv != Arity::none
                                : step.recv.size() > 1 ? verb.recv == Arity::some
                                                       : verb.recv == Arity::none;
      return right_number && verb.has_send == !step.send_to.empty();
    };
    const VerbShape* verb = nullptr;
    while (!verb || !fits(*verb)) verb = &kVerbs[pick(static_cast<int>(std::size(kVerbs)))];
    step.verb = verb->verb;
    const Place places[] = {scratch(0), scratch(shape_.widest), kOutput, kInput};
    if (verb->has_src) step.src = places[pick(4)];
    if (verb->has_dst) step.dst = places[pick(3)];
  }

  void receive(const Ends& ends) {
    const auto [src, dst, tag] = ends;
    Link& link = links_[ends];
    Step step;
    step.verb = Verb::recv;
    step.lane = link.lane;
    step.chunks = link.under_way.front();
    step.recv = {{src, tag}};
    step.dst = kOutput;
    link.under_way.pop_front();
    programs_[at(dst)].push_back(step);
  }

  /// No lane may be without a step.
  void fill(int rank, int lane) {
    std::vector<Step>& steps = programs_[at(rank)];
    if (std::any_of(steps.begin(), steps.end(), [&](const Step& step) { return step.lane == lane; })) return;
    Step step;
    step.verb = Verb::copy;
    step.lane = lane;
    step.src = kInput;
    step.dst = kOutput;
    steps.push_back(step);
  }

  std::mt19937_64 random_;
  ScheduleShape shape_;
  std::vector<int> num_lanes_;
  std::vector<Port> ports_;
  std::map<Ends, Link> links_;
  std::vector<std::vector<Step>> programs_;
};

}  // namespace ringtree::testing
