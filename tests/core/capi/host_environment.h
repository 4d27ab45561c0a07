// The environment as a rank of several hosts finds it, for this folder's tests: variables that are set for as long as
// an object lives, with the others of the network unset.
#pragma once

#include <cstdlib>
#include <initializer_list>
#include <string>
#include <utility>

namespace ringtree::testing {

class HostEnvironment {
 public:
  HostEnvironment(std::initializer_list<std::pair<const char*, std::string>> variables) {
    clear();
    for (const auto& [name, value] : variables) ::setenv(name, value.c_str(), 1);
  }
  ~HostEnvironment() { clear(); }
  HostEnvironment(const HostEnvironment&) = delete;
  HostEnvironment& operator=(const HostEnvironment&) = delete;

 private:
  static void clear() {
    for (const char* name : {"RINGTREE_IFNAME", "RINGTREE_HOSTID", "RINGTREE_SECRET", "RINGTREE_SECRET_FILE",
                             "RINGTREE_STREAMS", "MASTER_ADDR"})
      ::unsetenv(name);
  }
};

}  // namespace ringtree::testing
