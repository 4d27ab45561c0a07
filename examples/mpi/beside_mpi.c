/* ringtree beside MPI in one program: MPI starts the ranks and passes ringtree's id around, then both sum the same
 * numbers and must agree. For programs that have MPI already and want ringtree's all_reduce.
 *   mpirun -n 2 ./beside_mpi
 * On several hosts ringtree must be told which network connects them, and needs a secret (docs/hosts.md):
 *   mpirun -x RINGTREE_SECRET_FILE -x RINGTREE_IFNAME=eth0 -n 8 --host a:4,b:4 ./beside_mpi */
#include <mpi.h>
#include <ringtree.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT 1000000

/* Ends all ranks with the text if a call of ringtree's failed. MPI's own errors end the program by default. */
static void check(rtResult_t result, const char* what) {
  if (result == rtSuccess) return;
  fprintf(stderr, "%s: %s: %s\n", what, rtGetErrorString(result), rtGetLastError(NULL));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Small integers that differ between ranks and elements: their sums are exact in any order. */
static double item(int rank, int i) { return (double)((i * 7 + rank * 13) % 101 - 50); }

int main(int argc, char** argv) {
  int rank, size, i, num_wrong = 0, num_wrong_anywhere = 0;
  rtUniqueId id;
  rtComm_t comm;
  double *input, *by_mpi, *by_ringtree;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  if (rank == 0) check(rtGetUniqueId(&id), "rtGetUniqueId");
  MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD);
  check(rtCommInitRank(&comm, size, id, rank), "rtCommInitRank");

  input = malloc(COUNT * sizeof *input);
  by_mpi = malloc(COUNT * sizeof *by_mpi);
  by_ringtree = malloc(COUNT * sizeof *by_ringtree);
  if (!input || !by_mpi || !by_ringtree) MPI_Abort(MPI_COMM_WORLD, 1);
  for (i = 0; i < COUNT; ++i) input[i] = item(rank, i);

  MPI_Allreduce(input, by_mpi, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  check(rtAllReduce(input, by_ringtree, COUNT, rtFloat64, rtSum, comm), "rtAllReduce");

  for (i = 0; i < COUNT; ++i)
    if (by_ringtree[i] != by_mpi[i]) ++num_wrong;
  MPI_Allreduce(&num_wrong, &num_wrong_anywhere, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%d ranks, %d sums each: %d differ between ringtree and MPI\n", size, COUNT, num_wrong_anywhere);

  free(input);
  free(by_mpi);
  free(by_ringtree);
  check(rtCommDestroy(comm), "rtCommDestroy");
  MPI_Finalize();
  return num_wrong_anywhere == 0 ? 0 : 1;
}
