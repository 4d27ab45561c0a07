// One rank, or all ranks of this host, of our engine as a native worker; what it is told is in worker.h.
//   engine_worker --ranks 4 --socket PATH                          forks 4 ranks, which connect to the controller at
//   PATH RANK=0 WORLD_SIZE=2 engine_worker --store ID --socket PATH     one rank, as launchers start it; on several
//   hosts
//                                                                  ID is tcp://HOST:PORT of rank 0
// Both take --pin 0,1 (rank r runs on core list[r % length]) and --rules TEXT, what `auto` runs
// (core/engine/profile.h); without it the model decides. Comes with the Python package; ringtree/arms/native_engine.py
// starts it.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "core/base/clock.h"
#include "workers/engine_arm.h"
#include "workers/engine_ranks.h"

namespace {

using namespace ringtree::workers;

constexpr const char* kUsage =
    "engine_worker --ranks N --socket PATH [--pin 0,1] [--rules TEXT]      N ranks\n"
    "engine_worker --store ID --socket PATH [--pin 0,1] [--rules TEXT]     one rank: RANK and WORLD_SIZE are set\n";

struct Options {
  WorkerOptions common = {};
  int num_ranks = 0;
  std::string store_id, rules;
};

struct UsageMistake : std::runtime_error {
  using std::runtime_error::runtime_error;
};

int parse_ranks(const std::string& text) {
  const int number =
      text.size() <= 4 && text.find_first_not_of("0123456789") == std::string::npos ? std::atoi(text.c_str()) : 0;
  if (number < 1 || number > kMaxRanks) throw UsageMistake("invalid number of ranks '" + text + "'");
  return number;
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc;) {
    const int known = worker_option(argc, argv, &i, &options.common);
    if (known < 0) throw UsageMistake("see above");
    if (known > 0) continue;
    const std::string name = argv[i], value = i + 1 < argc ? argv[i + 1] : "";
    if (i + 1 < argc && name == "--ranks")
      options.num_ranks = parse_ranks(value);
    else if (i + 1 < argc && name == "--store")
      options.store_id = value;
    else if (i + 1 < argc && name == "--rules")
      options.rules = value;
    else
      throw UsageMistake("unknown option, or one without a value: " + name);
    i += 2;
  }
  if (options.common.socket_path == nullptr) throw UsageMistake("needs --socket");
  return options;
}

int one_rank(const Options& options) {
  const int rank = worker_environment_rank();
  const char* size = std::getenv("WORLD_SIZE");
  if (rank < 0 || size == nullptr || options.store_id.empty())
    throw UsageMistake("needs --ranks N, or RANK and WORLD_SIZE in the environment and --store ID");
  return worker_run(&engine_arm(options.store_id, rank, parse_ranks(size), options.rules), &options.common, rank);
}

int all_ranks(const Options& options) {
  // A store that no other job of this user has.
  const std::string store_id = "worker-" + std::to_string(getpid()) + "-" + std::to_string(ringtree::now_ns());
  return wait_for_ranks(fork_ranks(options.num_ranks, [&](int rank) {
    return worker_run(&engine_arm(store_id, rank, options.num_ranks, options.rules), &options.common, rank);
  }));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Options options = parse(argc, argv);
    return options.num_ranks == 0 ? one_rank(options) : all_ranks(options);
  } catch (const UsageMistake& mistake) {
    std::fprintf(stderr, "engine_worker: %s\n%s", mistake.what(), kUsage);
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "engine_worker: %s\n", error.what());
    return 1;
  }
}
