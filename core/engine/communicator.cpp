// See communicator.h.
#include "core/engine/communicator.h"

#include <unistd.h>

#include <bit>
#include <cstring>
#include <limits>

#include "core/reduce/kernels.h"

namespace ringtree {
namespace {

uint64_t combine(uint64_t hash, uint64_t word) {
  return (hash ^ word) * 0x9e3779b97f4a7c15u + (hash << 6) + (hash >> 29);
}

uint64_t hash_name(const std::string& name) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (unsigned char c : name) hash = (hash ^ c) * 0x100000001b3u;
  return hash;
}

// Where a rank's span of chunks begins in the collective's whole vector, and how long it is, in elements.
Extent span_extent(const CallArguments& arguments, const ChunkSpan& span) {
  // A span is everything or one block, so blocks are all that matters: as many "chunks" as ranks where there are
  // blocks.
  if (span.count == 0) return {0, 0};
  if (!has_blocks(arguments.collective)) return {0, arguments.count};
  return {static_cast<size_t>(span.first) * arguments.count, static_cast<size_t>(span.count) * arguments.count};
}

struct Spans {
  Extent input, output;
};

Spans spans(const CallArguments& arguments, int num_ranks, int rank) {
  const int blocks = has_blocks(arguments.collective) ? num_ranks : 1;
  return {span_extent(arguments, input_span(arguments.collective, num_ranks, blocks, arguments.root, rank)),
          span_extent(arguments, output_span(arguments.collective, num_ranks, blocks, arguments.root, rank))};
}

}  // namespace

Communicator::Communicator(Store& store, int rank, int world_size, const Settings& settings, AlgorithmTable table,
                           const std::string& prefix)
    : settings_(settings), table_(std::move(table)), pid_(getpid()), links_(settings) {
  auto on_link = [this](Session& session, int peer, std::string_view payload, int fd) {
    links_.on_announcement(session, peer, payload, fd);
  };
  session_ = std::make_unique<Session>(store, rank, world_size, settings, prefix, on_link);
  links_.attach(*session_);
  const int num_cores = count_cores();
  own_cores_ = num_cores >= world_size;
  policy_ = settings_.emulation ? WaitPolicy::emulated()
            : own_cores_        ? WaitPolicy::own_cores()
                                : WaitPolicy::shared_cores();
  budget_ = SpinBudget(policy_);
  machine_ = default_machine();
  machine_.num_cores = num_cores;
}

Communicator::~Communicator() { close(); }

void Communicator::close() {
  closed_.store(true, std::memory_order_relaxed);  // a flag of its own: orders nothing
  const bool ours = getpid() == pid_;              // in a child made by fork() only its copies are closed
  // acquire and release as in call(): the links are not used by two threads at once.
  const bool idle = !in_call_.exchange(true, std::memory_order_acquire);
  if (!idle && ours)
    session_->fail(FailureKind::peer, session_->describe(rank()) + " closed its communicator during a call");
  session_->close();
  if (!idle) return;  // the call's own links keep their descriptors until the communicator goes
  links_.close_descriptors();
  in_call_.store(false, std::memory_order_release);
}

// Every rank reads the same pages, so every rank counts alike: nothing needs to be agreed.
int Communicator::count_cores() const {
  std::array<uint64_t, kCpuMaskWords> all{};
  for (int rank = 0; rank < world_size(); ++rank)
    for (size_t i = 0; i < kCpuMaskWords; ++i) all[i] |= session_->page(rank).cpu_mask[i];
  int count = 0;
  for (uint64_t word : all) count += std::popcount(word);
  return std::max(1, count);
}

void Communicator::call(const CallArguments& arguments, const AlgorithmRef& algorithm) {
  if (getpid() != pid_) throw UsageError("this communicator was made before fork(); a child must make its own");
  if (closed_.load(std::memory_order_relaxed))  // pairs with the store in close()
    throw UsageError("this communicator was closed; make a new one");
  // acquire and release: whatever thread calls next sees what this call left in the plans.
  if (in_call_.exchange(true, std::memory_order_acquire))
    throw UsageError("two threads call collectives on one communicator at the same time; give each its own");
  struct Leave {
    std::atomic<bool>& flag;
    ~Leave() { flag.store(false, std::memory_order_release); }
  } leave{in_call_};
  if (session_->failed()) session_->raise_failure();
  check(arguments);
  call_checked(arguments, algorithm);
}

