// The files of this library in /dev/shm: other programs come and go there beside a test.
#pragma once

#include <filesystem>
#include <set>
#include <string>

namespace ringtree::testing {

/// The names of files in /dev/shm that hold "ringtree", the name of every segment.
inline std::set<std::string> shared_memory_files() {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm"))
    if (std::string name = entry.path().filename().string(); name.find("ringtree") != std::string::npos)
      names.insert(std::move(name));
  return names;
}

}  // namespace ringtree::testing
