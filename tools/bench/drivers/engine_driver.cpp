// One rank, or all ranks, of our engine for the benchmark; what it is told is in driver.h. Three ways to start it:
//   engine_driver --ranks 4 --socket PATH                forks 4 ranks, which connect to the controller at PATH
//   RANK=0 WORLD_SIZE=2 engine_driver --store ID --socket PATH     one rank, as launchers start it; on several hosts
//                                                                  ID is tcp://HOST:PORT of rank 0
//   engine_driver --ranks 2 --sizes 8,4K,1M              no controller: prints a table of medians (engine_table.h)
// All take --pin 0,1 (rank r runs on core list[r % length]) and --rules TEXT, what `auto` runs (core/engine/profile.h);
// without it the model decides. Build, from the repository's root:
//   cmake -S . -B build/bench-drivers/engine -G Ninja -DCMAKE_BUILD_TYPE=Release -DRINGTREE_WERROR=OFF
//   cmake --build build/bench-drivers/engine --target engine_driver    # -> build/bench-drivers/engine/engine_driver
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "tools/bench/drivers/driver_data.h"
#include "tools/bench/drivers/engine_arm.h"
#include "tools/bench/drivers/engine_ranks.h"
#include "tools/bench/drivers/engine_table.h"

namespace {

using namespace ringtree::bench;

constexpr const char* kUsage =
    "engine_driver --ranks N --socket PATH [--pin 0,1]              N ranks for a controller\n"
    "engine_driver --store ID --socket PATH [--pin 0,1]             one rank: RANK and WORLD_SIZE are set\n"
    "engine_driver --ranks N --sizes 8,4K,1M [--pin 0,1]            prints a table; also takes\n"
    "  --algorithm auto,ring,two_shot/ll128   columns: NAME[/PROTOCOL[/SLICE_BYTES[/streaming or /ordinary]]]\n"
    "  --collective all_reduce   (or reduce_scatter, all_gather, broadcast, all_to_all)\n"
    "  --rounds 5   --batches 20   --warmup 3   --calls 0 (as many as take 200 us)\n"
    "  --offset 0 (bytes off 64-byte alignment)   --seed 1   --shared 0 (1: buffers that peers read in place)\n"
    "  --probe 0,1 (cores between which a line's way is timed)\n";

struct Options {
  DriverOptions common = {};
  int num_ranks = 0;
  std::string store_id, rules;
  TableRequest table;
};

struct UsageMistake : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// "4K", "1M", "2G" or plain bytes.
size_t parse_size(const std::string& text) {
  size_t used = 0, unit = 1;
  unsigned long long number = 0;
  if (!text.empty() && text[0] >= '0' && text[0] <= '9') number = std::stoull(text, &used);
  const std::string suffix = text.substr(used);
  if (suffix == "K") unit = size_t{1} << 10;
  if (suffix == "M") unit = size_t{1} << 20;
  if (suffix == "G") unit = size_t{1} << 30;
  if (used == 0 || (unit == 1 && !suffix.empty()))
    throw UsageMistake("'" + text + "' is no number of bytes, such as 8, 4K or 1M");
  return number * unit;
}

int parse_count(const std::string& text, int least, int most) {
  const size_t number = parse_size(text);
  if (number < static_cast<size_t>(least) || number > static_cast<size_t>(most))
    throw UsageMistake(text + " is not between " + std::to_string(least) + " and " + std::to_string(most));
  return static_cast<int>(number);
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> words;
  std::istringstream stream(list);
  for (std::string word; std::getline(stream, word, ',');) words.push_back(word);
  return words;
}

// False: there is no such option.
bool parse_option(const std::string& name, const std::string& value, Options& options) {
  constexpr int kMany = 1 << 30;
  TableRequest& table = options.table;
  if (name == "--ranks") {
    options.num_ranks = parse_count(value, 1, kDriverMaxRanks);
  } else if (name == "--store") {
    options.store_id = value;
  } else if (name == "--rules") {
    options.rules = value;
  } else if (name == "--sizes") {
    for (const std::string& size : split(value)) table.sizes.push_back(parse_size(size));
  } else if (name == "--collective") {
    table.collective = value;
  } else if (name == "--algorithm") {
    table.algorithms = split(value);
  } else if (name == "--rounds") {
    table.rounds = parse_count(value, 1, kMany);
  } else if (name == "--batches") {
    table.batches = static_cast<size_t>(parse_count(value, 1, kMany));
  } else if (name == "--warmup") {
    table.warmup = static_cast<size_t>(parse_count(value, 0, kMany));
  } else if (name == "--calls") {
    table.calls = static_cast<size_t>(parse_count(value, 0, kMany));
  } else if (name == "--offset") {
    table.offset = static_cast<size_t>(parse_count(value, 0, 63));
  } else if (name == "--seed") {
    table.seed = parse_size(value);
  } else if (name == "--shared") {
    table.shared = parse_count(value, 0, 1) == 1;
  } else if (name == "--probe") {
    const std::vector<std::string> cores = split(value);
    if (cores.size() != 2) throw UsageMistake("--probe needs two cores, such as 0,1");
    table.core_a = parse_count(cores[0], 0, kMaxCores);
    table.core_b = parse_count(cores[1], 0, kMaxCores);
  } else {
    return false;
  }
  return true;
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc;) {
    const int known = driver_option(argc, argv, &i, &options.common);
    if (known < 0) throw UsageMistake("see above");
    if (known > 0) continue;
    const std::string name = argv[i];
    if (i + 1 >= argc || !parse_option(name, argv[i + 1], options))
      throw UsageMistake("unknown option, or one without a value: " + name);
    i += 2;
  }
  if (options.table.algorithms.empty()) options.table.algorithms = {"auto"};
  if ((options.common.socket_path != nullptr) == !options.table.sizes.empty())
    throw UsageMistake("needs one of --socket and --sizes");
  return options;
}

