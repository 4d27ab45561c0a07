// measure(): delivers every message of a schedule once, lane by lane, and counts. One slice a step, one pass, and as
// many slots as are wanted: whether few slots suffice and the sums are right is for the verifier to say. See
// cost_summary.h.
#include "core/schedule/cost_summary.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <set>

namespace ringtree {
namespace {

/// One rank on its way through its program. A step's depth is the number of messages on the longest chain that it ends.
struct Runner {
  explicit Runner(Program its_program)
      : program(std::move(its_program)), depth(program.steps().size(), -1), lanes(program.num_lanes()) {
    for (size_t i = 0; i < program.steps().size(); ++i)
      lanes[static_cast<size_t>(program.steps()[i].lane)].push_back(static_cast<int>(i));
  }

  Program program;
  std::vector<int> depth;                                        // by step; -1: has not run
  std::vector<std::deque<int>> lanes;                            // steps that are still to run
  std::vector<int> lane_depth = std::vector<int>(lanes.size());  // of the lane's latest step
  std::map<std::pair<int, int>, std::deque<int>> inbox;          // (peer, tag) -> depths of the messages that wait
  bool is_queued = true;
};

/// What a step reads for each byte of its result: what arrives, its own operand, and what `reduce` finds in its dst.
int64_t num_operands(const Step& step) {
  return std::ssize(step.recv) + (step.src ? 1 : 0) + (step.verb == Verb::reduce ? 1 : 0);
}

class Measurer {
 public:
  explicit Measurer(const Schedule& schedule) : schedule_(schedule) {
    for (int rank = 0; rank < schedule.shape().num_programs(); ++rank) {
      runners_.emplace_back(schedule.program(rank));
      queue_.push_back(rank);
      add_volume(runners_.back().program);
    }
    add_one_way();
  }

  CostSummary run() {
    while (!queue_.empty()) {
      const int rank = queue_.front();
      queue_.pop_front();
      runners_[static_cast<size_t>(rank)].is_queued = false;
      advance(rank);
    }
    for (const Runner& runner : runners_) check_finished(runner);
    return cost_;
  }

 private:
  void add_volume(const Program& program) {
    int64_t sent = 0, stored = 0, loaded = 0, received = 0;
    std::set<std::pair<std::vector<int>, int>> links;
    for (const Step& step : program.steps()) {
      const VerbShape& verb = shape_of(step.verb);
      if (verb.has_send) sent += step.chunks.count;
      if (verb.has_dst) stored += step.chunks.count;
      loaded += num_operands(step) * step.chunks.count;
      received += std::ssize(step.recv) * step.chunks.count;
      cost_.messages += std::ssize(step.send_to);
      if (verb.has_send) links.emplace(std::vector<int>(step.send_to.begin(), step.send_to.end()), step.send_tag);
    }
    const ScheduleShape& shape = schedule_.shape();
    cost_.links += std::ssize(links);
    if (shape.is_switch(program.rank())) return;  // it has no memory that is written or read
    const double num_chunks = chunks_of_vector();
    const double written = static_cast<double>(sent + stored) / num_chunks;
    const double read = static_cast<double>(loaded) / num_chunks;
    cost_.steps = std::max(cost_.steps, static_cast<int>(program.steps().size()));
    cost_.sent = std::max(cost_.sent, static_cast<double>(sent) / num_chunks);
    cost_.written = std::max(cost_.written, written);
    cost_.read = std::max(cost_.read, read);
    cost_.total_written += written;
    cost_.total_read += read;
    cost_.total_in_slots += static_cast<double>(sent + received) / num_chunks;
    cost_.total_received += static_cast<double>(received) / num_chunks;
  }

  void add_one_way() {
    std::set<std::pair<int, int>> alone;  // sender and reader of messages that nobody else reads
    for (const Runner& runner : runners_)
      for (const Step& step : runner.program.steps())
        if (step.send_to.size() == 1) alone.emplace(runner.program.rank(), step.send_to[0]);
    int64_t sent = 0;
    for (const Runner& runner : runners_) {
      if (schedule_.shape().is_switch(runner.program.rank())) continue;
      for (const Step& step : runner.program.steps())
        if (shape_of(step.verb).has_send &&
            (step.send_to.size() != 1 || !alone.contains({step.send_to[0], runner.program.rank()})))
          sent += step.chunks.count;
    }
    cost_.total_one_way = static_cast<double>(sent) / chunks_of_vector();
  }