void Communicator::call_checked(const CallArguments& arguments, const AlgorithmRef& algorithm) {
  const Resolved resolved = resolve(arguments, algorithm);
  // Made before the others are told, so that an unknown name harms nobody; null if the plan exists.
  std::shared_ptr<const Schedule> schedule = schedule_for(arguments, resolved);
  CallDescription call;
  call.sequence = ++sequence_;
  call.collective = arguments.collective;
  call.dtype = arguments.dtype;
  call.op = reduces(arguments.collective) ? arguments.op : ReduceOp::sum;
  call.root = arguments.root;
  call.count = arguments.count;
  call.plan_key = resolved.plan_key;
  std::strncpy(call.algorithm, resolved.name->c_str(), sizeof call.algorithm - 1);
  session_->own_page().board.post(call);

  CallWatch watch(*session_, call, arguments.timeout_s > 0 ? arguments.timeout_s : settings_.timeout_s, interrupted_);
  // A rank that only sends would never see that it is alone: the root of a broadcast, the others in a reduce. Two such
  // ranks that disagree both look after both posted, or one looks after the other posted, so one of them sees it.
  if (has_root(call.collective)) {
    watch.compare_calls();
    if (session_->failed()) session_->raise_failure();
  }
  Plan* plan = nullptr;
  try {
    plan = schedule ? &make_plan(std::move(schedule), resolved.plan_key, watch) : plans_.at(resolved.plan_key).get();
  } catch (const std::exception& error) {  // the others have begun the call and would wait for us
    session_->fail(FailureKind::error,
                   session_->describe(rank()) + " could not begin " + call.to_string() + ": " + error.what());
    throw;
  }
  run(arguments, *plan, call, watch);
  // release, pairs with the acquire in Session::first_missing(): from now on we are not needed for this call.
  session_->own_page().completed.store(call.sequence, std::memory_order_release);
  last_description_ = call;
  last_reason_ = resolved.reason;
  last_plan_ = plan;
}

void Communicator::check(const CallArguments& arguments) const {
  const int n = world_size();
  if (!(arguments.timeout_s >= 0)) throw UsageError("timeout must be 0 (the communicator's) or above");
  if (arguments.root < 0 || arguments.root >= n)
    throw UsageError("root " + std::to_string(arguments.root) + " is not a rank of a world of " + std::to_string(n));
  if (!has_root(arguments.collective) && arguments.root != 0)
    throw UsageError(std::string(collective_name(arguments.collective)) + " has no root");
  if (reduces(arguments.collective) && !fold_kernel(arguments.dtype, arguments.op))
    throw UsageError(why_undefined(arguments.dtype, arguments.op));
  const size_t item = item_size(arguments.dtype);
  if (arguments.count > std::numeric_limits<size_t>::max() / item / static_cast<size_t>(n) / 2)
    throw UsageError("count " + std::to_string(arguments.count) + " is beyond the address space");

  const auto [input, output] = spans(arguments, n, rank());
  const size_t input_bytes = input.length * item, output_bytes = output.length * item;
  if (input_bytes > 0 && !arguments.input) throw UsageError("needs an input on this rank");
  if (output_bytes > 0 && !arguments.output) throw UsageError("needs an output on this rank");
  const auto in = reinterpret_cast<uintptr_t>(arguments.input), out = reinterpret_cast<uintptr_t>(arguments.output);
  const bool overlap = input_bytes > 0 && output_bytes > 0 && in < out + output_bytes && out < in + input_bytes;
  if (overlap && in - input.offset * item != out - output.offset * item)
    throw UsageError(
        "input and output overlap but are not in place: the same element must lie at the same address in both");
}

