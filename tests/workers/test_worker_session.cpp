// A worker's conversation with the controller, on an arm of one rank that is made up: what it answers, that a library
// which sums wrongly is found out, and what the calls of a batch look like.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/workers/patterns.h"
#include "workers/worker.h"

namespace {

// What the made-up library has seen, and how it is to misbehave. Only the rank's thread touches it between commands.
struct Library {
  size_t num_barriers = 0;
  std::set<const void*> inputs;
  std::set<size_t> misalignments;  // of all buffers
  std::set<std::vector<float>> data;
  size_t last_count = 0;
  std::vector<int> roots;      // of the calls, in their order
  std::vector<bool> in_place;  // so was the call
  std::string asked;
  size_t wrong_elements = 0;      // that each call is to leave
  const char* failure = nullptr;  // of a call
  int num_shared = 0;
};
Library library;

const char* start(int*, int*) { return nullptr; }
const char* version() { return "Made\tup \"1.0\"\nsecond line"; }

// Every collective over one rank, and a broadcast to others, who are not there.
const char* run(const WorkerCall* call) {
  if (library.failure) return library.failure;
  const size_t count = call->count;
  const auto* input = static_cast<const float*>(call->input);
  auto* output = static_cast<float*>(call->output);
  library.roots.push_back(call->root);
  library.in_place.push_back(input == output);
  library.inputs.insert(input);
  library.misalignments.insert(reinterpret_cast<uintptr_t>(input) % 64);
  library.misalignments.insert(reinterpret_cast<uintptr_t>(output) % 64);
  library.last_count = count;
  std::memmove(output, input, count * sizeof(float));
  if (count <= 64) {
    std::vector<float> copy(count);
    std::memcpy(copy.data(), input, count * sizeof(float));
    library.data.insert(copy);
  }
  for (size_t i = 0; i < library.wrong_elements; ++i) {
    float element;
    std::memcpy(&element, output + i, sizeof element);
    element += 1;
    std::memcpy(output + i, &element, sizeof element);
  }
  return nullptr;
}

const char* prepare(const char* dtype, const char* op) {
  return std::strcmp(dtype, "float32") == 0 && std::strcmp(op, "sum") == 0 ? nullptr : "unsupported";
}

const char* control(const char* name, char* value, size_t capacity) {
  std::snprintf(value, capacity, "4 %s", name);
  return std::strcmp(name, "nope") == 0 ? "there is no nope" : nullptr;
}

const char* barrier() {
  ++library.num_barriers;
  return nullptr;
}

const char* algorithm(char** words, size_t num_words) {
  library.asked.clear();
  for (size_t i = 0; i < num_words; ++i) library.asked += std::string(words[i]) + ";";
  return library.asked == "nope;" ? "there is no nope\nhere" : nullptr;
}

void* allocate_shared(size_t bytes) {
  ++library.num_shared;
  return std::aligned_alloc(64, (bytes + 63) / 64 * 64);
}

void free_shared(void* memory) {
  --library.num_shared;
  std::free(memory);
}

void finish() {}

constexpr WorkerArm kPlain = {.start = start,
                              .version = version,
                              .collectives = {run, nullptr, run, run, run},
                              .prepare = prepare,
                              .barrier = barrier,
                              .algorithm = nullptr,
                              .control = nullptr,
                              .allocate_shared = nullptr,
                              .free_shared = nullptr,
                              .finish = finish};
constexpr WorkerArm kFull = {.start = start,
                             .version = version,
                             .collectives = {run, run, run, run, run, run, run, run},
                             .prepare = prepare,
                             .barrier = barrier,
                             .algorithm = algorithm,
                             .control = control,
                             .allocate_shared = allocate_shared,
                             .free_shared = free_shared,
                             .finish = finish};

// A worker on a thread of its own, and the controller's end of its socket.
class Worker {
 public:
  explicit Worker(const WorkerArm& arm = kPlain, int size = 1, bool has_data = true) : file_(size, false) {
    library = {};
    int pair[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    socket_ = pair[0];
    thread_ = std::thread([this, &arm, size, theirs = pair[1]] {
      status_ = worker_serve(&arm, theirs, 0, size);
      close(theirs);
    });
    hello_ = read_line();
    if (has_data) {
      EXPECT_EQ(ask("data 4 997 113 " + file_.path()), "ok");
    }
  }
  ~Worker() {
    if (thread_.joinable()) leave("quit\n");
  }

  const std::string& hello() const { return hello_; }
  void send_text(const std::string& text) {
    ASSERT_EQ(send(socket_, text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
  }
  std::string ask(const std::string& line) {
    send_text(line + "\n");
    return read_line();
  }
  // Sends `last`, hangs up and returns main()'s exit code.
  int leave(const std::string& last = "") {
    if (!last.empty()) send_text(last);
    shutdown(socket_, SHUT_WR);
    thread_.join();
    close(socket_);
    return status_;
  }

 private:
  std::string read_line() {
    std::string line;
    for (char c; read(socket_, &c, 1) == 1 && c != '\n';) line += c;
    return line;
  }

  ringtree::workers::testing::PatternFile file_;
  int socket_ = -1, status_ = -1;
  std::string hello_;
  std::thread thread_;
};

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

TEST(WorkerSession, SaysWhoItIs) {
  const Worker worker;
  const std::string start = "{\"rank\":0,\"size\":1,\"pid\":" + std::to_string(getpid()) + ",\"version\":\"";
  EXPECT_EQ(worker.hello().substr(0, start.size()), start);
  EXPECT_NE(worker.hello().find("\"version\":\"Made up 1.0\",\"cores\":\""), std::string::npos) << worker.hello();
}

TEST(WorkerSession, AnswersATimeForEachBatch) {
  Worker worker;
  const std::vector<std::string> words = words_of(worker.ask("run all_reduce float32 sum 4096 3 5 2 0 1 0 0 turn"));
  ASSERT_EQ(words.size(), 7u);
  EXPECT_EQ(words[0], "ok");
  EXPECT_EQ(words[1], "0");
  for (size_t i = 2; i < words.size(); ++i) EXPECT_GE(std::stod(words[i]), 0.0);
  EXPECT_EQ(library.last_count, 1024u);
  // Before and behind each batch, those of the warm-up and the one for new buffers, too.
  EXPECT_EQ(library.num_barriers, 2u * (1 + 2 + 5));
  worker.ask("run all_reduce float32 sum 4096 3 5 2 0 1 0 0 turn");
  EXPECT_EQ(library.num_barriers, 2u * (8 + 2 + 5));
}

TEST(WorkerSession, FindsOutALibraryThatSumsWrongly) {
  Worker worker;
  ASSERT_EQ(words_of(worker.ask("run all_reduce float32 sum 4096 1 5 2 0 1 0 0 turn"))[1], "0");
  library.wrong_elements = 3;
  EXPECT_EQ(words_of(worker.ask("run all_reduce float32 sum 4096 1 5 2 0 1 0 0 turn"))[1], "21");  // 3 × 7 batches
  EXPECT_EQ(words_of(worker.ask("run all_reduce float32 sum 4096 20 5 2 0 1 0 0 turn"))[1],
            "192");  // × 8 pairs of buffers, and 1 batch as they are new
  library.wrong_elements = 0;
  EXPECT_EQ(words_of(worker.ask("run all_reduce float32 sum 4096 1 5 2 0 1 0 0 turn"))[1], "0");
}

TEST(WorkerSession, EveryBatchAndPairHasDataOfItsOwn) {
  Worker worker;
  worker.ask("run all_reduce float32 sum 64 16 3 0 0 0 0 0 turn");
  EXPECT_EQ(library.data.size(), (1u + 3) * 8);                      // one batch more for new buffers
  worker.ask("run all_reduce float32 sum 64 16 3 0 0 64 0 0 turn");  // the calls that follow
  EXPECT_EQ(library.data.size(), (4u + 3) * 8);
  worker.ask("run all_reduce float32 sum 64 16 3 0 0 64 0 0 turn");  // the same again
  EXPECT_EQ(library.data.size(), (4u + 3) * 8);
}

TEST(WorkerSession, WithoutDataNothingRuns) {
  Worker worker(kPlain, 1, false);
  EXPECT_EQ(worker.ask("run all_reduce float32 sum 8 1 1 0 0 1 0 0 turn"),
            "error there are no data: the line `data` comes first");
  EXPECT_EQ(worker.ask("data 4 997 113 /nowhere/with a space"), "error the file of the data cannot be read");
  for (const char* line : {"data 4 997 113", "data 4 x 113 /nowhere", "data 0 997 113 /nowhere"})
    EXPECT_EQ(worker.ask(line), "error expected: data ITEM_BYTES PERIOD STEP PATH") << line;
}

TEST(WorkerSession, InPlaceTheOwnBlockLiesInTheOthers) {
  Worker worker(kFull, 1);
  for (const char* name : {"all_reduce", "all_gather", "reduce_scatter", "gather", "scatter"}) {
    library.in_place.clear();
    EXPECT_EQ(words_of(worker.ask(std::string("run ") + name + " float32 sum 4096 1 2 0 0 1 0 1 0"))[1], "0") << name;
    EXPECT_TRUE(library.in_place.front()) << name;
  }
}

TEST(WorkerSession, TellsWhatTheLibraryHasSet) {
  Worker plain;
  EXPECT_EQ(plain.ask("control x"), "error unsupported");
  plain.leave("quit\n");
  Worker worker(kFull);
  EXPECT_EQ(worker.ask("control ring"), "ok 4 ring");
  EXPECT_EQ(worker.ask("control nope"), "error there is no nope");
  EXPECT_EQ(worker.ask("control"), "error expected: control NAME");
}

TEST(WorkerSession, CallsGoRoundThePairsOfBuffers) {
  const std::vector<std::pair<std::string, size_t>> expected = {
      {"run all_reduce float32 sum 64 1 1 0 0 1 0 0 turn", 1},
      {"run all_reduce float32 sum 64 5 1 0 0 1 0 0 turn", 5},
      {"run all_reduce float32 sum 64 9 1 0 0 1 0 0 turn", 8},
      {"run all_reduce float32 sum 16777216 9 1 0 0 1 0 0 turn", 1}};
  Worker worker;
  for (const auto& [line, num_pairs] : expected) {
    library.inputs.clear();
    worker.ask(line);
    EXPECT_EQ(library.inputs.size(), num_pairs) << line;
  }
}

TEST(WorkerSession, BuffersLieWhereTheyAreAskedFor) {
  Worker worker;
  for (const size_t offset : {0, 4, 63}) {
    library.misalignments.clear();
    EXPECT_EQ(
        words_of(worker.ask("run all_reduce float32 sum 1000 8 1 0 " + std::to_string(offset) + " 1 0 0 turn"))[1],
        "0");
    EXPECT_EQ(library.misalignments, std::set<size_t>{offset});
  }
}

TEST(WorkerSession, BytesNeedNotFillTheLastElement) {
  Worker worker;
  EXPECT_EQ(words_of(worker.ask("run all_reduce float32 sum 1003 1 1 0 0 1 0 0 turn"))[0], "ok");
  EXPECT_EQ(library.last_count, 250u);
  EXPECT_EQ(words_of(worker.ask("run all_reduce float32 sum 0 1 1 0 0 1 0 0 turn"))[0], "ok");
  EXPECT_EQ(library.last_count, 1u);
}

TEST(WorkerSession, RunsTheCollectiveThatItIsTold) {
  Worker worker(kFull);
  for (const char* name : {"all_reduce", "reduce_scatter", "all_gather", "broadcast", "all_to_all"}) {
    library.in_place.clear();
    EXPECT_EQ(words_of(worker.ask(std::string("run ") + name + " float32 sum 4096 3 5 2 0 1 0 0 turn"))[1], "0")
        << name;
    EXPECT_EQ(library.last_count, 1024u);
    EXPECT_EQ(library.in_place.front(), std::string(name) == "broadcast");
  }
}

TEST(WorkerSession, BlocksOfAllRanksFillTheLargerBuffer) {
  Worker worker(kFull, 4);
  for (const char* name : {"reduce_scatter", "all_gather", "all_to_all"}) {
    worker.ask(std::string("run ") + name + " float32 sum 4096 1 1 0 0 1 0 0 turn");
    EXPECT_EQ(library.last_count, 256u) << name;
  }
  worker.ask("run broadcast float32 sum 4096 1 1 0 0 1 0 0 turn");
  EXPECT_EQ(library.last_count, 1024u);
}

TEST(WorkerSession, RootsComeInTurnAndGoOnFromBatchToBatch) {
  Worker worker(kFull, 3);
  // Rank 0 has what it gives itself, and nothing of the two that are not there.
  const std::vector<std::string> words = words_of(worker.ask("run broadcast float32 sum 4096 4 2 0 0 1 0 0 turn"));
  EXPECT_EQ(library.roots, (std::vector<int>{0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2}));  // one batch more for new buffers
  EXPECT_LE(std::stoul(words[1]), (2u + 3 + 3) * 1024);  // but where what a batch before left fits by chance
  EXPECT_GT(std::stoul(words[1]), (2u + 3 + 3) * 1024 * 99 / 100);
  library.roots.clear();
  worker.ask("run broadcast float32 sum 4096 1 4 0 0 1 0 0 turn");
  EXPECT_EQ(library.roots, (std::vector<int>{0, 1, 2, 0}));
  library.roots.clear();
  worker.ask("run all_gather float32 sum 4096 4 1 0 0 1 0 0 turn");
  EXPECT_EQ(std::set<int>(library.roots.begin(), library.roots.end()), std::set<int>{0});
}

TEST(WorkerSession, RefusesWhatItCannotDo) {
  Worker worker;
  EXPECT_EQ(worker.ask("run reduce_scatter float32 sum 8 1 1 0 0 1 0 0 turn"), "error unsupported");
  EXPECT_EQ(worker.ask("run scan float32 sum 8 1 1 0 0 1 0 0 turn"),
            "error COLLECTIVE is 'scan'; choose from: all_reduce, reduce_scatter, all_gather, broadcast, all_to_all, "
            "reduce, gather, "
            "scatter");
  EXPECT_EQ(worker.ask("run all_reduce float32 sum 8 1 1 0 0 1 1 0 turn"), "error unsupported");
  EXPECT_EQ(worker.ask("algorithm ring"), "error unsupported");
  EXPECT_EQ(worker.ask("frobnicate"), "error unknown command; choose from: data, run, algorithm, control, quit");
  EXPECT_EQ(worker.ask(""), "error unknown command; choose from: data, run, algorithm, control, quit");
  EXPECT_EQ(worker.ask("run all_reduce float32 sum 8 1 1 0 0 1"),
            "error expected: run COLLECTIVE DTYPE OP BYTES CALLS BATCHES WARMUP OFFSET FIRST SHARED IN_PLACE ROOT");
  EXPECT_EQ(worker.ask("run all_reduce float32 sum 8 1 1 0 0 1 0 9 9 9"),
            "error expected: run COLLECTIVE DTYPE OP BYTES CALLS BATCHES WARMUP OFFSET FIRST SHARED IN_PLACE ROOT");
  EXPECT_EQ(worker.ask("run all_reduce float32 sum 8 0 1 0 0 1 0 0 turn"),
            "error CALLS and BATCHES must be at least 1");
  EXPECT_EQ(worker.ask("run all_reduce float32 sum 8 1 1 0 64 1 0 0 turn"),
            "error OFFSET is '64', not a whole number up to 63");
  for (const char* word : {"-8", "8K", "0x8", "1e3", "99999999999999999999999"})
    EXPECT_EQ(worker.ask(std::string("run all_reduce float32 sum ") + word + " 1 1 0 0 1 0 0 turn").substr(0, 16),
              "error BYTES is '")
        << word;
  EXPECT_EQ(worker.ask("run all_reduce float32 sum 8 1 1 0 0 1 0 0 1"), "error ROOT is neither turn nor a rank");
  EXPECT_EQ(worker.ask("run all_reduce float64 sum 8 1 1 0 0 1 0 0 turn"), "error unsupported");
  EXPECT_EQ(library.num_barriers, 0u);
  EXPECT_EQ(words_of(worker.ask("run all_reduce float32 sum 8 1 1 0 0 1 0 0 turn"))[0], "ok");  // and goes on
}

TEST(WorkerSession, ReportsWhatTheLibrarySays) {
  Worker worker;
  library.failure = "no\nluck";
  EXPECT_EQ(worker.ask("run all_reduce float32 sum 8 1 1 0 0 1 0 0 turn"), "error no luck");
}

TEST(WorkerSession, PassesAlgorithmsOn) {
  Worker worker(kFull);
  EXPECT_EQ(worker.ask("algorithm two_shot ll128 65536 streaming"), "ok");
  EXPECT_EQ(library.asked, "two_shot;ll128;65536;streaming;");
  EXPECT_EQ(worker.ask("algorithm nope"), "error there is no nope here");
  EXPECT_EQ(worker.ask("algorithm").substr(0, 15), "error expected:");
  EXPECT_EQ(worker.ask("algorithm a b c d e").substr(0, 15), "error expected:");
}

TEST(WorkerSession, SharedBuffersAreTheLibrarys) {
  Worker worker(kFull);
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(words_of(worker.ask("run all_reduce float32 sum 4096 4 2 0 0 1 1 0 turn"))[1], "0");
    EXPECT_EQ(library.num_shared, 1);
  }
  EXPECT_EQ(words_of(worker.ask("run all_reduce float32 sum 8192 4 2 0 0 1 1 0 turn"))[1], "0");
  EXPECT_EQ(library.num_shared, 1);
  EXPECT_EQ(words_of(worker.ask("run all_reduce float32 sum 8192 4 2 0 0 1 0 0 turn"))[1], "0");
  EXPECT_EQ(library.num_shared, 0);
  worker.ask("run all_reduce float32 sum 64 1 1 0 0 1 1 0 turn");
  EXPECT_EQ(worker.leave("quit\n"), 0);
  EXPECT_EQ(library.num_shared, 0);
}

TEST(WorkerSession, LinesMayComeInPieces) {
  Worker worker;
  worker.send_text("run all_reduce float32 sum 8 1 1 ");
  EXPECT_EQ(words_of(worker.ask("0 0 1 0 0 turn"))[0], "ok");
}

TEST(WorkerSession, LeavesWhenToldAndWhenAlone) {
  EXPECT_EQ(Worker().leave("quit\n"), 0);
  EXPECT_EQ(Worker().leave(), 0);
}

}  // namespace
