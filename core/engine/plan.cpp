// See plan.h.
#include "core/engine/plan.h"

#include "core/protocol/simple.h"

namespace ringtree {
namespace {

// A lane's steps are laid out together: the executor walks them in order.
class Compiler {
 public:
  Compiler(const Program& program, Plan& plan, LinkSource& links) : program_(program), plan_(plan), links_(links) {
    steps_of_lane_.resize(static_cast<size_t>(program.num_lanes()));
    place_in_lane_.resize(program.steps().size());
    for (size_t i = 0; i < program.steps().size(); ++i) {
      auto& steps = steps_of_lane_[static_cast<size_t>(program.steps()[i].lane)];
      place_in_lane_[i] = static_cast<int>(steps.size());
      steps.push_back(static_cast<int>(i));
    }
  }

  void compile_channel(int channel) {
    const int first_lane = static_cast<int>(plan_.lanes.size());
    for (const std::vector<int>& steps : steps_of_lane_) {
      plan_.lanes.push_back({channel, static_cast<int>(plan_.steps.size()), static_cast<int>(steps.size())});
      for (int index : steps) compile_step(index, channel, first_lane);
    }
  }

 private:
  void compile_step(int index, int channel, int first_lane) {
    const Step& step = program_.steps()[static_cast<size_t>(index)];
    if (static_cast<int>(step.recv.size()) + 1 > kMaxFold)
      throw UsageError(plan_.schedule->shape().name + ": rank " + std::to_string(program_.rank()) + ", step " +
                       std::to_string(index) + " folds more than " + std::to_string(kMaxFold) + " operands");
    PlanStep out;
    out.reduces = shape_of(step.verb).reduces;
    out.chunks = step.chunks;
    out.src = step.src;
    out.dst = step.dst;
    out.src_at = step.src_at;
    out.first_recv = static_cast<int>(plan_.recv_ends.size());
    out.num_recv = static_cast<int>(step.recv.size());
    for (const Endpoint& end : step.recv) plan_.recv_ends.push_back(links_.recv_end(end.peer, end.tag, channel));
    if (!step.send_to.empty()) out.send = links_.send_end(step.send_to, step.send_tag, channel);
    out.first_dependency = static_cast<int>(plan_.dependencies.size());
    for (const Dependency& dependency : program_.dependencies()[static_cast<size_t>(index)]) {
      const size_t earlier = static_cast<size_t>(dependency.step);
      plan_.dependencies.push_back({first_lane + program_.steps()[earlier].lane, place_in_lane_[earlier],
                                    dependency.by_slice, dependency.previous_pass});
    }
    out.num_dependencies = static_cast<int>(plan_.dependencies.size()) - out.first_dependency;
    plan_.steps.push_back(out);
  }

  const Program& program_;
  Plan& plan_;
  LinkSource& links_;
  std::vector<std::vector<int>> steps_of_lane_;
  std::vector<int> place_in_lane_;
};

}  // namespace

std::unique_ptr<Plan> compile_plan(std::shared_ptr<const Schedule> schedule, const Program& program, uint64_t key,
                                   int num_channels, bool emulated, LinkSource& links) {
  auto plan = std::make_unique<Plan>();
  plan->schedule = std::move(schedule);
  plan->key = key;
  plan->num_channels = num_channels;
  plan->num_scratch = program.num_scratch();
  Compiler compiler(program, *plan, links);
  for (int channel = 0; channel < num_channels; ++channel) compiler.compile_channel(channel);
  plan->states.resize(plan->lanes.size());
  if (emulated) plan->step_times.resize(plan->steps.size());
  // A scratch slot holds one chunk's piece of one pass, at most slots/2 slices divided by the widest step.
  const size_t slot_bytes = kSlots / 2 * kSlotBytes / static_cast<size_t>(plan->schedule->shape().widest);
  plan->scratch.assign(static_cast<size_t>(num_channels),
                       std::vector<std::byte>(static_cast<size_t>(plan->num_scratch) * slot_bytes));
  return plan;
}

}  // namespace ringtree
