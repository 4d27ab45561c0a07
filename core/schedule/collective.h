// The collectives and which chunks of their data each rank holds before and after. Not how they are done: that is a
// schedule.
//
// A collective's data is cut into `num_chunks` chunks with global ids. Every rank's input and output is a span of those
// ids, so "chunk 3" is the same bytes of the same vector on every rank, and being in place means that input chunk c and
// output chunk c share memory. all_reduce: all chunks in, all out. reduce_scatter: all in, rank r's block out.
// all_to_all: of n² blocks, number src · n + dst, rank r has row r before and column r after.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace ringtree {

/// The numbers travel between ranks and into stored results, so they are never reused or changed.
enum class Collective : uint8_t {
  all_reduce = 0,
  reduce_scatter = 1,
  all_gather = 2,
  broadcast = 3,
  reduce = 4,
  gather = 5,
  scatter = 6,
  all_to_all = 7,
};

inline constexpr Collective kCollectives[] = {
    Collective::all_reduce, Collective::reduce_scatter, Collective::all_gather, Collective::broadcast,
    Collective::reduce,     Collective::gather,         Collective::scatter,    Collective::all_to_all};

const char* collective_name(Collective collective);
std::optional<Collective> collective_from_name(std::string_view name);

/// True where ranks' contributions are combined (so that an op matters).
bool reduces(Collective collective);
/// True where one rank is special.
bool has_root(Collective collective);
/// True where ranks hold different blocks of the data.
bool has_blocks(Collective collective);
/// Blocks of all data together: 1, one a rank, or one a pair of ranks. num_chunks is a multiple of it.
int64_t num_blocks(Collective collective, int num_ranks);
/// Blocks in the larger buffer of a rank that has most: by its bytes sizes are quoted (as nccl-tests does).
inline int blocks_of_rank(Collective collective, int num_ranks) { return has_blocks(collective) ? num_ranks : 1; }
/// True where input and output may share memory: a chunk that a rank has before and after is then in one place.
bool can_be_in_place(Collective collective);

/// Chunk ids in ascending order: `count` of them side by side from `first` on or, if `run` is not 0, in runs of `run`
/// that begin `stride` apart.
struct ChunkSpan {
  int first = 0;
  int count = 0;
  int run = 0;
  int stride = 0;

  int id(int index) const { return run == 0 ? first + index : first + index / run * stride + index % run; }
  bool contains(int chunk) const {
    const int at = chunk - first;
    if (run == 0) return at >= 0 && at < count;
    return at >= 0 && at / stride < count / run && at % stride < run;
  }
};

ChunkSpan input_span(Collective collective, int num_ranks, int num_chunks, int root, int rank);
ChunkSpan output_span(Collective collective, int num_ranks, int num_chunks, int root, int rank);

}  // namespace ringtree
