// What the kinds of Store have in common: their limits and the words of their errors.
// Nothing here knows how a store keeps its values.
#include "core/bootstrap/store.h"

#include <cstdio>

#include "core/base/error.h"

namespace ringtree {

void check_store_key(const std::string& key) {
  if (!key.empty() && key.size() <= kMaxStoreKeyBytes) return;
  throw UsageError("a store key has 1 to " + std::to_string(kMaxStoreKeyBytes) + " bytes, this one has " +
                   std::to_string(key.size()) + ": choose another");
}

void check_store_value(const std::string& key, const std::string& value) {
  if (value.size() <= kMaxStoreValueBytes) return;
  throw UsageError("the value of store key '" + key + "' has " + std::to_string(value.size()) + " bytes, more than " +
                   std::to_string(kMaxStoreValueBytes) + ": store less under it");
}

std::string store_timeout_text(const std::string& key, int64_t start_ns) {
  return "store key '" + key + "' was not set within " + seconds_text(now_ns() - start_ns) +
         ": check that every rank was started with the same store, prefix and world size";
}

std::string seconds_text(int64_t duration_ns) {
  char text[48];
  std::snprintf(text, sizeof(text), "%.2f s", static_cast<double>(duration_ns) * 1e-9);
  return text;
}

}  // namespace ringtree
