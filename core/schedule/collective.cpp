// The one table of collectives; see collective.h.
#include "core/schedule/collective.h"

namespace ringtree {
namespace {

enum class Holds : uint8_t {
  all,
  own_block,    // of one block a rank
  all_at_root,  // the others: nothing
  own_row,      // of one block a pair of ranks: those that this rank sends
  own_column,   // those that it gets
};

struct Row {
  const char* name;
  bool reduces;
  Holds input;
  Holds output;
};

constexpr Row kRows[] = {
    {"all_reduce", true, Holds::all, Holds::all},            //
    {"reduce_scatter", true, Holds::all, Holds::own_block},  //
    {"all_gather", false, Holds::own_block, Holds::all},     //
    {"broadcast", false, Holds::all_at_root, Holds::all},    //
    {"reduce", true, Holds::all, Holds::all_at_root},
    {"gather", false, Holds::own_block, Holds::all_at_root},
    {"scatter", false, Holds::all_at_root, Holds::own_block},
    {"all_to_all", false, Holds::own_row, Holds::own_column},
};

const Row& row(Collective collective) { return kRows[static_cast<int>(collective)]; }

ChunkSpan span(Holds holds, int num_ranks, int num_chunks, int root, int rank) {
  if (holds == Holds::own_block) {
    const int per_rank = num_chunks / num_ranks;
    return {rank * per_rank, per_rank};
  }
  if (holds == Holds::own_row || holds == Holds::own_column) {
    const int per_rank = num_chunks / num_ranks, per_block = per_rank / num_ranks;
    if (holds == Holds::own_row) return {rank * per_rank, per_rank};
    return {rank * per_block, per_rank, per_block, per_rank};
  }
  return {0, holds == Holds::all_at_root && rank != root ? 0 : num_chunks};
}

}  // namespace

const char* collective_name(Collective collective) { return row(collective).name; }

std::optional<Collective> collective_from_name(std::string_view name) {
  for (Collective collective : kCollectives)
    if (name == collective_name(collective)) return collective;
  return std::nullopt;
}

bool reduces(Collective collective) { return row(collective).reduces; }

bool has_root(Collective collective) {
  return row(collective).input == Holds::all_at_root || row(collective).output == Holds::all_at_root;
}

bool has_blocks(Collective collective) { return num_blocks(collective, 2) > 1; }

int64_t num_blocks(Collective collective, int num_ranks) {
  const Row& its = row(collective);
  if (its.input == Holds::own_row) return int64_t{num_ranks} * num_ranks;
  return its.input == Holds::own_block || its.output == Holds::own_block ? num_ranks : 1;
}

bool can_be_in_place(Collective collective) { return row(collective).input != Holds::own_row; }

ChunkSpan input_span(Collective collective, int num_ranks, int num_chunks, int root, int rank) {
  return span(row(collective).input, num_ranks, num_chunks, root, rank);
}

ChunkSpan output_span(Collective collective, int num_ranks, int num_chunks, int root, int rank) {
  return span(row(collective).output, num_ranks, num_chunks, root, rank);
}

}  // namespace ringtree
