// See communicator.h.
#include "core/engine/communicator.h"

#include <bit>
#include <cstring>
#include <limits>
#include <tuple>

#include "core/base/fork_count.h"
#include "core/reduce/kernels.h"
#include "core/transport/fence.h"

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

// Where a rank's span of chunks begins in the collective's whole vector, and how long it is.
ByteSpan span_bytes(const CallKind& kind, const ChunkSpan& span) {
  // A span is everything or one block, so blocks are all that matters: as many "chunks" as ranks where there are
  // blocks.
  const size_t block = kind.count * item_size(kind.dtype);
  if (span.count == 0) return {0, 0};
  if (!has_blocks(kind.collective)) return {0, block};
  return {static_cast<size_t>(span.first) * block, static_cast<size_t>(span.count) * block};
}

}  // namespace

Communicator::Communicator(Store& store, int rank, int world_size, const Settings& settings, AlgorithmTable table,
                           const std::string& prefix)
    : settings_(settings), table_(std::move(table)), fork_count_(fork_count()), shared_(world_size), links_(settings) {
  selection_.num_ranks = world_size;
  selection_.num_channels = settings.num_channels;
  selection_.emulation = settings.emulation;
  selection_.shared_buffers = settings.shared_buffers;
  auto on_link = [this](Session& session, int peer, std::string_view payload, int fd) {
    if (!payload.empty() && payload[0] == static_cast<char>(LinkMessage::buffer)) {
      shared_.on_announcement(session, peer, payload, fd);
    } else {
      links_.on_announcement(session, peer, payload, fd);
    }
  };
  session_ = std::make_unique<Session>(store, rank, world_size, settings, prefix, on_link);
  agree_on_profile(store, prefix);
  selection_.machine = default_machine();
  selection_.machine.num_cores = count_cores();
  selection_.own_cores = selection_.machine.num_cores >= world_size;
  bool all_can_be_fenced = true;  // every rank reads the same pages, so every rank finds the same
  for (int peer = 0; peer < world_size; ++peer) all_can_be_fenced &= session_->page(peer).can_be_fenced;
  policy_ = settings_.emulation    ? WaitPolicy::emulated()
            : selection_.own_cores ? WaitPolicy::own_cores(!all_can_be_fenced)
                                   : WaitPolicy::shared_cores();
  budget_ = SpinBudget(policy_);
  links_.attach(*session_, shared_, policy_.fenced);
}

Communicator::~Communicator() { close(); }

// Rank 0's counts: a profile is a file, and not every rank need see the same one.
void Communicator::agree_on_profile(Store& store, const std::string& prefix) {
  const std::string key = prefix + "/profile";
  if (rank() == 0) store.set(key, settings_.profile);
  const std::string text =
      rank() == 0 ? settings_.profile : store.get(key, Deadline::after_seconds(settings_.timeout_s));
  selection_.profile = Profile::parse(text);
}

void Communicator::close() {
  const bool ours = fork_count() == fork_count_;  // in a child made by fork() only its copies are closed
  // Pairs with enter(): either the call sees that the communicator is closed, or we see that it is in a call.
  closed_.store(true, std::memory_order_seq_cst);
  if (!policy_.fenced) fence_everybody();
  const bool idle = !in_call_.exchange(true, std::memory_order_seq_cst);
  if (!idle && ours)
    session_->fail(FailureKind::peer, session_->describe(rank()) + " closed its communicator during a call");
  session_->close();
  if (!idle) return;  // the call's own links keep their descriptors until the communicator goes
  links_.close_descriptors();
  in_call_.store(false, std::memory_order_release);
}

