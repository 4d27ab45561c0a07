// ThreadStore: the store of ranks that are threads of one process: a map under a mutex.
// One object serves all ranks. Not for ranks in several processes.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>

#include "core/bootstrap/store.h"

namespace ringtree {

class ThreadStore : public Store {
 public:
  void set(const std::string& key, const std::string& value) override;
  std::string get(const std::string& key, Deadline deadline) override;
  bool spans_hosts() const override { return false; }

 private:
  std::mutex mutex_;  // protects values_
  std::condition_variable changed_;
  std::map<std::string, std::string> values_;
};

}  // namespace ringtree
