// See call_preparer.h.
#include "core/engine/call_preparer.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <tuple>

#include "core/reduce/kernels.h"
#include "core/schedule/rank_order.h"
#include "core/transport/tcp_frame.h"

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

uint64_t hash_counts(std::span<const uint64_t> counts) {
  uint64_t hash = 1;
  for (const uint64_t count : counts) hash = combine(hash, count);
  return hash | 2;  // neither 0 nor kUnknownCounts
}

// Ranks times channels. Pools over all roots take more memory than links that all algorithms share.
constexpr int kMostOfFamily = 4;

// So many that the bytes of a block of them a pair of ranks can still be counted.
size_t most_elements(Dtype dtype, int num_ranks) {
  const size_t n = static_cast<size_t>(num_ranks);
  return std::numeric_limits<size_t>::max() / item_size(dtype) / n / n / 2;
}

}  // namespace

void CallPreparer::check(const Call& call) {
  if (!(call.timeout_s >= 0)) throw UsageError("timeout must be 0 (the communicator's) or positive");
  if (call.op == ReduceOp::premul_sum && scale_kernel(call.dtype, call.op) && reduces(call.collective) &&
      !factor_fits(call.dtype, call.factor))
    throw UsageError("the factor " + std::to_string(call.factor) + " does not fit " + dtype_name(call.dtype));
}

void CallPreparer::check_kind(const CallKind& kind) const {
  const int n = num_ranks();
  if (kind.root < 0 || kind.root >= n)
    throw UsageError("root " + std::to_string(kind.root) + " is not a rank of a world of " + std::to_string(n));
  if (!has_root(kind.collective) && kind.root != 0)
    throw UsageError(std::string(collective_name(kind.collective)) + " has no root");
  if (reduces(kind.collective) && !fold_kernel(kind.dtype, kind.op))
    throw UsageError(why_undefined(kind.dtype, kind.op));
  if (kind.count > most_elements(kind.dtype, n))
    throw UsageError("count " + std::to_string(kind.count) + " exceeds the address space");
  if (kind.uneven()) check_counts(kind);
}

void CallPreparer::check_counts(const CallKind& kind) const {
  const size_t n = static_cast<size_t>(num_ranks());
  const bool by_pair = kind.collective == Collective::all_to_all;
  const std::string name = collective_name(kind.collective);
  if (!has_blocks(kind.collective)) throw UsageError(name + " has no blocks, so it takes no counts");
  if (kind.count != 0) throw UsageError(name + " takes a count or counts, not both");
  if (kind.counts.size() != (by_pair ? 2 * n : n))
    throw UsageError(name + " of " + std::to_string(n) + " ranks takes " + std::to_string(by_pair ? 2 * n : n) +
                     " counts, not " + std::to_string(kind.counts.size()));
  for (const uint64_t count : kind.counts)
    if (count > most_elements(kind.dtype, num_ranks()))
      throw UsageError("count " + std::to_string(count) + " exceeds the address space");
  const size_t own = static_cast<size_t>(rank_);
  if (by_pair && kind.counts[own] != kind.counts[n + own])
    throw UsageError("this rank sends " + std::to_string(kind.counts[own]) + " elements to itself but wants " +
                     std::to_string(kind.counts[n + own]));
}

void CallPreparer::check_buffers(const Call& call, const PreparedCall& prepared) {
  const ByteSpan &input = prepared.input, &output = prepared.output;
  if (input.length > 0 && !call.input) throw UsageError("needs an input on this rank");
  if (output.length > 0 && !call.output) throw UsageError("needs an output on this rank");
  const auto in = reinterpret_cast<uintptr_t>(call.input), out = reinterpret_cast<uintptr_t>(call.output);
  const bool overlap = input.length > 0 && output.length > 0 && in < out + output.length && out < in + input.length;
  if (overlap && !can_be_in_place(call.collective))
    throw UsageError(std::string(collective_name(call.collective)) +
                     " cannot be in place: input and output must not overlap");
  if (overlap && in - input.offset != out - output.offset)
    throw UsageError(
        "input and output overlap but are not in place: the same element must lie at the same address in both");
}

Configuration CallPreparer::configuration_of(const CallKind& kind, std::string& reason) const {
  const AlgorithmRef& algorithm = kind.asked();
  Configuration configuration{algorithm.name, Protocol::simple, 0, false, selection_.num_channels};
  if (!algorithm.own && algorithm.name.empty()) std::tie(configuration, reason) = choose(kind);
  if (algorithm.protocol) configuration.protocol = *algorithm.protocol;
  if (algorithm.slice_bytes > 0) configuration.slice_bytes = algorithm.slice_bytes;
  if (algorithm.streaming) configuration.streaming = *algorithm.streaming;
  if (const std::string why = why_not(configuration.protocol, selection_); !why.empty()) throw UsageError(why);
  return configuration;
}

