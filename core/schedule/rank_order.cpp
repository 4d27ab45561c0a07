// See rank_order.h.
#include "core/schedule/rank_order.h"

#include <algorithm>

namespace ringtree {
namespace {

bool takes_all_in_order(const Step& step, int rank, int num_ranks) {
  if (step.src.buffer != Buffer::input || step.src_at != rank) return false;
  if (static_cast<int>(step.recv.size()) != num_ranks - 1) return false;
  for (int i = 0; i < num_ranks - 1; ++i)
    if (step.recv[static_cast<size_t>(i)].peer != (i < rank ? i : i + 1)) return false;
  return true;
}

/// What `program`'s rank sends to `reader` over this tag is its input, as it is.
bool sends_its_input(const Program& program, int reader, int tag) {
  return std::none_of(program.steps().begin(), program.steps().end(), [&](const Step& step) {
    const bool goes_there =
        step.send_tag == tag && std::find(step.send_to.begin(), step.send_to.end(), reader) != step.send_to.end();
    return goes_there && (!step.recv.empty() || step.src.buffer != Buffer::input);
  });
}

}  // namespace

bool folds_in_rank_order(const Schedule& schedule) {
  const int n = schedule.shape().num_ranks;
  std::vector<Program> programs;
  for (int rank = 0; rank < n; ++rank) programs.push_back(schedule.program(rank));
  for (const Program& program : programs)
    for (const Step& step : program.steps()) {
      if (!shape_of(step.verb).reduces) continue;
      if (!takes_all_in_order(step, program.rank(), n)) return false;
      for (const Endpoint& end : step.recv)
        if (!sends_its_input(programs[static_cast<size_t>(end.peer)], program.rank(), end.tag)) return false;
    }
  return true;
}

}  // namespace ringtree
