/* See driver_collective.h. */
#include "driver_collective.h"

#include <string.h>

/* `sums`: over ranks; `input_blocks`, `output_blocks`: the buffer is a block a rank, else one block. */
static const struct {
  const char* name;
  bool sums, input_blocks, output_blocks, rooted;
} kRows[kNumCollectives] = {
    [kAllReduce] = {"all_reduce", true, false, false, false},
    [kReduceScatter] = {"reduce_scatter", true, true, false, false},
    [kAllGather] = {"all_gather", false, false, true, false},
    [kBroadcast] = {"broadcast", false, false, false, true},
    [kAllToAll] = {"all_to_all", false, true, true, false},
};

const char* driver_collective_names(void) { return "all_reduce, reduce_scatter, all_gather, broadcast, all_to_all"; }

bool driver_find_collective(const char* name, DriverCollective* collective) {
  for (int i = 0; i < kNumCollectives; ++i) {
    if (strcmp(name, kRows[i].name) != 0) continue;
    *collective = (DriverCollective)i;
    return true;
  }
  return false;
}

DriverShape driver_shape(DriverCollective collective, int size, size_t bytes) {
  const size_t inputs = kRows[collective].input_blocks ? (size_t)size : 1;
  const size_t outputs = kRows[collective].output_blocks ? (size_t)size : 1;
  const size_t whole = bytes / sizeof(float) / (inputs > outputs ? inputs : outputs);
  const size_t count = whole > 0 ? whole : 1;
  return (DriverShape){count, inputs * count, outputs * count, kRows[collective].rooted};
}

int driver_num_roots(DriverCollective collective, int size) { return kRows[collective].rooted ? size : 1; }

void driver_fill_input(DriverRole role, DriverData data, DriverShape shape, float* input) {
  if (kRows[role.collective].rooted && role.rank != role.root) return;
  driver_fill(data, role.rank, input, shape.input);
}

size_t driver_count_wrong_output(DriverRole role, DriverData data, DriverShape shape, const float* output) {
  DriverSource source = {0, 1, 0};
  /* Of an input that is a block a rank everybody gets the block with the own number. */
  if (kRows[role.collective].input_blocks) source.start = (size_t)role.rank * shape.count;
  if (kRows[role.collective].sums) source.num_ranks = role.size;
  if (kRows[role.collective].rooted) source.first_rank = role.root;
  if (!kRows[role.collective].output_blocks) return driver_count_wrong(data, source, output, shape.output);
  size_t wrong = 0;
  for (; source.first_rank < role.size; ++source.first_rank)
    wrong += driver_count_wrong(data, source, output + (size_t)source.first_rank * shape.count, shape.count);
  return wrong;
}
