/* An all_reduce between processes, in C: `./all_reduce 4` forks four ranks, each adds its own numbers to everybody's
 * and checks the sum. How it is built is in the Makefile (pkg-config) and in CMakeLists.txt (find_package) beside it;
 * how ranks that a launcher starts get the id, in ../mpi/beside_mpi.c. */
#include <ringtree.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT 1000000

/* Leaves with the text if a call failed. */
static void check(rtResult_t result, const char* what) {
  if (result == rtSuccess) return;
  fprintf(stderr, "%s: %s: %s\n", what, rtGetErrorString(result), rtGetLastError(NULL));
  exit(1);
}

/* Rank r holds r + 1 everywhere, so that the sum of n ranks is n(n+1)/2: exact in float32. */
static void run_rank(rtUniqueId id, int num_ranks, int rank) {
  const float expected = (float)(num_ranks * (num_ranks + 1) / 2);
  float* data = malloc(COUNT * sizeof *data);
  rtComm_t comm;
  size_t i;
  if (!data) exit(1);
  for (i = 0; i < COUNT; ++i) data[i] = (float)(rank + 1);

  check(rtCommInitRank(&comm, num_ranks, id, rank), "rtCommInitRank");
  check(rtAllReduce(data, data, COUNT, rtFloat32, rtSum, comm), "rtAllReduce"); /* in place */
  check(rtCommDestroy(comm), "rtCommDestroy");

  for (i = 0; i < COUNT; ++i) {
    if (data[i] == expected) continue;
    fprintf(stderr, "rank %d: element %zu is %g instead of %g\n", rank, i, data[i], expected);
    exit(1);
  }
  printf("rank %d of %d: every sum is %g\n", rank, num_ranks, expected);
  free(data);
}

int main(int argc, char** argv) {
  const int num_ranks = argc > 1 ? atoi(argv[1]) : 2;
  int rank, failed = 0;
  rtUniqueId id;
  if (num_ranks < 1 || num_ranks > 64) {
    fprintf(stderr, "usage: %s [1..64 ranks]\n", argv[0]);
    return 2;
  }
  check(rtGetUniqueId(&id), "rtGetUniqueId"); /* before the fork: all children have it */
  for (rank = 0; rank < num_ranks; ++rank) {
    const pid_t child = fork();
    if (child == 0) {
      run_rank(id, num_ranks, rank);
      return 0;
    }
    if (child < 0) {
      perror("fork");
      return 1;
    }
  }
  for (rank = 0; rank < num_ranks; ++rank) {
    int status = 0;
    if (wait(&status) < 0 || status != 0) failed = 1;
  }
  return failed;
}
