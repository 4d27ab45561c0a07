// All ranks' programs of one schedule in flat arrays, so that the verifier walks memory instead of small vectors. Just
// another form of the same data: nothing is checked here.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/schedule/schedule.h"

namespace ringtree {

/// A step of any rank; `id` below is its index in StepTable::steps.
struct FlatStep {
  Verb verb = Verb::send;
  Buffer src = Buffer::none;
  Buffer dst = Buffer::none;
  int rank = 0;
  int lane_before = -1;  // id of the step before it in its lane
  ChunkRange chunks;
  int src_slot = 0;
  int dst_slot = 0;
  int src_at = 0;
  int recv_begin = 0, recv_end = 0;  // in StepTable::recvs
  int send_begin = 0, send_end = 0;  // in StepTable::sends
  int wait_begin = 0, wait_end = 0;  // in StepTable::waits
};

/// One end of a message: a receive of one peer, or a send to one reader. Link and ordinal are the ledger's to fill in.
struct MessageEnd {
  int peer = 0;
  int tag = 0;
  int link = -1;
  int ordinal = -1;  // which message of the link it is, from 0
};

struct StepTable {
  explicit StepTable(const Schedule& schedule);

  const ScheduleShape& shape;
  std::vector<int> first_step;     // of each rank, and the number of all steps
  std::vector<int> first_scratch;  // likewise: scratch slots of all ranks laid end to end
  std::vector<FlatStep> steps;
  std::vector<MessageEnd> recvs;
  std::vector<MessageEnd> sends;
  std::vector<int> waits;  // ids of steps of other lanes; dependencies on the pass before cannot matter in one pass

  std::span<const MessageEnd> recvs_of(int id) const { return part(recvs, steps[id].recv_begin, steps[id].recv_end); }
  std::span<const MessageEnd> sends_of(int id) const { return part(sends, steps[id].send_begin, steps[id].send_end); }
  std::span<const int> waits_of(int id) const { return part(waits, steps[id].wait_begin, steps[id].wait_end); }

  /// A step's place in its rank's program.
  int index(int id) const { return id - first_step[steps[id].rank]; }
  /// "rank 2, step 4 (recv_reduce_send)"; switches are ranks here, with programs but no buffers.
  std::string describe(int id) const;

 private:
  template <typename T>
  static std::span<const T> part(const std::vector<T>& all, int begin, int end) {
    return {all.data() + begin, all.data() + end};
  }
  void append(const Program& program);
};

/// What is wrong, in the terms of Verdict.
struct Fault {
  const char* kind;
  std::string problem;
  int rank = -1;
  int step = -1;
};

/// "chunk 3" or "chunks 3, 4, 5".
std::string describe_chunks(const ChunkRange& range, int num_chunks);

/// "1, 4, 7"; long lists end in "… (12 in all)".
std::string join(std::span<const int> numbers);

}  // namespace ringtree