Communicator::Resolved Communicator::resolve(const CallArguments& arguments, const AlgorithmRef& algorithm) {
  Resolved resolved{&algorithm, &algorithm.name, nullptr, 0};
  uint64_t identity = algorithm.own_hash;
  if (algorithm.own) {
    const ScheduleShape& shape = algorithm.own->shape();
    if (shape.num_ranks != world_size() || shape.collective != arguments.collective || shape.root != arguments.root)
      throw UsageError("schedule " + shape.name + " is " + collective_name(shape.collective) + " of " +
                       std::to_string(shape.num_ranks) + " ranks, root " + std::to_string(shape.root) +
                       "; this call is " + collective_name(arguments.collective) + " of " +
                       std::to_string(world_size()) + " ranks, root " + std::to_string(arguments.root));
    resolved.name = &shape.name;
  } else {
    if (algorithm.name == "auto") {
      const uint64_t key =
          combine(combine(static_cast<uint64_t>(arguments.collective), arguments.count * item_size(arguments.dtype)),
                  static_cast<uint64_t>(arguments.root));
      auto entry = choices_.find(key);
      if (entry == choices_.end())
        entry =
            choices_.emplace(key, choose(arguments.collective, arguments.count, arguments.dtype, arguments.root)).first;
      resolved.name = &entry->second.algorithm;
      resolved.reason = &entry->second.reason;
    }
    identity = hash_name(*resolved.name);
  }
  resolved.plan_key = combine(
      combine(combine(identity, static_cast<uint64_t>(arguments.collective)), static_cast<uint64_t>(arguments.root)),
      static_cast<uint64_t>(settings_.num_channels));
  return resolved;
}

AlgorithmChoice Communicator::choose(Collective collective, size_t count, Dtype dtype, int root) const {
  return choose_algorithm(table_, collective, world_size(), root, count, item_size(dtype), machine_,
                          settings_.emulation);
}

std::shared_ptr<const Schedule> Communicator::schedule_for(const CallArguments& arguments,
                                                           const Resolved& resolved) const {
  if (plans_.contains(resolved.plan_key)) return nullptr;
  if (resolved.reference->own) return resolved.reference->own;
  return std::make_shared<const Schedule>(
      table_.make(*resolved.name, arguments.collective, world_size(), arguments.root));
}

Plan& Communicator::make_plan(std::shared_ptr<const Schedule> schedule, uint64_t plan_key, CallWatch& watch) {
  const Program program = schedule->program(rank());
  links_.announce(program, plan_key, settings_.num_channels);
  links_.begin_plan(plan_key, [&watch] { return watch.inspect(); });
  auto plan = compile_plan(std::move(schedule), program, plan_key, settings_.num_channels,
                           settings_.emulation.has_value(), links_);
  return *(plans_[plan_key] = std::move(plan));
}

void Communicator::run(const CallArguments& arguments, Plan& plan, const CallDescription& call, CallWatch& watch) {
  const ScheduleShape& shape = plan.schedule->shape();
  const size_t item = item_size(arguments.dtype);
  const Layout layout(shape, arguments.count);
  const auto [input, output] = spans(arguments, world_size(), rank());
  const size_t longest_part = even_part(layout.longest_chunk(), plan.num_channels, 0).length;
  const BoundCall bound{static_cast<const std::byte*>(arguments.input),
                        static_cast<std::byte*>(arguments.output),
                        input.offset * item,
                        output.offset * item,
                        layout,
                        cut_parts(longest_part * item, shape.widest),
                        item,
                        plan.num_channels,
                        reduces(arguments.collective) ? fold_kernel(arguments.dtype, arguments.op) : nullptr,
                        call.fingerprint()};
  last_cut_ = bound.cut;
  if (settings_.emulation) use_exact_timers();
  const RunResult result =
      run_plan(plan, bound, policy_, budget_, session_->own_page().bell, settings_.emulation.has_value(), watch);
  if (result.status == RunStatus::mismatch) watch.report_mismatch(result.peer);
  if (result.status != RunStatus::done) session_->raise_failure();
  if (!reduces(arguments.collective) || output.length == 0) return;
  if (const FinishKernel finish = finish_kernel(arguments.dtype, arguments.op))
    finish(arguments.output, output.length, world_size());
}

LastCall Communicator::last_call() const {
  LastCall last;
  if (!last_plan_) return last;
  last.description = last_description_;
  if (last_reason_) last.reason = *last_reason_;
  last.cut = last_cut_;
  last.num_channels = last_plan_->num_channels;
  last.num_lanes = static_cast<int>(last_plan_->lanes.size()) / last_plan_->num_channels;
  last.num_chunks = last_plan_->schedule->shape().num_chunks;
  return last;
}

}  // namespace ringtree
