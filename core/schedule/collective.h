// The collectives and which chunks of their data each rank holds before and after. Not how they are done: that is a
// schedule.
//
// A collective's data is cut into `num_chunks` chunks with global ids. Every rank's input and output is a span of those
// ids, so "chunk 3" is the same bytes of the same vector on every rank, and being in place means that input chunk c and
// output chunk c share memory. all_reduce: all chunks in, all out. reduce_scatter: all in, rank r's block out.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace ringtree {

enum class Collective : uint8_t { all_reduce = 0, reduce_scatter = 1, all_gather = 2, broadcast = 3, reduce = 4 };

inline constexpr Collective kCollectives[] = {Collective::all_reduce, Collective::reduce_scatter,
                                              Collective::all_gather, Collective::broadcast, Collective::reduce};

const char* collective_name(Collective collective);
std::optional<Collective> collective_from_name(std::string_view name);

/// True where ranks' contributions are combined (so that an op matters).
bool reduces(Collective collective);
/// True where one rank is special.
bool has_root(Collective collective);
/// True where the data is one block a rank, so that num_chunks must be a multiple of the number of ranks.
bool has_blocks(Collective collective);

/// Chunk ids [first, first + count).
struct ChunkSpan {
  int first = 0;
  int count = 0;
  bool contains(int chunk) const { return chunk >= first && chunk < first + count; }
};

ChunkSpan input_span(Collective collective, int num_ranks, int num_chunks, int root, int rank);
ChunkSpan output_span(Collective collective, int num_ranks, int num_chunks, int root, int rank);

}  // namespace ringtree
