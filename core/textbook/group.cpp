// See group.h.
#include "core/textbook/group.h"

#include <sched.h>

#include <cstring>
#include <utility>

#include "core/base/error.h"
#include "core/base/fork_count.h"
#include "core/textbook/tcp_wire.h"

namespace ringtree::textbook {
namespace {

constexpr int kPauses = 4000;  // as the engine at its most patient (core/engine/wait_policy.h)

int num_usable_cores() {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  return sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
}

}  // namespace

Group::Group(Store& store, int rank, int world_size, Style style, double timeout_s, const std::string& prefix)
    : rank_(rank),
      world_size_(world_size),
      fork_count_(fork_count()),
      style_(style),
      timeout_s_(timeout_s),
      watch_(rank, world_size),
      inbox_(world_size) {
  if (!(timeout_s > 0)) throw UsageError("the timeout must be above 0 s");
  watch_.begin(making_, 0, timeout_s);
  MeshEvents events;
  events.on_message = [this](int peer, ControlType type, std::string payload, int fd) {
    Announcement announcement{std::move(payload), Fd(fd)};
    if (type == ControlType::abort) return watch_.on_abort(announcement.payload);
    inbox_.add(peer, std::move(announcement));
  };
  events.on_gone = [this](int peer, bool said_bye) { watch_.on_gone(peer, said_bye); };
  mesh_ = std::make_unique<Mesh>(store, rank, world_size, Deadline::after_seconds(timeout_s), std::move(events),
                                 MeshOptions{prefix, std::string("textbook ") + style_name(style)});
  watch_.attach(*mesh_);
  if (style == Style::tcp) {
    wire_ = std::make_unique<TcpWire>(*mesh_, inbox_, watch_);
  } else {
    const int pauses = spins(style) && num_usable_cores() >= world_size ? kPauses : 0;
    auto mail = std::make_unique<MailboxWire>(*mesh_, inbox_, watch_, pauses);
    mail_ = mail.get();
    wire_ = std::move(mail);
  }
}

Group::~Group() { close(); }

void Group::close() {
  if (mesh_) mesh_->close();
  wire_.reset();
}

void Group::check_usable() const {
  if (fork_count() != fork_count_) throw UsageError("this group was made before fork(); a child must make its own");
  if (!wire_) throw UsageError("this group was closed; make a new one");
}

std::unique_ptr<PreparedCall> Group::prepare(const Schedule& schedule, size_t count, Dtype dtype, ReduceOp op) {
  check_usable();
  if (watch_.failed()) watch_.raise();
  const ScheduleShape& shape = schedule.shape();
  if (shape.collective != Collective::all_reduce || shape.num_ranks != world_size_)
    throw UsageError("the textbook runs all_reduce of " + std::to_string(world_size_) + " ranks here, not " +
                     collective_name(shape.collective) + " of " + std::to_string(shape.num_ranks));
  auto call = std::make_unique<PreparedCall>();
  call->fold = {fold_kernel(dtype, op), item_size(dtype)};
  if (!call->fold.kernel) throw UsageError(why_undefined(dtype, op));
  if (scale_kernel(dtype, op)) throw UsageError(std::string("the textbook has no ") + reduce_op_name(op));
  call->finish = finish_kernel(dtype, op);
  call->count = count;
  call->dtype = dtype;
  call->name = std::string("all_reduce by ") + shape.name + " (textbook-" + style_name(style_) + ", " +
               std::to_string(count) + " " + dtype_name(dtype) + ")";
  call->bound = bind_rounds(schedule, rank_, count, item_size(dtype), style_ == Style::fused);
  watch_.begin(call->name, 0, timeout_s_);
  try {
    call->scratch.resize(call->bound.scratch_bytes);
    wire_->make_room(call->bound);
  } catch (const std::exception& error) {  // the others get ready, too, and would wait for us
    if (!watch_.failed())
      watch_.fail(Trouble::peer, watch_.describe(rank_) + " could not prepare " + call->name + ": " + error.what());
    throw;
  }
  return call;
}

void Group::run(PreparedCall& call, const void* input, void* output) {
  check_usable();
  if (watch_.failed()) watch_.raise();
  watch_.begin(call.name, ++sequence_, timeout_s_);
  const Memory memory{static_cast<const std::byte*>(input), static_cast<std::byte*>(output), call.scratch.data()};
  if (!walk(call, memory)) watch_.raise();
  if (call.finish) call.finish(output, call.count, world_size_);
}

bool Group::walk(PreparedCall& call, const Memory& memory) {
  if (style_ == Style::fused) return walk_fused(call.bound, memory, call.fold, *mail_);
  return walk_separately(call.bound, memory, call.fold, *wire_);
}

}  // namespace ringtree::textbook
