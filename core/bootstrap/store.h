// Store: a small map of texts that all ranks of a job can reach, used once to find each other. Three kinds exist:
// ThreadStore (ranks are threads), UnixStore (ranks are processes of one host, no files), FileStore (a directory that
// all can reach). A key is set by one rank and read by many; nothing is ever deleted. Not a database and not on any
// data path.
#pragma once

#include <cstddef>
#include <string>

#include "core/base/clock.h"

namespace ringtree {

inline constexpr size_t kMaxStoreKeyBytes = 256;
inline constexpr size_t kMaxStoreValueBytes = size_t{1} << 20;

/// All members may be called from several threads at once.
class Store {
 public:
  Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  virtual ~Store() = default;

  /// Makes `key` readable by all ranks; the last value wins. UsageError: key or value too long (see the limits above)
  /// or an empty key; WorldError: the store cannot be reached.
  virtual void set(const std::string& key, const std::string& value) = 0;

  /// The value of `key`, waiting until some rank sets it. Looks at least once, also when the deadline has passed.
  /// TimeoutError: names the key and how long it was waited for; PeerError: who serves the store ended.
  virtual std::string get(const std::string& key, Deadline deadline) = 0;

  /// Whether ranks of several hosts can meet here. Where they cannot, no rank opens a port.
  virtual bool spans_hosts() const { return true; }
  /// Whether it ends with this object, whoever else still needs it.
  virtual bool is_served_here() const { return false; }
};

/// UsageError unless the limits hold. For implementers of Store.
void check_store_key(const std::string& key);
void check_store_value(const std::string& key, const std::string& value);

/// The text of get()'s TimeoutError. `start_ns`: when the wait began.
std::string store_timeout_text(const std::string& key, int64_t start_ns);

/// A duration for messages: "0.25 s".
std::string seconds_text(int64_t duration_ns);

}  // namespace ringtree
