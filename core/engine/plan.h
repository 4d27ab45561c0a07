// A schedule compiled for one rank: its steps with the links they use already looked up, channel by channel. A plan
// knows no size: where the bytes lie and how they are cut binds when the call is made (bound_call.h), so one plan
// serves every count and dtype.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/engine/bound_call.h"
#include "core/engine/direct.h"
#include "core/protocol/protocol.h"
#include "core/schedule/layout.h"
#include "core/schedule/schedule.h"
#include "core/transport/link.h"

namespace ringtree {

struct PlanDependency {
  int lane = 0;  // of the plan
  int step = 0;  // within that lane
  bool by_slice = false;
  bool previous_pass = false;
};

struct PlanStep {
  bool reduces = false;
  ChunkRange chunks;
  int first_chunk = 0;  // chunks.id(0): most steps have one
  Place src, dst;
  int src_at = 0;
  int first_recv = 0, num_recv = 0;  // into Plan::recv_ends
  SendEnd* send = nullptr;
  DirectUse direct;          // whether its operand may be read in place, and the sum be written there
  bool leaves_host = false;  // all its readers are on other hosts: then "read in place" means sent from there
  int first_dependency = 0, num_dependencies = 0;
};

/// The steps [first_step, first_step + num_steps) in order, on one channel.
struct PlanLane {
  int channel = 0;
  int first_step = 0, num_steps = 0;
};

/// How a lane stands. `checked` counts the conditions of the next slice step that are known to hold: they never cease
/// to, so each poll looks at the first open one only.
struct LaneState {
  size_t pass = 0;
  int step = 0;  // within the lane
  size_t slice = 0, num_slices = 0, step_bytes = 0;
  uint32_t fingerprint = 0;  // of the step's messages
  int run_index = 0;         // chunk within the step's range at which the next slice begins
  size_t run_offset = 0;     // byte within that chunk's piece
  int checked = 0;
  size_t seen = 0;         // of the message that is waited for: words or lines that are there (ll, ll128)
  int64_t virtual_ns = 0;  // emulated clusters: when the lane's last slice step was done
};

/// When each slice of a step was done, for the last two passes; emulated clusters only.
using StepTimes = std::array<std::array<int64_t, kSlots / 2>, 2>;

class LinkPlacer;

struct Plan {
  Plan();
  ~Plan();
  std::shared_ptr<const Schedule> schedule;
  uint64_t key = 0;
  Protocol protocol = Protocol::simple;
  int num_channels = 1;
  bool pipelined = false;  // messages are cut into slices also where a slot would carry them whole
  std::vector<PlanLane> lanes;
  std::vector<PlanStep> steps;
  std::vector<RecvEnd*> recv_ends;
  std::vector<SendEnd*> direct_ends;  // of steps whose operand peers of this host may read in place
  std::vector<PlanDependency> dependencies;
  std::vector<std::unique_ptr<LinkPlacer>> placers;  // of links from other hosts
  int num_scratch = 0;
  // Working memory, reused by every call so that the data path allocates nothing.
  std::vector<LaneState> states;
  std::vector<StepTimes> step_times;            // empty unless emulated
  std::vector<std::vector<std::byte>> scratch;  // one a channel
  std::vector<std::byte> staging;  // ll, ll128: a slice for each operand that arrives, and the one that leaves
  std::vector<int> program_steps;  // of each step, its place in the rank's program: for people

  std::byte* staged(int index) { return staging.data() + static_cast<size_t>(index) * info_of(protocol).slice_bytes; }
};

/// Fills call.whole_steps if the call is small enough.
void bind_whole_steps(BoundCall& call, Plan& plan);

/// Gives the ends of this rank's links; implemented by the communicator, which makes them on first use.
class LinkSource {
 public:
  virtual ~LinkSource() = default;
  virtual SendEnd* send_end(const std::vector<int>& readers, int tag, int channel) = 0;
  virtual RecvEnd* recv_end(int peer, int tag, int channel) = 0;
  /// Whether these readers can read this rank's memory; else its messages must be put into slots.
  virtual bool can_read_in_place(const std::vector<int>& readers) const = 0;
  /// Whether all of them are on other hosts.
  virtual bool are_on_other_hosts(const std::vector<int>& readers) const = 0;
};

/// Compiles `program` (this rank's) for `num_channels`. Throws UsageError where a step needs more than the engine has.
std::unique_ptr<Plan> compile_plan(std::shared_ptr<const Schedule> schedule, const Program& program, uint64_t key,
                                   Protocol protocol, int num_channels, bool emulated, LinkSource& links);

}  // namespace ringtree