  /// As many chunks as what shares are of.
  double chunks_of_vector() const {
    const ScheduleShape& shape = schedule_.shape();
    return static_cast<double>(shape.num_chunks) * blocks_of_rank(shape.collective, shape.num_ranks) /
           static_cast<double>(num_blocks(shape.collective, shape.num_ranks));
  }

  void advance(int rank) {
    Runner& runner = runners_[static_cast<size_t>(rank)];
    for (bool progress = true; progress;) {
      progress = false;
      for (std::deque<int>& lane : runner.lanes)
        while (!lane.empty() && can_run(runner, lane.front())) {
          run_step(rank, runner, lane.front());
          lane.pop_front();
          progress = true;
        }
    }
  }

  bool can_run(const Runner& runner, int index) const {
    const size_t i = static_cast<size_t>(index);
    for (const Dependency& dependency : runner.program.dependencies()[i])
      if (!dependency.previous_pass && runner.depth[static_cast<size_t>(dependency.step)] < 0) return false;
    for (const Endpoint& end : runner.program.steps()[i].recv) {
      const auto waiting = runner.inbox.find({end.peer, end.tag});
      if (waiting == runner.inbox.end() || waiting->second.empty()) return false;
    }
    return true;
  }

  void run_step(int rank, Runner& runner, int index) {
    const Step& step = runner.program.steps()[static_cast<size_t>(index)];
    int& lane_depth = runner.lane_depth[static_cast<size_t>(step.lane)];
    for (const Dependency& dependency : runner.program.dependencies()[static_cast<size_t>(index)])
      if (!dependency.previous_pass)
        lane_depth = std::max(lane_depth, runner.depth[static_cast<size_t>(dependency.step)]);
    for (const Endpoint& end : step.recv) {
      std::deque<int>& waiting = runner.inbox[{end.peer, end.tag}];
      lane_depth = std::max(lane_depth, waiting.front());
      waiting.pop_front();
    }
    runner.depth[static_cast<size_t>(index)] = lane_depth;
    for (int peer : step.send_to) {
      cost_.hops = std::max(cost_.hops, lane_depth + 1);
      Runner& reader = runners_[static_cast<size_t>(peer)];
      reader.inbox[{rank, step.send_tag}].push_back(lane_depth + 1);
      if (!reader.is_queued) queue_.push_back(peer);
      reader.is_queued = true;
    }
  }

  void check_finished(const Runner& runner) const {
    const std::string who = schedule_.shape().name + ": " + schedule_.shape().called(runner.program.rank());
    for (const std::deque<int>& lane : runner.lanes)
      if (!lane.empty())
        throw ScheduleError(who + ", step " + std::to_string(lane.front()) +
                            " waits forever; verify the schedule to find out why");
    for (const auto& [link, waiting] : runner.inbox)
      if (!waiting.empty())
        throw ScheduleError(who + " never receives " + std::to_string(waiting.size()) + " of " +
                            schedule_.shape().called(link.first) + "'s messages, tag " + std::to_string(link.second) +
                            "; verify the schedule to find out why");
  }

  const Schedule& schedule_;
  std::vector<Runner> runners_;
  std::deque<int> queue_;
  CostSummary cost_;
};

/// A mix's steps of one share, with lanes numbered anew.
Schedule only_share(const Schedule& mix, int share) {
  ScheduleShape shape = mix.shape();
  shape.shares = 1;
  return Schedule(shape, [&mix, share](ProgramBuilder& b) {
    const Program program = mix.program(b.rank());
    b.reserve_scratch(program.num_scratch());
    std::map<int, int> lanes;
    for (Step step : program.steps()) {
      if (step.chunks.first % mix.shape().shares != share) continue;
      step.lane = lanes.try_emplace(step.lane, static_cast<int>(lanes.size())).first->second;
      b.add(std::move(step));
    }
  });
}

}  // namespace

bool is_pipelined(const Schedule& schedule) {
  if (schedule.shape().shares == 1) return is_pipelined(measure(schedule));
  for (int share = 0; share < schedule.shape().shares; ++share)
    if (is_pipelined(measure(only_share(schedule, share)))) return true;
  return false;
}

CostSummary measure(const Schedule& schedule) { return Measurer(schedule).run(); }

}  // namespace ringtree
