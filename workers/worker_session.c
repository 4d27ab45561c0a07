/* The conversation with the controller: says who this is, then carries out one line after the other. What the lines
 * are is said in worker.h. Whoever waits here waits in read(), so an idle arm takes no core from the others. Not here:
 * how a worker gets as far as that (worker_start.c). */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "worker.h"
#include "worker_batches.h"
#include "worker_collective.h"

enum { kMaxLine = 4096, kMaxWords = 13, kMaxBatches = 1000000, kMaxCalls = 100000000, kMaxSecondsText = 24 };
static const size_t kMaxBytes = (size_t)1 << 40;

typedef struct Session {
  const WorkerArm* arm;
  int socket, rank, size;
  char line[kMaxLine]; /* what has been read; a whole line ends in \0 */
  size_t length;       /* of it, beyond the line that was handed out */
  size_t consumed;
  WorkerMemory memory;
  WorkerData data;
} Session;

static int send_all(int socket, const char* text, size_t length) {
  while (length > 0) {
    const ssize_t sent = send(socket, text, length, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return -1;
    text += sent;
    length -= (size_t)sent;
  }
  return 0;
}

/* Sends "error TEXT" on one line. */
static int send_error(int socket, const char* error) {
  char line[kMaxText + 16];
  const int length = snprintf(line, sizeof line, "error %.*s\n", kMaxText, error);
  for (int i = 0; i < length - 1; ++i)
    if (line[i] == '\n' || line[i] == '\r') line[i] = ' ';
  return send_all(socket, line, (size_t)length);
}

/* The next line, without its end; NULL: the controller hung up, or sent what is not a line. */
static char* next_line(Session* session) {
  session->length -= session->consumed;
  memmove(session->line, session->line + session->consumed, session->length);
  session->consumed = 0;
  for (;;) {
    char* end = (char*)memchr(session->line, '\n', session->length);
    if (end) {
      *end = '\0';
      session->consumed = (size_t)(end - session->line) + 1;
      return session->line;
    }
    if (session->length == sizeof session->line) return NULL;
    const ssize_t got = read(session->socket, session->line + session->length, sizeof session->line - session->length);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return NULL;
    session->length += (size_t)got;
  }
}

/* Digits only, at most `limit`. */
static bool parse_number(const char* word, uint64_t limit, uint64_t* number) {
  if (!*word || strlen(word) > 20 || strspn(word, "0123456789") != strlen(word)) return false;
  errno = 0;
  *number = strtoull(word, NULL, 10);
  return errno == 0 && *number <= limit;
}

static const char kRunForm[] =
    "expected: run COLLECTIVE DTYPE OP BYTES CALLS BATCHES WARMUP OFFSET FIRST SHARED IN_PLACE ROOT";

static const char* parse_run(char** words, size_t num_words, const Session* session, WorkerRun* run) {
  static const char* const kNames[] = {"BYTES", "CALLS", "BATCHES", "WARMUP", "OFFSET", "FIRST", "SHARED", "IN_PLACE"};
  const uint64_t limits[] = {kMaxBytes, kMaxCalls, kMaxBatches, kMaxBatches, 63, UINT64_MAX >> 24, 1, 1};
  static char error[kMaxText];
  uint64_t numbers[8], root = 0;
  WorkerCollective collective;
  if (num_words != 13) return kRunForm;
  if (!worker_find_collective(words[1], &collective)) {
    snprintf(error, sizeof error, "COLLECTIVE is '%.40s'; choose from: %s", words[1], worker_collective_names());
    return error;
  }
  for (int i = 0; i < 8; ++i) {
    if (parse_number(words[i + 4], limits[i], &numbers[i])) continue;
    snprintf(error, sizeof error, "%s is '%.40s', not a whole number up to %llu", kNames[i], words[i + 4],
             (unsigned long long)limits[i]);
    return error;
  }
  if (numbers[1] == 0 || numbers[2] == 0) return "CALLS and BATCHES must be at least 1";
  const bool turns = strcmp(words[12], "turn") == 0;
  if (!turns && !parse_number(words[12], (uint64_t)session->size - 1, &root)) return "ROOT is neither turn nor a rank";
  if (!session->data.own) return "there are no data: the line `data` comes first";
  *run = (WorkerRun){collective, numbers[0], numbers[1],      numbers[2],      numbers[3],
                     numbers[4], numbers[5], numbers[6] == 1, numbers[7] == 1, turns ? -1 : (int)root};
  const WorkerArm* arm = session->arm;
  if (!arm->collectives[collective] || (run->shared && !arm->allocate_shared)) return "unsupported";
  return arm->prepare(words[2], words[3]);
}

/* `data ITEM PERIOD STEP PATH`, whose path may hold spaces. */
static int answer_data(Session* session, char* line) {
  uint64_t numbers[3];
  const uint64_t limits[] = {16, 1 << 24, 1 << 24};
  char* rest = line + strlen("data");
  bool fits = true;
  for (int i = 0; i < 3 && fits; ++i) {
    char* word = rest + (*rest == ' ');
    rest = strchr(word, ' ');
    if ((fits = rest != NULL)) *rest = '\0';
    fits = fits && parse_number(word, limits[i], &numbers[i]) && numbers[i] > 0;
    if (fits) *rest = ' ';
  }
  const char* error = "expected: data ITEM_BYTES PERIOD STEP PATH";
  if (fits)
    error =
        worker_data_load(&session->data, rest + 1, session->rank, session->size, numbers[0], numbers[1], numbers[2]);
  return error ? send_error(session->socket, error) : send_all(session->socket, "ok\n", 3);
}

static int answer_run(Session* session, char** words, size_t num_words) {
  WorkerRun run;
  size_t wrong = 0;
  const char* error = parse_run(words, num_words, session, &run);
  if (error) return send_error(session->socket, error);
  double* seconds = (double*)malloc(run.batches * sizeof(double));
  char* answer = (char*)malloc(kMaxText + run.batches * kMaxSecondsText);
  if (!seconds || !answer) error = "no memory for this many batches";
  if (!error)
    error = worker_batches(session->arm, session->rank, session->size, &run, &session->data, &session->memory, seconds,
                           &wrong);
  int status;
  if (error) {
    status = send_error(session->socket, error);
  } else {
    size_t length = (size_t)sprintf(answer, "ok %zu", wrong);
    for (size_t i = 0; i < run.batches; ++i)
      length += (size_t)snprintf(answer + length, kMaxSecondsText, " %.9f", seconds[i]);
    answer[length++] = '\n';
    status = send_all(session->socket, answer, length);
  }
  free(answer);
  free(seconds);
  return status;
}

static int answer_algorithm(const Session* session, char** words, size_t num_words) {
  const WorkerArm* arm = session->arm;
  const char* error = "expected: algorithm NAME [PROTOCOL [SLICE_BYTES [streaming|ordinary]]]";
  if (num_words >= 2 && num_words <= 5)
    error = arm->algorithm ? arm->algorithm(words + 1, num_words - 1) : "unsupported";
  return error ? send_error(session->socket, error) : send_all(session->socket, "ok\n", 3);
}

static int answer_control(const Session* session, char** words, size_t num_words) {
  char value[kMaxText] = "", line[kMaxText + 8];
  const char* error = num_words == 2 ? "unsupported" : "expected: control NAME";
  if (num_words == 2 && session->arm->control) error = session->arm->control(words[1], value, sizeof value);
  if (error) return send_error(session->socket, error);
  const int length = snprintf(line, sizeof line, "ok %s\n", value);
  return send_all(session->socket, line, (size_t)length);
}

/* Cuts `line` at its spaces; one word more than there may be shows that there were too many. */
static size_t split(char* line, char** words) {
  size_t num_words = 0;
  char* rest = NULL;
  for (char* word = strtok_r(line, " ", &rest); word && num_words <= kMaxWords; word = strtok_r(NULL, " ", &rest))
    words[num_words++] = word;
  return num_words;
}

/* The first line of `text`, as it may stand between the quotes of JSON: whatever else is there becomes one space. */
static void plain_line(const char* text, char* line, size_t capacity) {
  size_t length = 0;
  bool gap = false;
  for (; *text && *text != '\n' && length + 2 < capacity; ++text) {
    if (*text <= ' ' || *text > '~' || *text == '"' || *text == '\\') {
      gap = length > 0;
      continue;
    }
    if (gap) line[length++] = ' ';
    gap = false;
    line[length++] = *text;
  }
  line[length] = '\0';
}

static int introduce(const Session* session) {
  char cores[kMaxText], version[kMaxText], line[3 * kMaxText];
  worker_cores_text(cores, sizeof cores);
  plain_line(session->arm->version(), version, sizeof version);
  const int length =
      snprintf(line, sizeof line, "{\"rank\":%d,\"size\":%d,\"pid\":%d,\"version\":\"%s\",\"cores\":\"%s\"}\n",
               session->rank, session->size, (int)getpid(), version, cores);
  return send_all(session->socket, line, (size_t)length);
}

int worker_serve(const WorkerArm* arm, int socket, int rank, int size) {
  Session session = {arm, socket, rank, size, {0}, 0, 0, {0}, {0}};
  int status = introduce(&session);
  while (status == 0) {
    char* words[kMaxWords + 1];
    char* line = next_line(&session);
    if (!line) break;
    if (strncmp(line, "data ", 5) == 0) {
      status = answer_data(&session, line);
      continue;
    }
    const size_t num_words = split(line, words);
    const char* command = num_words > 0 ? words[0] : "";
    if (strcmp(command, "quit") == 0) break;
    if (strcmp(command, "run") == 0)
      status = answer_run(&session, words, num_words);
    else if (strcmp(command, "algorithm") == 0)
      status = answer_algorithm(&session, words, num_words);
    else if (strcmp(command, "control") == 0)
      status = answer_control(&session, words, num_words);
    else
      status = send_error(socket, "unknown command; choose from: data, run, algorithm, control, quit");
  }
  worker_release(arm, &session.memory);
  worker_data_free(&session.data);
  return status == 0 ? 0 : 1;
}
