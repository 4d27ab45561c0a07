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
struct Stream {
  bool captures = false;
  std::vector<Work> captured;
};
using Graph = std::vector<Work>;

inline void enqueue(Stream* stream, Work work) {
  if (stream != nullptr && stream->captures) {
    stream->captured.push_back(std::move(work));
  } else {
    work();
  }
}
