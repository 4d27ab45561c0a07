// See engine_table.h.
#include "tools/bench/drivers/engine_table.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>

#include "core/probe/handoff.h"

namespace ringtree::bench {
namespace {

constexpr double kBatchSeconds = 200e-6;
constexpr double kProbeSeconds = 0.002;
constexpr size_t kMaxCalls = 10000;

// The other end of driver_session.c, for all ranks at once.
class Ranks {
 public:
  explicit Ranks(const std::vector<int>& sockets) : sockets_(sockets), unread_(sockets.size()) {
    for (size_t rank = 0; rank < sockets_.size(); ++rank) read_line(rank);  // the introductions
  }

  /// Sends `line` to all ranks and returns their answers after "ok", by rank.
  std::vector<std::string> ask(const std::string& line) {
    const std::string sent = line + "\n";
    for (int socket : sockets_)
      if (send(socket, sent.data(), sent.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(sent.size()))
        throw std::runtime_error("a rank has gone");
    std::vector<std::string> answers;
    for (size_t rank = 0; rank < sockets_.size(); ++rank) {
      const std::string answer = read_line(rank);
      if (answer.rfind("ok", 0) != 0) throw std::runtime_error("rank " + std::to_string(rank) + ": " + answer);
      answers.push_back(answer.substr(2));
    }
    return answers;
  }

 private:
  std::string read_line(size_t rank) {
    std::string& unread = unread_[rank];
    size_t end;
    while ((end = unread.find('\n')) == std::string::npos) {
      char some[4096];
      const ssize_t got = read(sockets_[rank], some, sizeof some);
      if (got <= 0) throw std::runtime_error("rank " + std::to_string(rank) + " has gone");
      unread.append(some, static_cast<size_t>(got));
    }
    const std::string line = unread.substr(0, end);
    unread.erase(0, end + 1);
    return line;
  }

  std::vector<int> sockets_;
  std::vector<std::string> unread_;
};

struct Visit {
  size_t wrong = 0;
  std::vector<double> seconds;  // of each batch, of the slowest rank
};

Visit visit(Ranks& ranks, const TableRequest& request, size_t bytes, size_t calls, size_t batches, size_t warmup) {
  std::ostringstream line;
  line << "run " << request.collective << ' ' << bytes << ' ' << calls << ' ' << batches << ' ' << warmup << ' '
       << request.offset << ' ' << request.seed << ' ' << request.shared;
  Visit result;
  result.seconds.assign(batches, 0);
  for (const std::string& answer : ranks.ask(line.str())) {
    std::istringstream words(answer);
    size_t wrong = 0;
    words >> wrong;
    result.wrong += wrong;
    for (double& slowest : result.seconds) {
      double seconds = 0;
      words >> seconds;
      slowest = std::max(slowest, seconds);
    }
    if (!words) throw std::runtime_error("not an answer: " + answer);
  }
  return result;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void force_algorithm(Ranks& ranks, const std::string& column) {
  std::string words = column;
  std::replace(words.begin(), words.end(), '/', ' ');
  ranks.ask("algorithm " + words);
}

// The way of a line from core to core, ns; "-" where the cores were taken, or are no two.
std::string handoff_text(HandoffProbe& probe) {
  const std::optional<double> seconds = probe.measure(kProbeSeconds);
  return seconds ? std::to_string(static_cast<int>(*seconds * 1e9 + 0.5)) : "-";
}

int column_width(const std::string& title) { return static_cast<int>(std::max<size_t>(title.size(), 12)); }

size_t choose_calls(Ranks& ranks, const TableRequest& request, size_t bytes) {
  if (request.calls > 0) return request.calls;
  const size_t trial = bytes <= size_t{1} << 16 ? 16 : 1;
  const Visit tried = visit(ranks, request, bytes, trial, 3, 1);
  const double seconds = std::max(median(tried.seconds) / static_cast<double>(trial), 1e-9);
  return std::clamp(static_cast<size_t>(kBatchSeconds / seconds), size_t{1}, kMaxCalls);
}

// One line of the table; the number of wrong elements.
size_t print_row(Ranks& ranks, const TableRequest& request, size_t bytes, HandoffProbe& probe) {
  std::vector<std::vector<double>> times(request.algorithms.size());  // of a call, by column
  std::vector<size_t> calls(request.algorithms.size());
  size_t wrong = 0;
  const std::string before = handoff_text(probe);
  for (int round = 0; round < request.rounds; ++round) {
    for (size_t i = 0; i < request.algorithms.size(); ++i) {
      const size_t column = (i + static_cast<size_t>(round)) % request.algorithms.size();
      force_algorithm(ranks, request.algorithms[column]);
      if (round == 0) calls[column] = choose_calls(ranks, request, bytes);
      const Visit measured = visit(ranks, request, bytes, calls[column], request.batches, request.warmup);
      wrong += measured.wrong;
      for (double seconds : measured.seconds) times[column].push_back(seconds / static_cast<double>(calls[column]));
    }
  }
  std::printf("%10zu %5s-%-5s", bytes, before.c_str(), handoff_text(probe).c_str());
  for (size_t column = 0; column < times.size(); ++column)
    std::printf(" %*.3f", column_width(request.algorithms[column]), 1e6 * median(times[column]));
  if (wrong > 0) std::printf("   %zu elements WRONG", wrong);
  std::printf("\n");
  std::fflush(stdout);
  return wrong;
}

}  // namespace

int print_table(const std::vector<int>& sockets, const TableRequest& request) {
  try {
    Ranks ranks(sockets);
    HandoffProbe probe(request.core_a, request.core_b);
    std::printf("%s float32, %zu ranks: median µs of a call\n%10s %11s", request.collective.c_str(), sockets.size(),
                "bytes", "handoff ns");
    for (const std::string& algorithm : request.algorithms)
      std::printf(" %*s", column_width(algorithm), algorithm.c_str());
    std::printf("\n");
    size_t wrong = 0;
    for (size_t bytes : request.sizes) wrong += print_row(ranks, request, bytes, probe);
    return wrong == 0 ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "engine_driver: %s\n", error.what());
    return 1;
  }
}

}  // namespace ringtree::bench
