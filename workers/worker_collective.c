/* See worker_collective.h. */
#include "worker_collective.h"

#include <string.h>

typedef enum { kEverywhere, kRootGives, kRootGets } RootRule;

/* `input_blocks`, `output_blocks`: the buffer is a block a rank, else a block or the vector. */
static const struct {
  const char* name;
  bool reduces, input_blocks, output_blocks;
  RootRule root;
} kRows[kNumCollectives] = {
    [kAllReduce] = {"all_reduce", true, false, false, kEverywhere},
    [kReduceScatter] = {"reduce_scatter", true, true, false, kEverywhere},
    [kAllGather] = {"all_gather", false, false, true, kEverywhere},
    [kBroadcast] = {"broadcast", false, false, false, kRootGives},
    [kAllToAll] = {"all_to_all", false, true, true, kEverywhere},
    [kReduce] = {"reduce", true, false, false, kRootGets},
    [kGather] = {"gather", false, false, true, kRootGets},
    [kScatter] = {"scatter", false, true, false, kRootGives},
};

const char* worker_collective_names(void) {
  return "all_reduce, reduce_scatter, all_gather, broadcast, all_to_all, reduce, gather, scatter";
}

bool worker_find_collective(const char* name, WorkerCollective* collective) {
  for (int i = 0; i < kNumCollectives; ++i) {
    if (strcmp(name, kRows[i].name) != 0) continue;
    *collective = (WorkerCollective)i;
    return true;
  }
  return false;
}

WorkerShape worker_shape(WorkerCollective collective, int size, size_t bytes, size_t item) {
  const size_t inputs = kRows[collective].input_blocks ? (size_t)size : 1;
  const size_t outputs = kRows[collective].output_blocks ? (size_t)size : 1;
  const size_t whole = bytes / item / (inputs > outputs ? inputs : outputs);
  const size_t count = whole > 0 ? whole : 1;
  return (WorkerShape){count, inputs * count, outputs * count};
}

bool worker_is_rooted(WorkerCollective collective) { return kRows[collective].root != kEverywhere; }

bool worker_reduces(WorkerCollective collective) { return kRows[collective].reduces; }

/* Of the block that `giver` has at `place`. */
static uint64_t number(WorkerRole role, int giver, int place) {
  const uint64_t size = (uint64_t)role.size;
  return (role.call * size + (uint64_t)giver) * size + (uint64_t)place;
}

void worker_write_input(WorkerRole role, const WorkerData* data, WorkerShape shape, void* input) {
  if (kRows[role.collective].root == kRootGives && role.rank != role.root) return;
  const int giver = kRows[role.collective].reduces ? 0 : role.rank;
  const int blocks = kRows[role.collective].input_blocks ? role.size : 1;
  for (int place = 0; place < blocks; ++place)
    worker_data_write(data, number(role, giver, place), (char*)input + (size_t)place * shape.count * data->item,
                      shape.count);
}

size_t worker_wrong_output(WorkerRole role, const WorkerData* data, WorkerShape shape, const void* output) {
  if (kRows[role.collective].root == kRootGets && role.rank != role.root) return 0;
  const int blocks = kRows[role.collective].output_blocks ? role.size : 1;
  const int place = kRows[role.collective].input_blocks ? role.rank : 0;
  size_t wrong = 0;
  for (int block = 0; block < blocks; ++block) {
    int giver = kRows[role.collective].output_blocks ? block : role.root;
    if (kRows[role.collective].reduces) giver = 0;
    wrong += worker_data_wrong(data, number(role, giver, place),
                               (const char*)output + (size_t)block * shape.count * data->item, shape.count);
  }
  return wrong;
}
