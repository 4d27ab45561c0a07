/* The conversation with the controller: says who this is, then carries out one line after the other. What the lines
 * are is said in driver.h. Whoever waits here waits in read(), so an idle arm takes no core from the others. Not here:
 * how a driver gets as far as that (driver_start.c). */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "driver.h"
#include "driver_batches.h"
#include "driver_collective.h"

enum { kMaxLine = 1024, kMaxWords = 9, kMaxBatches = 1000000, kMaxCalls = 100000000, kMaxSecondsText = 24 };
static const size_t kMaxBytes = (size_t)1 << 40;

typedef struct Session {
  const DriverArm* arm;
  int socket, rank, size;
  char line[kMaxLine]; /* what has been read; a whole line ends in \0 */
  size_t length;       /* of it, beyond the line that was handed out */
  size_t consumed;
  DriverMemory memory;
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

/* The next line, without its end; NULL: the controller hung up, or sent what is no line. */
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

static const char* parse_run(char** words, size_t num_words, const DriverArm* arm, DriverRun* run) {
  static const char* const kNames[] = {"BYTES", "CALLS", "BATCHES", "WARMUP", "OFFSET", "SEED", "SHARED"};
  const uint64_t limits[] = {kMaxBytes, kMaxCalls, kMaxBatches, kMaxBatches, 63, UINT64_MAX, 1};
  static char error[kMaxText];
  uint64_t numbers[7];
  DriverCollective collective;
  if (num_words != 9) return "expected: run COLLECTIVE BYTES CALLS BATCHES WARMUP OFFSET SEED SHARED";
  if (!driver_find_collective(words[1], &collective)) {
    snprintf(error, sizeof error, "COLLECTIVE is '%.40s'; there are: %s", words[1], driver_collective_names());
    return error;
  }
  for (int i = 0; i < 7; ++i) {
    if (parse_number(words[i + 2], limits[i], &numbers[i])) continue;
    snprintf(error, sizeof error, "%s is '%.40s', not a whole number up to %llu", kNames[i], words[i + 2],
             (unsigned long long)limits[i]);
    return error;
  }
  if (numbers[1] == 0 || numbers[2] == 0) return "CALLS and BATCHES must be at least 1";
  *run =
      (DriverRun){collective, numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5], numbers[6] == 1};
  return !arm->collectives[collective] || (run->shared && !arm->allocate_shared) ? "unsupported" : NULL;
}

static int answer_run(Session* session, char** words, size_t num_words) {
  DriverRun run;
  size_t wrong = 0;
  const char* error = parse_run(words, num_words, session->arm, &run);
  if (error) return send_error(session->socket, error);
  double* seconds = (double*)malloc(run.batches * sizeof(double));
  char* answer = (char*)malloc(kMaxText + run.batches * kMaxSecondsText);
  if (!seconds || !answer) error = "no memory for this many batches";
  if (!error)
    error = driver_batches(session->arm, session->rank, session->size, &run, &session->memory, seconds, &wrong);
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
  const DriverArm* arm = session->arm;
  const char* error = "expected: algorithm NAME [PROTOCOL [SLICE_BYTES [streaming|ordinary]]]";
  if (num_words >= 2 && num_words <= 5)
    error = arm->algorithm ? arm->algorithm(words + 1, num_words - 1) : "unsupported";
  return error ? send_error(session->socket, error) : send_all(session->socket, "ok\n", 3);
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
  driver_cores_text(cores, sizeof cores);
  plain_line(session->arm->version(), version, sizeof version);
  const int length =
      snprintf(line, sizeof line, "{\"rank\":%d,\"size\":%d,\"pid\":%d,\"version\":\"%s\",\"cores\":\"%s\"}\n",
               session->rank, session->size, (int)getpid(), version, cores);
  return send_all(session->socket, line, (size_t)length);
}

int driver_serve(const DriverArm* arm, int socket, int rank, int size) {
  Session session = {arm, socket, rank, size, {0}, 0, 0, {0}};
  int status = introduce(&session);
  while (status == 0) {
    char* words[kMaxWords + 1];
    char* line = next_line(&session);
    if (!line) break;
    const size_t num_words = split(line, words);
    const char* command = num_words > 0 ? words[0] : "";
    if (strcmp(command, "quit") == 0) break;
    if (strcmp(command, "run") == 0)
      status = answer_run(&session, words, num_words);
    else if (strcmp(command, "algorithm") == 0)
      status = answer_algorithm(&session, words, num_words);
    else
      status = send_error(socket, "unknown command; there are: run, algorithm, quit");
  }
  driver_release(arm, &session.memory);
  return status == 0 ? 0 : 1;
}
