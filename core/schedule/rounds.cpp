// See rounds.h. All ranks are placed phase by phase; only then is one rank's part written down.
#include "core/schedule/rounds.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace ringtree {
namespace {

constexpr int kUnknown = -1;

/// A message: on which link, at which place of the link's messages.
struct Message {
  int link = 0;
  int place = 0;
};

/// One rank's program while it is being placed in phases.
struct RankState {
  std::vector<Step> steps;
  std::vector<std::vector<int>> waits;      // step -> earlier steps that it waits for
  std::vector<std::vector<int>> lanes;      // lane -> its steps
  std::vector<size_t> next;                 // lane -> how many of them are placed
  std::vector<std::vector<Message>> sent;   // step -> its outgoing messages, as in send_to
  std::vector<std::vector<Message>> heard;  // step -> its incoming ones, as in recv
  std::vector<int> phase;                   // step -> phase in which it runs
  std::vector<int> done;                    // step -> phase from which others may rely on it
  std::vector<int> order;                   // steps as they run
};

class Placing {
 public:
  explicit Placing(const Schedule& schedule) : schedule_(schedule) {
    for (int rank = 0; rank < schedule.shape().num_ranks; ++rank) add_rank(schedule.program(rank));
  }

  void run() {
    for (int phase = 0; num_left_ > 0; ++phase) {
      const size_t before = num_left_;
      sent_now_.clear();
      for (RankState& state : states_) place_phase(state, phase);
      // A message counts from the next phase on, so the ranks' order inside a phase can't matter.
      for (const Message& message : sent_now_) round_of(message) = phase + 1;
      if (!sent_now_.empty()) last_round_ = phase + 1;
      if (num_left_ == before && last_round_ < phase)
        throw UsageError("schedule '" + schedule_.shape().name + "' can't finish: " + std::to_string(num_left_) +
                         " steps wait forever; run ringtree verify");
    }
  }

  std::vector<Round> rounds_of(int rank) const;

 private:
  std::vector<int> free_from_phases(const RankState& state) const;
  void add_rank(const Program& program) {
    RankState& state = states_.emplace_back();
    const int rank = program.rank();
    state.steps = program.steps();
    state.lanes.resize(static_cast<size_t>(program.num_lanes()));
    state.next.resize(state.lanes.size());
    for (size_t i = 0; i < state.steps.size(); ++i) {
      const Step& step = state.steps[i];
      std::vector<int>& waits = state.waits.emplace_back();
      // Scratch that is used again in a next pass does not matter: there is one pass.
      for (const Dependency& dependency : program.dependencies()[i])
        if (!dependency.previous_pass) waits.push_back(dependency.step);
      std::vector<int>& lane = state.lanes[static_cast<size_t>(step.lane)];
      if (!lane.empty()) waits.push_back(lane.back());
      lane.push_back(static_cast<int>(i));
      state.sent.emplace_back();
      for (int peer : step.send_to) state.sent.back().push_back(next_on(rank, peer, step.send_tag, num_sent_));
      state.heard.emplace_back();
      for (const Endpoint& end : step.recv) state.heard.back().push_back(next_on(end.peer, rank, end.tag, num_heard_));
    }
    state.phase.assign(state.steps.size(), kUnknown);
    state.done.assign(state.steps.size(), kUnknown);
    num_left_ += state.steps.size();
  }

  /// The next message of a link at one of its ends, which `counts` counts.
  Message next_on(int source, int destination, int tag, std::vector<int>& counts) {
    const auto [entry, is_new] = links_.try_emplace({source, destination, tag}, static_cast<int>(rounds_.size()));
    if (is_new) {
      rounds_.emplace_back();
      tags_.push_back(tag);
      num_sent_.push_back(0);
      num_heard_.push_back(0);
    }
    const size_t link = static_cast<size_t>(entry->second);
    const int place = counts[link]++;
    if (rounds_[link].size() <= static_cast<size_t>(place)) rounds_[link].push_back(kUnknown);
    return {entry->second, place};
  }

  int& round_of(const Message& message) {
    return rounds_[static_cast<size_t>(message.link)][static_cast<size_t>(message.place)];
  }
  int round_of(const Message& message) const {
    return rounds_[static_cast<size_t>(message.link)][static_cast<size_t>(message.place)];
  }

  void place_phase(RankState& state, int phase) {
    for (bool progress = true; progress;) {
      progress = false;
      for (size_t lane = 0; lane < state.lanes.size(); ++lane)
        while (state.next[lane] < state.lanes[lane].size() &&
               ready(state, state.lanes[lane][state.next[lane]], phase)) {
          place(state, state.lanes[lane][state.next[lane]++], phase);
          progress = true;
        }
    }
  }

  void place(RankState& state, int step, int phase) {
    const size_t at = static_cast<size_t>(step);
    state.phase[at] = phase;
    // What is sent from its place must not be overwritten before the next round is over.
    state.done[at] = state.sent[at].empty() ? phase : phase + 1;
    state.order.push_back(step);
    sent_now_.insert(sent_now_.end(), state.sent[at].begin(), state.sent[at].end());
    --num_left_;
  }

