// See engine_ranks.h.
#include "workers/engine_ranks.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>

namespace ringtree::workers {

std::vector<pid_t> fork_ranks(int num_ranks, const std::function<int(int rank)>& rank_main) {
  std::vector<pid_t> ranks;
  std::fflush(nullptr);  // else what is buffered would be printed by every rank
  for (int rank = 0; rank < num_ranks; ++rank) {
    const pid_t pid = fork();
    if (pid < 0) throw std::runtime_error("cannot fork rank " + std::to_string(rank) + ": " + std::strerror(errno));
    if (pid == 0) {
      const int status = rank_main(rank);
      std::fflush(nullptr);
      _exit(status);  // not exit(): the destructors of statics are the parent's
    }
    ranks.push_back(pid);
  }
  return ranks;
}

int wait_for_ranks(const std::vector<pid_t>& ranks) {
  int result = 0;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    int status = 0;
    while (waitpid(ranks[rank], &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
    result = 1;
    if (WIFSIGNALED(status))
      std::fprintf(stderr, "engine_worker: rank %zu was ended by signal %d\n", rank, WTERMSIG(status));
    else
      std::fprintf(stderr, "engine_worker: rank %zu ended with exit code %d\n", rank, WEXITSTATUS(status));
  }
  return result;
}

}  // namespace ringtree::workers
