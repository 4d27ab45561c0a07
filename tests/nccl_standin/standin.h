// What both halves of the stand-in share: how it is told what to play, and streams. See README.md beside it.
//
// Work on a stream is done when it is put there, or kept while the stream is captured. Not for: what the libraries
// export (cuda.cpp, nccl.cpp).
#pragma once

#include <cstdlib>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

inline const char* setting(const char* name, const char* otherwise) {
  const char* found = getenv(name);
  return found != nullptr && *found != '\0' ? found : otherwise;
}

inline bool fails(const char* how) { return strcmp(setting("STANDIN_FAIL", ""), how) == 0; }

inline int version() { return atoi(setting("STANDIN_VERSION", "22703")); }

using Work = std::function<void()>;
struct Graph {
  std::vector<Work> works;
  std::vector<int*> holds;  // counts of what belongs to communicators, of graphs that can be launched
};
struct Stream {
  bool captures = false;
  Graph captured;
};

inline void enqueue(Stream* stream, Work work, int* holds = nullptr) {
  if (stream != nullptr && stream->captures) {
    stream->captured.works.push_back(std::move(work));
    if (holds != nullptr) stream->captured.holds.push_back(holds);
  } else {
    work();
  }
}