std::unique_ptr<PreparedCall> CallPreparer::prepare(const CallKind& kind, const Plans& plans) const {
  check_kind(kind);
  const AlgorithmRef& algorithm = kind.asked();
  auto call = std::make_unique<PreparedCall>();
  call->counts.assign(kind.counts.begin(), kind.counts.end());
  call->kind = kind;
  call->kind.counts = call->counts;
  call->configuration = configuration_of(kind, call->reason);
  Configuration& configuration = call->configuration;
  uint64_t identity = algorithm.own_hash;
  if (algorithm.own) {
    const ScheduleShape& shape = algorithm.own->shape();
    if (shape.num_ranks != num_ranks() || shape.collective != kind.collective || shape.root != kind.root)
      throw UsageError("schedule " + shape.name + " is " + collective_name(shape.collective) + " of " +
                       std::to_string(shape.num_ranks) + " ranks, root " + std::to_string(shape.root) +
                       "; this call is " + collective_name(kind.collective) + " of " + std::to_string(num_ranks()) +
                       " ranks, root " + std::to_string(kind.root));
    configuration.algorithm = shape.name;
    if (kind.uneven() && kind.collective == Collective::all_to_all)
      throw UsageError("an uneven all_to_all runs built-in algorithms only: no rank knows the blocks of others");
  } else {
    identity = hash_name(configuration.algorithm);
  }
  for (const uint64_t word : {static_cast<uint64_t>(kind.collective), static_cast<uint64_t>(configuration.channels),
                              static_cast<uint64_t>(configuration.protocol)})
    identity = combine(identity, word);
  call->rootless = identity;
  identity = combine(identity, static_cast<uint64_t>(kind.root) + 1);
  const auto entry = plans.find(identity);
  call->plan = entry == plans.end() ? nullptr : entry->second.get();
  call->schedule = call->plan      ? call->plan->schedule
                   : algorithm.own ? algorithm.own
                                   : std::make_shared<const Schedule>(table_.make(
                                         configuration.algorithm, kind.collective, kind.root, selection_.hosts));
  call->schedule->require_ranks_alone("the engine");
  if (selection_.deterministic && reduces(kind.collective) && order_matters(kind.dtype, kind.op) &&
      !folds_in_rank_order(*call->schedule))
    throw UsageError("algorithm " + configuration.algorithm +
                     " does not fold all ranks in one go in rank order, which a deterministic " +
                     reduce_op_name(kind.op) + " of " + dtype_name(kind.dtype) + " needs; take auto");
  call->pipelined = call->plan ? call->plan->pipelined : selection_.emulation || is_pipelined(*call->schedule);
  bind(*call);
  describe(*call, identity);
  return call;
}

// A slot that travels to and fro stays in the two ranks' caches, whoever is the root.
PlanFamily CallPreparer::family_of(const PreparedCall& call, bool uses_pools) const {
  const uint64_t key = call.description.plan_key;
  if (!has_root(call.kind.collective) || call.kind.asked().own ||
      num_ranks() * call.configuration.channels > kMostOfFamily || !uses_pools)
    return {key, {call.schedule}};
  PlanFamily family{call.rootless, {}};
  for (int root = 0; root < num_ranks(); ++root)
    family.schedules.push_back(std::make_shared<const Schedule>(
        table_.make(call.configuration.algorithm, call.kind.collective, root, selection_.hosts)));
  return family;
}

void CallPreparer::describe(PreparedCall& call, uint64_t identity) {
  const CallKind& kind = call.kind;
  const Configuration& configuration = call.configuration;
  CallDescription& description = call.description;
  description.collective = kind.collective;
  description.dtype = kind.dtype;
  description.op = reduces(kind.collective) ? kind.op : ReduceOp::sum;
  description.root = kind.root;
  description.count = kind.count;
  if (kind.uneven()) {
    // Of an all_to_all each rank knows its own lengths only; its messages say theirs.
    const bool known = kind.collective != Collective::all_to_all;
    description.counts_hash = known ? hash_counts(kind.counts) : CallDescription::kUnknownCounts;
    for (size_t i = 0; known && i < kind.counts.size(); ++i) description.count += kind.counts[i];
  }
  description.plan_key = identity;
  description.slice_bytes = configuration.slice_bytes;
  description.protocol = configuration.protocol;
  std::strncpy(description.algorithm, configuration.algorithm.c_str(), sizeof description.algorithm - 1);
  call.kind_hash = description.kind_hash();
  call.words = Board::words_of(description);
}

void CallPreparer::bind(PreparedCall& call) const {
  const CallKind& kind = call.kind;
  const Configuration& configuration = call.configuration;
  const ScheduleShape& shape = call.schedule->shape();
  const size_t item = item_size(kind.dtype);
  const RankLayout layout =
      kind.uneven() ? RankLayout(shape, rank_, kind.counts) : RankLayout(shape, rank_, kind.count);
  const size_t longest_part = even_part(layout.longest_chunk(), configuration.channels, 0).length;
  call.input = {layout.input().offset * item, layout.input().length * item};
  call.output = {layout.output().offset * item, layout.output().length * item};
  BoundCall& bound = call.bound;
  bind_parts(bound, layout, shape.num_chunks, configuration.channels, item);
  bound.uneven = kind.uneven();
  const size_t most = info_of(configuration.protocol).slice_bytes;
  // Where blocks are uneven a rank may know other lengths than its peer: both cut alike only if that does not matter.
  const bool as_asked = configuration.slice_bytes > 0 || (call.pipelined && !kind.uneven());
  size_t wanted = as_asked ? configuration.slice_bytes : most;
  // Steps of several passes. Of shorter ones the number of slices counts: each is work.
  const bool is_long = longest_part * item * static_cast<size_t>(shape.widest) > kSlots / 2 * most;
  if (selection_.really_on_several_hosts() && configuration.slice_bytes == 0 && is_long && !kind.uneven())
    wanted = std::min(most, kTcpSegmentBytes);
  bound.cut = cut_parts(longest_part * item, shape.widest, kSlots, most, wanted, !kind.uneven());
  bound.item_bytes = item;
  bound.fold = reduces(kind.collective) ? fold_kernel(kind.dtype, kind.op) : nullptr;
  if (reduces(kind.collective)) call.scale = scale_kernel(kind.dtype, kind.op);
  if (reduces(kind.collective) && call.output.length > 0) call.finish = finish_kernel(kind.dtype, kind.op);
}

}  // namespace ringtree
