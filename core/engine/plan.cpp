// See plan.h.
#include "core/engine/plan.h"

#include <algorithm>
#include <set>

#include "core/engine/link_placer.h"
#include "core/protocol/simple.h"

namespace ringtree {
namespace {

// A lane's steps are laid out together: the executor walks them in order.
class Compiler {
 public:
  Compiler(const Program& program, Plan& plan, LinkSource& links)
      : program_(program), plan_(plan), links_(links), direct_(find_direct_uses(*plan.schedule, program)) {
    steps_of_lane_.resize(static_cast<size_t>(program.num_lanes()));
    place_in_lane_.resize(program.steps().size());
    for (size_t i = 0; i < program.steps().size(); ++i) {
      auto& steps = steps_of_lane_[static_cast<size_t>(program.steps()[i].lane)];
      place_in_lane_[i] = static_cast<int>(steps.size());
      steps.push_back(static_cast<int>(i));
      readers_.insert(program.steps()[i].send_to.begin(), program.steps()[i].send_to.end());
      for (const Endpoint& end : program.steps()[i].recv) senders_.insert(end.peer);
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
    out.first_chunk = step.chunks.id(0, plan_.schedule->shape().num_chunks);
    out.src = step.src;
    out.dst = step.dst;
    out.src_at = step.src_at;
    out.first_recv = static_cast<int>(plan_.recv_ends.size());
    out.num_recv = static_cast<int>(step.recv.size());
    for (const Endpoint& end : step.recv) {
      plan_.recv_ends.push_back(links_.recv_end(end.peer, end.tag, channel));
      if (!readers_.contains(end.peer)) plan_.recv_ends.back()->set_one_way();
    }
    if (!step.send_to.empty()) {
      out.send = links_.send_end(step.send_to, step.send_tag, channel);
      if (std::none_of(step.send_to.begin(), step.send_to.end(), [this](int peer) { return senders_.contains(peer); }))
        out.send->set_one_way();
    }
    out.leaves_host = !step.send_to.empty() && links_.are_on_other_hosts(step.send_to);
    if (out.leaves_host || links_.can_read_in_place(step.send_to)) {
      out.direct = direct_[static_cast<size_t>(index)];
    } else {
      out.direct.takes_answer = direct_[static_cast<size_t>(index)].takes_answer;
    }
    if (!out.leaves_host && (out.direct.out_of_place || out.direct.in_place)) plan_.direct_ends.push_back(out.send);
    out.first_dependency = static_cast<int>(plan_.dependencies.size());
    for (const Dependency& dependency : program_.dependencies()[static_cast<size_t>(index)]) {
      const size_t earlier = static_cast<size_t>(dependency.step);
      plan_.dependencies.push_back({first_lane + program_.steps()[earlier].lane, place_in_lane_[earlier],
                                    dependency.by_slice, dependency.previous_pass});
    }
    out.num_dependencies = static_cast<int>(plan_.dependencies.size()) - out.first_dependency;
    plan_.steps.push_back(out);
    plan_.program_steps.push_back(index);
  }

  const Program& program_;
  Plan& plan_;
  LinkSource& links_;
  std::vector<DirectUse> direct_;
  std::vector<std::vector<int>> steps_of_lane_;
  std::vector<int> place_in_lane_;
  std::set<int> readers_, senders_;  // ranks that this one sends to, and receives from
};

}  // namespace

Plan::Plan() = default;
Plan::~Plan() = default;

void bind_whole_steps(BoundCall& call, Plan& plan) {
  call.whole_steps.clear();
  if (call.cut.num_passes > 1 || call.uneven) return;
  // What comes from another host may be placed (link_placer.h), and then does not lie in its line.
  const bool may_be_in_lines = plan.protocol == Protocol::simple && plan.placers.empty();
  call.whole_steps.resize(plan.steps.size());
  for (const PlanLane& lane : plan.lanes)
    for (int i = lane.first_step; i < lane.first_step + lane.num_steps; ++i) {
      const PlanStep& step = plan.steps[static_cast<size_t>(i)];
      const BoundCall::Part& part = call.part(step.first_chunk, lane.channel);
      if (step.chunks.count != 1 || part.length > call.cut.slice_bytes) return call.whole_steps.clear();
      auto place = [&](const Place& of) -> size_t {
        switch (of.buffer) {
          case Buffer::input:
            return part.input;
          case Buffer::output:
            return part.output;
          case Buffer::scratch:
            return reinterpret_cast<size_t>(plan.scratch[static_cast<size_t>(lane.channel)].data()) +
                   static_cast<size_t>(of.slot) * call.cut.pass_bytes;
          case Buffer::none:
            break;
        }
        return 0;
      };
      call.whole_steps[static_cast<size_t>(i)] = {.reduces = step.reduces,
                                                  .in_lines = may_be_in_lines && part.length <= kInlineBytes,
                                                  .src_base = static_cast<uint8_t>(step.src.buffer),
                                                  .dst_base = static_cast<uint8_t>(step.dst.buffer),
                                                  .src_at = step.src_at,
                                                  .num_recv = step.num_recv,
                                                  .num_dependencies = step.num_dependencies,
                                                  .bytes = part.length,
                                                  .items = part.length / call.item_bytes,
                                                  .src = place(step.src),
                                                  .dst = place(step.dst),
                                                  .send = step.send,
                                                  .recv = plan.recv_ends.data() + step.first_recv,
                                                  .dependencies = plan.dependencies.data() + step.first_dependency,
                                                  .step = &step};
    }
}

std::unique_ptr<Plan> compile_plan(std::shared_ptr<const Schedule> schedule, const Program& program, uint64_t key,
                                   Protocol protocol, int num_channels, bool emulated, LinkSource& links) {
  auto plan = std::make_unique<Plan>();
  plan->schedule = std::move(schedule);
  plan->key = key;
  plan->protocol = protocol;
  plan->num_channels = num_channels;
  plan->num_scratch = program.num_scratch();
  Compiler compiler(program, *plan, links);
  for (int channel = 0; channel < num_channels; ++channel) compiler.compile_channel(channel);
  std::sort(plan->direct_ends.begin(), plan->direct_ends.end());
  plan->direct_ends.erase(std::unique(plan->direct_ends.begin(), plan->direct_ends.end()), plan->direct_ends.end());
  plan->states.resize(plan->lanes.size());
  if (protocol == Protocol::simple && !emulated) plan->placers = find_placers(*plan, program);
  if (emulated) plan->step_times.resize(plan->steps.size());
  // A scratch slot holds one chunk's piece of one pass, at most slots/2 slices divided by the widest step.
  const size_t slot_bytes = kSlots / 2 * kSlotBytes / static_cast<size_t>(plan->schedule->shape().widest);
  plan->scratch.assign(static_cast<size_t>(num_channels),
                       std::vector<std::byte>(static_cast<size_t>(plan->num_scratch) * slot_bytes));
  if (protocol != Protocol::simple) {
    int most = 0;
    for (const PlanStep& step : plan->steps) most = std::max(most, step.num_recv);
    plan->staging.resize(static_cast<size_t>(most + 1) * info_of(protocol).slice_bytes);
  }
  return plan;
}

}  // namespace ringtree
