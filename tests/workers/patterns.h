// The lab's file of patterns, as small as tests need it: float32, a prime of elements, whole numbers. Not for the real
// values (tests/python/test_collective_data.py).
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "workers/worker_data.h"

namespace ringtree::workers::testing {

constexpr size_t kPeriod = 997, kStep = 113;

// Removed with the object. `reduces`: each rank has a pattern of its own, and due is their sum; else all are the same.
class PatternFile {
 public:
  PatternFile(int size, bool reduces) {
    char name[] = "/tmp/ringtree-patterns-XXXXXX";
    const int fd = mkstemp(name);
    EXPECT_GE(fd, 0);
    path_ = name;
    std::FILE* file = fdopen(fd, "wb");
    std::mt19937 random(7);
    std::vector<float> due(kPeriod, 0.0F), own(kPeriod);
    for (int rank = 0; rank < size; ++rank) {
      if (rank == 0 || reduces)
        for (float& element : own) element = static_cast<float>(random() % 4096) - 2048.0F;
      for (size_t i = 0; i < kPeriod; ++i) due[i] = reduces ? due[i] + own[i] : own[i];
      patterns_.push_back(own);
      EXPECT_EQ(std::fwrite(own.data(), sizeof(float), kPeriod, file), kPeriod);
    }
    patterns_.push_back(due);
    EXPECT_EQ(std::fwrite(due.data(), sizeof(float), kPeriod, file), kPeriod);
    std::fclose(file);
  }
  ~PatternFile() { std::remove(path_.c_str()); }
  PatternFile(const PatternFile&) = delete;
  PatternFile& operator=(const PatternFile&) = delete;

  const std::string& path() const { return path_; }
  // The lab's rule, told the slow way: of rank `row`, or of what is due where `row` is the number of ranks.
  float element(int row, uint64_t number, size_t index) const {
    return patterns_[static_cast<size_t>(row)][(index % kPeriod + number % kPeriod * kStep) % kPeriod];
  }

 private:
  std::string path_;
  std::vector<std::vector<float>> patterns_;
};

// One rank's patterns, loaded.
class Loaded {
 public:
  Loaded(const PatternFile& file, int rank, int size) {
    EXPECT_STREQ(worker_data_load(&data, file.path().c_str(), rank, size, sizeof(float), kPeriod, kStep), nullptr);
  }
  ~Loaded() { worker_data_free(&data); }
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;
  WorkerData data = {};
};

}  // namespace ringtree::workers::testing
