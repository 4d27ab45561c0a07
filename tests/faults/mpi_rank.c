// A rank of MPI that calls MPI_Allreduce until it fails. For: peers.py. Writes lines of JSON as gloo_rank.py does, and
// stays alive until it is killed. With the default error handler a failure ends the job instead.
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { kHealthy = 5, kCount = 50000 };

static float from[kCount], to[kCount];

int main(int argc, char** argv) {
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc > 1 && strcmp(argv[1], "return") == 0) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int call = 0; call < kHealthy; ++call)
    MPI_Allreduce(from, to, kCount, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  printf("{\"rank\": %d, \"pid\": %d}\n", rank, (int)getpid());
  fflush(stdout);
  int error = MPI_SUCCESS;
  while (error == MPI_SUCCESS) error = MPI_Allreduce(from, to, kCount, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(error, text, &length);
  printf("{\"rank\": %d, \"error\": \"%d\", \"text\": \"%s\", \"at\": %.6f}\n", rank, error, text,
         (double)now.tv_sec + 1e-9 * (double)now.tv_nsec);
  fflush(stdout);
  for (;;) pause();
}