// Says that a call is under way. Where links are not fenced neither is this: an exchange would wait until what the call
// before published has become visible, which takes longer than a small call. Two threads that call at the very same
// moment are then not always told that they must not.
void Communicator::enter() {
  // acquire, pairs with the release in leave(): whatever thread calls next sees what that call left in the plans.
  if (in_call_.load(std::memory_order_acquire) && !closed_.load(std::memory_order_relaxed))
    throw UsageError("two threads call collectives on one communicator at the same time; give each its own");
  if (policy_.fenced) {
    in_call_.store(true, std::memory_order_seq_cst);  // before the look at closed_; pairs with close()
  } else {
    in_call_.store(true, std::memory_order_relaxed);  // close() fences all threads
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  if (!closed_.load(std::memory_order_seq_cst)) return;
  in_call_.store(false, std::memory_order_relaxed);
  throw UsageError("this communicator was closed; make a new one");
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
  if (fork_count() != fork_count_)
    throw UsageError("this communicator was made before fork(); a child must make its own");
  enter();
  struct Leave {
    std::atomic<bool>& flag;
    ~Leave() { flag.store(false, std::memory_order_release); }  // pairs with the load in enter()
  } leave{in_call_};
  if (session_->failed()) session_->raise_failure();
  call_checked(arguments, algorithm);
}

void Communicator::call_checked(const CallArguments& arguments, const AlgorithmRef& algorithm) {
  if (!(arguments.timeout_s >= 0)) throw UsageError("timeout must be 0 (the communicator's) or above");
  const CallKind kind = arguments.kind();
  PreparedCall* call = prepared_.find(kind, algorithm);
  // Made before the others are told, so that a call that cannot be harms nobody.
  std::unique_ptr<PreparedCall> fresh;
  if (!call) {
    fresh = prepare(kind, algorithm);
    call = fresh.get();
  }
  check_buffers(arguments, *call);
  last_ = nullptr;
  const uint64_t sequence = call->description.sequence = ++sequence_;
  const bool rooted = has_root(kind.collective);
  CallWatch watch(*session_, call->description, call->words,
                  arguments.timeout_s > 0 ? arguments.timeout_s : settings_.timeout_s, interrupted_);
  // A rank that only sends would never see that it is alone: the root of a broadcast, the others in a reduce. Two such
  // ranks that disagree both look after both posted, or one looks after the other posted, so one of them sees it.
  if (rooted || fresh) watch.show(rooted);  // whoever makes a plan may wait for peers before the call begins
  if (rooted) {
    watch.compare_calls();
    if (session_->failed()) session_->raise_failure();
  }
  if (fresh) {
    complete(*call, watch);
    call = prepared_.add(std::move(fresh));
  }
  run(arguments, *call, watch);
  // release, pairs with the acquire in Session::first_missing(): from now on we are not needed for this call.
  session_->own_page().completed.store(sequence, std::memory_order_release);
  last_ = call;
}
void Communicator::check_kind(const CallKind& kind) const {
  const int n = world_size();
  if (kind.root < 0 || kind.root >= n)
    throw UsageError("root " + std::to_string(kind.root) + " is not a rank of a world of " + std::to_string(n));
  if (!has_root(kind.collective) && kind.root != 0)
    throw UsageError(std::string(collective_name(kind.collective)) + " has no root");
  if (reduces(kind.collective) && !fold_kernel(kind.dtype, kind.op))
    throw UsageError(why_undefined(kind.dtype, kind.op));
  if (kind.count > std::numeric_limits<size_t>::max() / item_size(kind.dtype) / static_cast<size_t>(n) / 2)
    throw UsageError("count " + std::to_string(kind.count) + " is beyond the address space");
}

void Communicator::check_buffers(const CallArguments& arguments, const PreparedCall& call) const {
  const ByteSpan &input = call.input, &output = call.output;
  if (input.length > 0 && !arguments.input) throw UsageError("needs an input on this rank");
  if (output.length > 0 && !arguments.output) throw UsageError("needs an output on this rank");
  const auto in = reinterpret_cast<uintptr_t>(arguments.input), out = reinterpret_cast<uintptr_t>(arguments.output);
  const bool overlap = input.length > 0 && output.length > 0 && in < out + output.length && out < in + input.length;
  if (overlap && in - input.offset != out - output.offset)
    throw UsageError(
        "input and output overlap but are not in place: the same element must lie at the same address in both");
}

Configuration Communicator::configuration_of(const CallKind& kind, const AlgorithmRef& algorithm,
                                             std::string& reason) const {
  Configuration configuration{algorithm.name, Protocol::simple, 0, false, settings_.num_channels};
  if (!algorithm.own && algorithm.name == "auto") std::tie(configuration, reason) = choose(kind);
  if (algorithm.protocol) configuration.protocol = *algorithm.protocol;
  if (algorithm.slice_bytes > 0) configuration.slice_bytes = algorithm.slice_bytes;
  if (algorithm.streaming) configuration.streaming = *algorithm.streaming;
  if (const std::string why = why_not(configuration.protocol, selection_); !why.empty()) throw UsageError(why);
  return configuration;
}

std::unique_ptr<PreparedCall> Communicator::prepare(const CallKind& kind, const AlgorithmRef& algorithm) const {
  check_kind(kind);
  auto call = std::make_unique<PreparedCall>();
  call->kind = kind;
  call->asked = algorithm;
  call->configuration = configuration_of(kind, algorithm, call->reason);
  Configuration& configuration = call->configuration;
  uint64_t identity = algorithm.own_hash;
  if (algorithm.own) {
    const ScheduleShape& shape = algorithm.own->shape();
    if (shape.num_ranks != world_size() || shape.collective != kind.collective || shape.root != kind.root)
      throw UsageError("schedule " + shape.name + " is " + collective_name(shape.collective) + " of " +
                       std::to_string(shape.num_ranks) + " ranks, root " + std::to_string(shape.root) +
                       "; this call is " + collective_name(kind.collective) + " of " + std::to_string(world_size()) +
                       " ranks, root " + std::to_string(kind.root));
    configuration.algorithm = shape.name;
  } else {
    identity = hash_name(configuration.algorithm);
  }
  for (const uint64_t word :
       {static_cast<uint64_t>(kind.collective), static_cast<uint64_t>(kind.root),
        static_cast<uint64_t>(configuration.channels), static_cast<uint64_t>(configuration.protocol)})
    identity = combine(identity, word);
  const auto entry = plans_.find(identity);
  call->plan = entry == plans_.end() ? nullptr : entry->second.get();
  call->schedule = call->plan      ? call->plan->schedule
                   : algorithm.own ? algorithm.own
                                   : std::make_shared<const Schedule>(table_.make(
                                         configuration.algorithm, kind.collective, world_size(), kind.root));
  call->pipelined = call->plan ? call->plan->pipelined : settings_.emulation || is_pipelined(measure(*call->schedule));
  const int blocks = has_blocks(kind.collective) ? world_size() : 1;
  call->input = span_bytes(kind, input_span(kind.collective, world_size(), blocks, kind.root, rank()));
  call->output = span_bytes(kind, output_span(kind.collective, world_size(), blocks, kind.root, rank()));
  bind(*call);

  CallDescription& description = call->description;
  description.collective = kind.collective;
  description.dtype = kind.dtype;
  description.op = reduces(kind.collective) ? kind.op : ReduceOp::sum;
  description.root = kind.root;
  description.count = kind.count;
  description.plan_key = identity;
  description.slice_bytes = configuration.slice_bytes;
  description.protocol = configuration.protocol;
  std::strncpy(description.algorithm, configuration.algorithm.c_str(), sizeof description.algorithm - 1);
  call->kind_hash = description.kind_hash();
  call->words = Board::words_of(description);
  return call;
}

void Communicator::bind(PreparedCall& call) const {
  const CallKind& kind = call.kind;
  const Configuration& configuration = call.configuration;
  const ScheduleShape& shape = call.schedule->shape();
  const size_t item = item_size(kind.dtype);
  const Layout layout(shape, kind.count);
  const size_t longest_part = even_part(layout.longest_chunk(), configuration.channels, 0).length;
  BoundCall& bound = call.bound;
  bind_parts(bound, layout, shape.num_chunks, configuration.channels, item);
  bound.input_origin = call.input.offset;
  bound.output_origin = call.output.offset;
  const size_t most = info_of(configuration.protocol).slice_bytes;
  const size_t wanted = configuration.slice_bytes > 0 || call.pipelined ? configuration.slice_bytes : most;
  bound.cut = cut_parts(longest_part * item, shape.widest, kSlots, most, wanted);
  bound.item_bytes = item;
  bound.fold = reduces(kind.collective) ? fold_kernel(kind.dtype, kind.op) : nullptr;
  if (reduces(kind.collective) && call.output.length > 0) call.finish = finish_kernel(kind.dtype, kind.op);
}

void Communicator::complete(PreparedCall& call, CallWatch& watch) {
  if (!call.plan) make_plan(call, watch);
  if (!settings_.emulation) bind_whole_steps(call.bound, *call.plan);
}

void Communicator::make_plan(PreparedCall& call, CallWatch& watch) {
  const uint64_t key = call.description.plan_key;
  const Configuration& configuration = call.configuration;
  try {
    const Program program = call.schedule->program(rank());
    links_.begin_plan(*call.schedule, program, key, configuration.protocol, configuration.channels,
                      [&watch] { return watch.inspect(); });
    plans_[key] = compile_plan(call.schedule, program, key, configuration.protocol, configuration.channels,
                               settings_.emulation.has_value(), links_);
    call.plan = plans_[key].get();
    call.plan->pipelined = call.pipelined;
  } catch (const std::exception& error) {  // the others have begun the call and would wait for us
    session_->fail(FailureKind::error, session_->describe(rank()) + " could not begin " + call.description.to_string() +
                                           ": " + error.what());
    throw;
  }
}

void Communicator::run(const CallArguments& arguments, PreparedCall& call, CallWatch& watch) {
  call.bound.input = static_cast<const std::byte*>(arguments.input);
  call.bound.output = static_cast<std::byte*>(arguments.output);
  call.bound.fingerprint = CallDescription::fingerprint(call.kind_hash, call.description.sequence);
  call.bound.in_place =
      arguments.input == static_cast<const std::byte*>(arguments.output) + call.input.offset - call.output.offset;
  // Out of place a large output would first be fetched only to be overwritten; in place it was just read, and what the
  // configuration says was found so.
  if (!call.asked.streaming && !call.bound.in_place)
    call.bound.stream_output = call.configuration.streaming || streams_by_default(call.output.length);
  else
    call.bound.stream_output = call.configuration.streaming;
  call.bound.shared_input = shared_.find(*session_, arguments.input, call.input.length);
  call.bound.shared_output = shared_.find(*session_, arguments.output, call.output.length);
  if (settings_.emulation) use_exact_timers();
  const RunResult result = run_plan(*call.plan, call.bound, policy_, budget_, session_->own_page().bell,
                                    settings_.emulation.has_value(), watch);
  if (result.status == RunStatus::mismatch) watch.report_mismatch(result.peer);
  if (result.status != RunStatus::done) session_->raise_failure();
  if (call.finish) call.finish(arguments.output, call.output.length / call.bound.item_bytes, world_size());
}

LastCall Communicator::last_call() const {
  LastCall last;
  if (!last_) return last;
  last.description = last_->description;
  last.reason = last_->reason;
  last.configuration = last_->configuration;
  last.configuration.streaming = last_->bound.stream_output;
  last.cut = last_->bound.cut;
  last.num_channels = last_->plan->num_channels;
  last.num_lanes = static_cast<int>(last_->plan->lanes.size()) / last.num_channels;
  last.num_chunks = last_->schedule->shape().num_chunks;
  return last;
}

}  // namespace ringtree
