// See step_table.h.
#include "core/verify/step_table.h"

#include <algorithm>

namespace ringtree {

StepTable::StepTable(const Schedule& schedule) : shape(schedule.shape()) {
  first_step.push_back(0);
  first_scratch.push_back(0);
  for (int rank = 0; rank < shape.num_programs(); ++rank) append(schedule.program(rank));
}

void StepTable::append(const Program& program) {
  const int base = first_step.back();
  std::vector<int> last_in_lane(static_cast<size_t>(program.num_lanes()), -1);
  const auto size = [](const auto& all) { return static_cast<int>(all.size()); };
  for (int i = 0; i < size(program.steps()); ++i) {
    const Step& step = program.steps()[i];
    FlatStep& flat = steps.emplace_back();
    flat.verb = step.verb;
    flat.src = step.src.buffer;
    flat.dst = step.dst.buffer;
    flat.rank = program.rank();
    flat.lane_before = last_in_lane[step.lane];
    last_in_lane[step.lane] = base + i;
    flat.chunks = step.chunks;
    flat.src_slot = step.src.slot;
    flat.dst_slot = step.dst.slot;
    flat.src_at = step.src_at;
    flat.recv_begin = size(recvs);
    for (const Endpoint& end : step.recv) recvs.push_back({end.peer, end.tag});
    flat.recv_end = size(recvs);
    flat.send_begin = size(sends);
    for (int peer : step.send_to) sends.push_back({peer, step.send_tag});
    flat.send_end = size(sends);
    flat.wait_begin = size(waits);
    for (const Dependency& dependency : program.dependencies()[i])
      if (!dependency.previous_pass) waits.push_back(base + dependency.step);
    flat.wait_end = size(waits);
  }
  first_step.push_back(size(steps));
  first_scratch.push_back(first_scratch.back() + program.num_scratch());
}

std::string StepTable::describe(int id) const {
  return shape.called(steps[id].rank) + ", step " + std::to_string(index(id)) + " (" + verb_name(steps[id].verb) + ")";
}

std::string join(std::span<const int> numbers) {
  constexpr size_t kShown = 12;
  std::string text;
  for (size_t i = 0; i < std::min(numbers.size(), kShown); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(numbers[i]);
  if (numbers.size() > kShown) text += ", … (" + std::to_string(numbers.size()) + " in all)";
  return text;
}

std::string describe_chunks(const ChunkRange& range, int num_chunks) {
  std::vector<int> ids;
  for (int i = 0; i < range.count; ++i) ids.push_back(range.id(i, num_chunks));
  return (range.count == 1 ? "chunk " : "chunks ") + join(ids);
}

}  // namespace ringtree
