/* How a worker comes up: options that all workers have, the rank as launchers tell it, pinning, the library, the
 * controller's socket. Not here: the conversation that follows (worker_session.c). */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "worker.h"

/* "0,1,4" into options->cores. */
static int parse_cores(const char* list, WorkerOptions* options) {
  options->num_cores = 0;
  for (const char* at = list;; ++at) {
    char* end;
    if (*at < '0' || *at > '9') return -1;
    const unsigned long core = strtoul(at, &end, 10);
    if (core >= CPU_SETSIZE || options->num_cores == kMaxCores) return -1;
    options->cores[options->num_cores++] = (int)core;
    at = end;
    if (*at == '\0') return 0;
    if (*at != ',') return -1;
  }
}

int worker_option(int argc, char** argv, int* index, WorkerOptions* options) {
  const char* name = argv[*index];
  const int is_socket = strcmp(name, "--socket") == 0, is_pin = strcmp(name, "--pin") == 0;
  if (!is_socket && !is_pin) return 0;
  if (*index + 1 >= argc) {
    fprintf(stderr, "worker: %s needs a value\n", name);
    return -1;
  }
  const char* value = argv[*index + 1];
  if (is_socket) options->socket_path = value;
  if (is_pin && parse_cores(value, options) != 0) {
    fprintf(stderr, "worker: --pin %s is not a list of cores such as 0,1\n", value);
    return -1;
  }
  *index += 2;
  return 1;
}

int worker_environment_rank(void) {
  static const char* const kVariables[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "RANK"};
  for (size_t i = 0; i < sizeof kVariables / sizeof kVariables[0]; ++i) {
    const char* text = getenv(kVariables[i]);
    char* end = NULL;
    const long rank = text ? strtol(text, &end, 10) : -1;
    if (text && end != text && *end == '\0' && rank >= 0 && rank < 1 << 20) return (int)rank;
  }
  return -1;
}

int worker_pin(const WorkerOptions* options, int rank) {
  if (options->num_cores == 0) return 0;
  const int core = options->cores[rank % options->num_cores];
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  if (sched_setaffinity(0, sizeof set, &set) == 0) return 0;
  fprintf(stderr, "worker: rank %d cannot be pinned to core %d: %s\n", rank, core, strerror(errno));
  return -1;
}

void worker_cores_text(char* text, size_t capacity) {
  cpu_set_t set;
  size_t length = 0;
  text[0] = '\0';
  if (sched_getaffinity(0, sizeof set, &set) != 0) return;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    char range[32];
    int last = core;
    if (!CPU_ISSET(core, &set)) continue;
    while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &set)) ++last;
    const char* comma = length > 0 ? "," : "";
    const int more = last > core ? snprintf(range, sizeof range, "%s%d-%d", comma, core, last)
                                 : snprintf(range, sizeof range, "%s%d", comma, core);
    if (length + (size_t)more >= capacity) return;
    memcpy(text + length, range, (size_t)more + 1);
    length += (size_t)more;
    core = last;
  }
}

static int connect_to(const char* path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path) {
    fprintf(stderr, "worker: the socket's path is too long: %s\n", path);
    return -1;
  }
  memcpy(address.sun_path, path, strlen(path) + 1);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd >= 0 && connect(fd, (const struct sockaddr*)&address, sizeof address) == 0) return fd;
  fprintf(stderr, "worker: cannot connect to %s: %s\n", path, strerror(errno));
  if (fd >= 0) close(fd);
  return -1;
}

int worker_run(const WorkerArm* arm, const WorkerOptions* options, int rank) {
  int size = 0;
  if (worker_pin(options, rank) != 0) return 1;
  const char* error = arm->start(&rank, &size);
  if (!error && size > kMaxRanks) error = "too many ranks";
  if (error) {
    fprintf(stderr, "worker: %s\n", error);
    return 1;
  }
  const int socket = connect_to(options->socket_path);
  if (socket < 0) return 1;
  const int status = worker_serve(arm, socket, rank, size);
  close(socket);
  arm->finish();
  return status;
}

int worker_main(int argc, char** argv, const WorkerArm* arm) {
  static WorkerOptions options;
  for (int i = 1; i < argc;) {
    const int known = worker_option(argc, argv, &i, &options);
    if (known == 0)
      fprintf(stderr, "worker: unknown option %s; choose from: --socket PATH, --pin CORE_LIST\n", argv[i]);
    if (known != 1) return 2;
  }
  if (!options.socket_path) {
    fprintf(stderr, "worker: needs --socket PATH, where a controller listens\n");
    return 2;
  }
  const int rank = worker_environment_rank();
  if (rank < 0) {
    fprintf(stderr, "worker: no rank in the environment; start it with the library's own mpirun\n");
    return 2;
  }
  return worker_run(arm, &options, rank);
}