// A store that no other job of this user has.
std::string fresh_store_id() { return "bench-" + std::to_string(getpid()) + "-" + std::to_string(ringtree::now_ns()); }

int one_rank(const Options& options) {
  const int rank = driver_environment_rank();
  const char* size = std::getenv("WORLD_SIZE");
  if (rank < 0 || size == nullptr || options.store_id.empty())
    throw UsageMistake("needs --ranks N, or RANK and WORLD_SIZE in the environment and --store ID");
  return driver_run(&engine_arm(options.store_id, rank, parse_count(size, 1, kDriverMaxRanks), options.rules),
                    &options.common, rank);
}

int all_ranks(const Options& options) {
  const std::string store_id = fresh_store_id();
  return wait_for_ranks(fork_ranks(options.num_ranks, [&](int rank) {
    return driver_run(&engine_arm(store_id, rank, options.num_ranks, options.rules), &options.common, rank);
  }));
}

// The child's side of a socket pair: as driver_run, but connected already.
int table_rank(const Options& options, const std::string& store_id, int rank, int socket) {
  int same_rank = 0, size = 0;
  const DriverArm& arm = engine_arm(store_id, rank, options.num_ranks, options.rules);
  if (driver_pin(&options.common, rank) != 0) return 1;
  if (const char* error = arm.start(&same_rank, &size)) {
    std::fprintf(stderr, "engine_driver: %s\n", error);
    return 1;
  }
  const int status = driver_serve(&arm, socket, rank, size);
  arm.finish();
  return status;
}

int table(const Options& options) {
  const std::string store_id = fresh_store_id();
  std::vector<int> ours, theirs;
  for (int rank = 0; rank < options.num_ranks; ++rank) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) throw std::runtime_error(std::strerror(errno));
    ours.push_back(pair[0]);
    theirs.push_back(pair[1]);
  }
  const std::vector<pid_t> ranks = fork_ranks(options.num_ranks, [&](int rank) {
    for (int socket : ours) close(socket);  // else no rank would see that the parent has gone
    for (int other = 0; other < options.num_ranks; ++other)
      if (other != rank) close(theirs[static_cast<size_t>(other)]);
    return table_rank(options, store_id, rank, theirs[static_cast<size_t>(rank)]);
  });
  for (int socket : theirs) close(socket);
  const int status = print_table(ours, options.table);
  for (int socket : ours) close(socket);
  return wait_for_ranks(ranks) != 0 ? 1 : status;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Options options = parse(argc, argv);
    if (options.num_ranks == 0) return one_rank(options);
    return options.common.socket_path != nullptr ? all_ranks(options) : table(options);
  } catch (const UsageMistake& mistake) {
    std::fprintf(stderr, "engine_driver: %s\n%s", mistake.what(), kUsage);
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "engine_driver: %s\n", error.what());
    return 1;
  }
}