  bool ready(const RankState& state, int step, int phase) const {
    const size_t at = static_cast<size_t>(step);
    const auto is_done = [&](int earlier) {
      const int done = state.done[static_cast<size_t>(earlier)];
      return done != kUnknown && done <= phase;
    };
    const auto is_there = [&](const Message& message) {
      const int round = round_of(message);
      return round != kUnknown && round <= phase;
    };
    return std::all_of(state.waits[at].begin(), state.waits[at].end(), is_done) &&
           std::all_of(state.heard[at].begin(), state.heard[at].end(), is_there);
  }

  const Schedule& schedule_;
  std::vector<RankState> states_;
  std::map<std::tuple<int, int, int>, int> links_;  // (source, destination, tag) -> link
  std::vector<std::vector<int>> rounds_;            // link, place -> round in which the message travels
  std::vector<int> tags_;                           // of each link
  std::vector<int> num_sent_, num_heard_;           // of each link, while ranks are added
  std::vector<Message> sent_now_;                   // in the phase that is being placed
  size_t num_left_ = 0;
  int last_round_ = 0;
};

/// A transfer with what it is posted by.
using Posted = std::pair<std::tuple<int, int, int>, RoundMessage>;  // (tag, place on the link, peer)

std::vector<RoundMessage> in_order(std::vector<Posted>& posted) {
  std::sort(posted.begin(), posted.end(), [](const Posted& a, const Posted& b) { return a.first < b.first; });
  std::vector<RoundMessage> transfers;
  for (const Posted& one : posted) transfers.push_back(one.second);
  return transfers;
}

/// The phase from which each step's destination may be written: whoever touches the place earlier in the sequence is
/// done. Input and output count as one place, as if in place.
std::vector<int> Placing::free_from_phases(const RankState& state) const {
  const int num_chunks = schedule_.shape().num_chunks;
  std::map<int, int> touched;  // chunk, or num_chunks + slot of scratch -> phase from which it is free
  std::vector<int> free(state.steps.size(), 0);
  for (size_t i = 0; i < state.steps.size(); ++i) {
    const Step& step = state.steps[i];
    const auto key = [&](const Place& place, int k) {
      return place.buffer == Buffer::scratch ? num_chunks + place.slot + k : step.chunks.id(k, num_chunks);
    };
    for (int k = 0; step.dst && k < step.chunks.count; ++k)
      if (const auto entry = touched.find(key(step.dst, k)); entry != touched.end())
        free[i] = std::max(free[i], entry->second);
    for (const Place& place : {step.src, step.dst})
      for (int k = 0; place && k < step.chunks.count; ++k) {
        int& phase = touched[key(place, k)];
        phase = std::max(phase, state.done[i]);
      }
  }
  return free;
}

std::vector<Round> Placing::rounds_of(int rank) const {
  const RankState& state = states_[static_cast<size_t>(rank)];
  const std::vector<int> free = free_from_phases(state);
  const size_t most = static_cast<size_t>(last_round_) + 1;
  std::vector<Round> rounds(most);
  std::vector<std::vector<Posted>> sends(most), recvs(most);
  for (int step : state.order) {
    const size_t at = static_cast<size_t>(step), phase = static_cast<size_t>(state.phase[at]);
    if (rounds.size() <= phase) rounds.resize(phase + 1);
    rounds[phase].steps.push_back(step);
    const int free_from = free[at];
    for (size_t i = 0; i < state.sent[at].size(); ++i) {
      const Message& message = state.sent[at][i];
      const int peer = state.steps[at].send_to[i];
      sends[phase + 1].push_back(
          {{tags_[static_cast<size_t>(message.link)], message.place, peer}, {peer, step, 0, false}});
    }
    for (size_t i = 0; i < state.heard[at].size(); ++i) {
      const Message& message = state.heard[at][i];
      const int peer = state.steps[at].recv[i].peer, round = round_of(message);
      recvs[static_cast<size_t>(round)].push_back({{tags_[static_cast<size_t>(message.link)], message.place, peer},
                                                   {peer, step, static_cast<int>(i), free_from < round}});
    }
  }
  for (size_t i = 0; i < most; ++i) {
    rounds[i].sends = in_order(sends[i]);
    rounds[i].recvs = in_order(recvs[i]);
  }
  while (rounds.size() > 1 && rounds.back().sends.empty() && rounds.back().recvs.empty() && rounds.back().steps.empty())
    rounds.pop_back();
  return rounds;
}

}  // namespace

std::vector<Round> rank_rounds(const Schedule& schedule, int rank) {
  if (rank < 0 || rank >= schedule.shape().num_ranks)
    throw UsageError("rank " + std::to_string(rank) + " is not within a world of " +
                     std::to_string(schedule.shape().num_ranks));
  schedule.require_ranks_alone("a transport between ranks");
  Placing placing(schedule);
  placing.run();
  return placing.rounds_of(rank);
}

}  // namespace ringtree
