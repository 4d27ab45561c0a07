// See shard.h.
#include "core/algorithms/shard.h"

#include <algorithm>
#include <utility>

namespace ringtree {

Shard::Shard(const HostGroups& hosts, bool has_blocks, int num_outer_chunks, int num_chunks, int index)
    : num_chunks_(num_chunks), position_(static_cast<size_t>(num_chunks), -1) {
  const size_t num_shards = static_cast<size_t>(hosts.smallest());
  for (int outer = 0; outer < num_outer_chunks; ++outer) {
    std::vector<int>& chunks = outer_chunks_.emplace_back();
    if (!has_blocks) {
      chunks.push_back(outer * hosts.smallest() + index);
    } else {
      const std::vector<int>& ranks = hosts.ranks_of(outer);
      for (size_t i = static_cast<size_t>(index); i < ranks.size(); i += num_shards) chunks.push_back(ranks[i]);
    }
    num_streams_ = std::max(num_streams_, static_cast<int>(chunks.size()));
    for (int id : chunks) {
      position_[static_cast<size_t>(id)] = static_cast<int>(ids_.size());
      ids_.push_back(id);
    }
  }
}

std::vector<Piece> Shard::pieces(const ChunkRange& outer) const {
  std::vector<Piece> all;
  const auto chunks_of = [&](int operand) -> const std::vector<int>& {
    return outer_chunks_[static_cast<size_t>(outer.id(operand, static_cast<int>(outer_chunks_.size())))];
  };
  for (int stream = 0; stream < num_streams_; ++stream) {
    const size_t in_chunk = static_cast<size_t>(stream);
    for (int operand = 0; operand < outer.count;) {
      std::vector<int> ids;  // of outer chunks that follow each other in the operand
      int first = operand;
      for (; operand < outer.count && in_chunk < chunks_of(operand).size(); ++operand)
        ids.push_back(chunks_of(operand)[in_chunk]);
      for (std::vector<int>& run : runs(ids)) {
        const int length = static_cast<int>(run.size());
        const ChunkRange range = range_of(run);
        all.push_back({range, std::move(run), stream, first});
        first += length;
      }
      if (operand < outer.count) ++operand;  // the one that has no chunk in this stream
    }
  }
  return all;
}

std::vector<std::vector<int>> Shard::runs(const std::vector<int>& ids) const {
  std::vector<std::vector<int>> runs;
  const auto fits = [&](const std::vector<int>& run, int id) {
    return run.size() == 1 || (id - run.back() - (run[1] - run[0])) % num_chunks_ == 0;
  };
  for (int id : ids) {
    if (runs.empty() || !fits(runs.back(), id)) runs.emplace_back();
    runs.back().push_back(id);
  }
  return runs;
}

ChunkRange range_of(const std::vector<int>& run) {
  return {run[0], static_cast<int>(run.size()), run.size() > 1 ? run[1] - run[0] : 1};
}

}  // namespace ringtree
