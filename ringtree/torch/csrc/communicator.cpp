// See communicator.h.
#include "communicator.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "library.h"
#include "signals.h"

namespace ringtree_torch {
namespace {

rtUniqueId agree_on_id(c10d::Store& store, const std::string& name, int rank, std::chrono::milliseconds timeout) {
  const std::string prefix = "ringtree/" + name + "/";
  const int64_t round = store.add(prefix + "rounds/" + std::to_string(rank), 1);
  const std::string key = prefix + "id/" + std::to_string(round);
  rtUniqueId id;
  if (rank == 0) {
    check(rtGetUniqueId(&id), nullptr);
    store.set(key, std::vector<uint8_t>(std::begin(id.internal), std::end(id.internal)));
    return id;
  }
  store.wait({key}, timeout);
  const std::vector<uint8_t> bytes = store.get(key);
  TORCH_CHECK(bytes.size() == sizeof id.internal, "ringtree: the store gave an id of ", bytes.size(), " bytes");
  std::memcpy(id.internal, bytes.data(), bytes.size());
  return id;
}

}  // namespace

double seconds_of(std::chrono::milliseconds time) { return std::max(0.001, static_cast<double>(time.count()) / 1e3); }

Communicator::Communicator(c10d::Store& store, const std::string& name, int rank, int size,
                           std::chrono::milliseconds timeout, const std::string& rules)
    : timeout_(timeout) {
  const rtUniqueId id = agree_on_id(store, name, rank, timeout);
  id_ = std::string(id.internal, strnlen(id.internal, sizeof id.internal));
  rtConfig_t config = RT_CONFIG_INITIALIZER;
  config.timeout_s = seconds_of(timeout);
  config.interrupted = ringtree_torch_interrupted;
  if (!rules.empty()) config.rules_path = rules.c_str();
  config.answers_in_place = 1;  // in DDP's buckets: other tensors do not lie in memory of the library's
  const rtResult_t result = rtCommInitRankConfig(&comm_, size, id, rank, &config);
  if (result != rtSuccess && has_signal()) throw_signal();
  check(result, nullptr);
}

Communicator::~Communicator() { rtCommDestroy(comm_); }

void Communicator::set_timeout(std::chrono::milliseconds timeout) {
  if (timeout == timeout_) return;
  check(rtCommSetTimeout(comm_, seconds_of(timeout)), comm_);
  timeout_ = timeout;
}

void Communicator::leave() { rtCommFinalize(comm_); }

rtResult_t Communicator::state() const {
  rtResult_t state = rtSuccess;
  return rtCommGetAsyncError(comm_, &state) == rtSuccess ? state : rtInvalidUsage;
}

void Communicator::abort(const std::string& reason) { rtCommAbort(comm_, reason.c_str()); }

}  // namespace ringtree_torch
