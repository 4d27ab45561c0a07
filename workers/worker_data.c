/* See worker_data.h. */
#include "worker_data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void worker_data_free(WorkerData* data) {
  free(data->own);
  free(data->due);
  *data = (WorkerData){0};
}

/* The `index`-th pattern of the file, twice; NULL: the file is too short, or there is no memory. */
static char* load(FILE* file, long index, size_t bytes) {
  char* pattern = (char*)malloc(2 * bytes);
  if (pattern && fseek(file, index * (long)bytes, SEEK_SET) == 0 && fread(pattern, 1, bytes, file) == bytes) {
    memcpy(pattern + bytes, pattern, bytes);
    return pattern;
  }
  free(pattern);
  return NULL;
}

const char* worker_data_load(WorkerData* data, const char* path, int rank, int size, size_t item, size_t period,
                             size_t step) {
  worker_data_free(data);
  FILE* file = fopen(path, "rb");
  if (!file) return "the file of the data cannot be read";
  *data = (WorkerData){item, period, step, load(file, rank, item * period), load(file, size, item * period)};
  fclose(file);
  if (data->own && data->due) return NULL;
  worker_data_free(data);
  return "the file of the data is too short";
}

/* Where in the patterns what belongs to `number` begins, in bytes. */
static size_t phase(const WorkerData* data, uint64_t number) {
  return (size_t)(number % data->period) * data->step % data->period * data->item;
}

void worker_data_write(const WorkerData* data, uint64_t number, void* to, size_t count) {
  const char* from = data->own + phase(data, number);
  const size_t block = data->period * data->item, bytes = count * data->item;
  for (size_t done = 0; done < bytes; done += block)
    memcpy((char*)to + done, from, bytes - done < block ? bytes - done : block);
}

size_t worker_data_wrong(const WorkerData* data, uint64_t number, const void* found, size_t count) {
  const char* due = data->due + phase(data, number);
  const size_t block = data->period * data->item, bytes = count * data->item;
  size_t wrong = 0;
  for (size_t done = 0; done < bytes; done += block) {
    const char* here = (const char*)found + done;
    const size_t length = bytes - done < block ? bytes - done : block;
    if (memcmp(here, due, length) == 0) continue;
    for (size_t at = 0; at < length; at += data->item) wrong += memcmp(here + at, due + at, data->item) != 0;
  }
  return wrong;
}
