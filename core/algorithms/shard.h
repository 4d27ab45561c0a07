// A shard: the part of a collective's chunks that one owner on each host carries between the hosts. It translates what
// an algorithm among the owners calls its chunks (here: outer chunks) into chunks of the whole collective.
//
//   One block (all_reduce, broadcast, reduce) and k shards: outer chunk c of shard j is chunk c·k + j, an even stride,
//   so that every range of outer chunks, also around the end, is a range again.
//   Blocks (reduce_scatter, all_gather): outer chunk h of shard j is the blocks of the ranks with local index j, j + k,
//   … on host h, the first of which is the owner itself.
//
// Where hosts are unequal, outer chunks have one, two or more blocks. The outer algorithm then runs several times side
// by side, each time on one block of each outer chunk that has so many: a stream. (In one stream a ring's message would
// become several, and its ranks could wait for each other's slots all around.)
#pragma once

#include <vector>

#include "core/schedule/host_groups.h"
#include "core/schedule/step.h"

namespace ringtree {

/// A part of an outer step's operand that is a range of chunks.
struct Piece {
  ChunkRange chunks;
  std::vector<int> ids;  // the same, one by one
  int stream = 0;
  int operand = 0;  // its chunks belong to the operand's outer chunks from this one on
};

class Shard {
 public:
  /// `num_outer_chunks` is num_hosts where the collective has blocks.
  Shard(const HostGroups& hosts, bool has_blocks, int num_outer_chunks, int num_chunks, int index);

  /// All its chunks.
  const std::vector<int>& ids() const { return ids_; }
  /// A chunk's place in ids().
  int position(int id) const { return position_[static_cast<size_t>(id)]; }
  int num_streams() const { return num_streams_; }

  /// The operand, stream by stream, as few ranges; both ends of a message cut alike, as the cuts depend on nothing
  /// else.
  std::vector<Piece> pieces(const ChunkRange& outer) const;
  /// Chunks in this order as few ranges, first fit.
  std::vector<std::vector<int>> runs(const std::vector<int>& ids) const;

 private:
  int num_chunks_, num_streams_ = 1;
  std::vector<std::vector<int>> outer_chunks_;
  std::vector<int> ids_, position_;
};

ChunkRange range_of(const std::vector<int>& run);

}  // namespace ringtree
