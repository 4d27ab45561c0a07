// Helpers of this folder's tests: ranks as threads and what became of each, ids that no other test run uses, and a
// recorder of a mesh's events that tests wait on. Not for tests that kill ranks: see child_process.h.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <filesystem>
#include <functional>
#include <iterator>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/bootstrap/mesh.h"
#include "core/bootstrap/unix_socket.h"
#include "tests/core/sanitized.h"

namespace ringtree::testing {

// A wait in a test that is far longer than anything takes here, also with many jobs on few cores.
inline constexpr double kPatienceSeconds = 30.0;
inline Deadline patience() { return Deadline::after_seconds(kPatienceSeconds); }

inline std::string unique_id() { return "test-" + random_hex(8); }

/// One of 127.0.0.0/8 that no other test run uses: a port on it is free, whichever it is.
inline std::string unique_loopback_address() {
  const std::string random = random_bytes(3);
  const auto byte = [&](size_t i) { return std::to_string(1 + static_cast<unsigned char>(random[i]) % 254); };
  return "127." + byte(0) + "." + byte(1) + "." + byte(2);
}

/// "name7". (Not name + std::to_string(7): g++ 12 warns wrongly, -Wrestrict, where that is inlined.)
inline std::string numbered(std::string name, int number) { return name.append(std::to_string(number)); }

/// How many descriptors this process has open.
inline size_t num_open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(all), end(all)));
}

/// "kind: message" of what `body` throws, or "" when it throws nothing.
inline std::string outcome_of(const std::function<void()>& body) {
  try {
    body();
    return "";
  } catch (const TimeoutError& error) {
    return std::string("timeout: ") + error.what();
  } catch (const MismatchError& error) {
    return std::string("mismatch: ") + error.what();
  } catch (const PeerError& error) {
    return std::string("peer: ") + error.what();
  } catch (const UsageError& error) {
    return std::string("usage: ") + error.what();
  } catch (const std::exception& error) {
    return std::string("other: ") + error.what();
  }
}

/// The ranks that an error names in its field.
inline std::vector<int> ranks_in_error(const std::function<void()>& body) {
  try {
    body();
  } catch (const TimeoutError& error) {
    return error.ranks;
  } catch (const PeerError& error) {
    return error.ranks;
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): of another kind, without the field
  }
  return {};
}

/// Runs body(0) ... body(num_ranks - 1) in a thread each; the outcomes by rank.
inline std::vector<std::string> run_ranks(int num_ranks, const std::function<void(int rank)>& body) {
  std::vector<std::string> outcomes(static_cast<size_t>(num_ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < num_ranks; ++rank) {
    threads.emplace_back([&, rank] { outcomes[rank] = outcome_of([&] { body(rank); }); });
  }
  for (std::thread& thread : threads) thread.join();
  return outcomes;
}

/// No rank threw.
inline void expect_all_well(const std::vector<std::string>& outcomes, const std::string& what = "") {
  for (size_t rank = 0; rank < outcomes.size(); ++rank) EXPECT_EQ(outcomes[rank], "") << what << ", rank " << rank;
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Keeps what a mesh reports, in order, and lets a test wait until something was reported.
class EventLog {
 public:
  struct Message {
    int peer;
    ControlType type;
    std::string payload;
    int fd;
  };
  struct Gone {
    int peer;
    bool said_bye;
    int64_t at_ns;
  };

  MeshEvents events() {
    return {[this](int peer, ControlType type, std::string payload, int fd) {
              const std::lock_guard<std::mutex> lock(mutex_);
              messages_.push_back({peer, type, std::move(payload), fd});
              changed_.notify_all();
            },
            [this](int peer, bool said_bye) {
              const std::lock_guard<std::mutex> lock(mutex_);
              gone_.push_back({peer, said_bye, now_ns()});
              changed_.notify_all();
            }};
  }

  /// The first `count` messages (or peers gone); fewer when they don't come in time.
  std::vector<Message> messages(size_t count) { return wait(messages_, count); }
  std::vector<Gone> gone(size_t count) { return wait(gone_, count); }
  /// The first message of that type, after however many others; from peer -1 when it does not come in time.
  Message first_of(ControlType type) {
    size_t at = 0;
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait_for(lock, std::chrono::duration<double>(kPatienceSeconds), [&] {
      while (at < messages_.size() && messages_[at].type != type) ++at;
      return at < messages_.size();
    });
    return at < messages_.size() ? messages_[at] : Message{-1, type, "", -1};
  }

 private:
  template <typename Item>
  std::vector<Item> wait(const std::vector<Item>& items, size_t count) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait_for(lock, std::chrono::duration<double>(kPatienceSeconds), [&] { return items.size() >= count; });
    return items;
  }

  std::mutex mutex_;  // protects the lists
  std::condition_variable changed_;
  std::vector<Message> messages_;
  std::vector<Gone> gone_;
};

}  // namespace ringtree::testing
