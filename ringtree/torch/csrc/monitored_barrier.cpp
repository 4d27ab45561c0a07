// monitored_barrier: rank 0 says who has not come. It goes through PyTorch's store and not through the group, so that
// it can tell of ranks that are stuck in a collective, and ends no group where one is late. The texts are Gloo's, by
// which logs are searched.
#include <c10/util/StringUtil.h>

#include "backend.h"

namespace ringtree_torch {
namespace {

using Clock = std::chrono::steady_clock;

// Whether `key` is there in time.
bool comes(c10d::Store& store, const std::string& key, Clock::time_point end) {
  const auto left = std::chrono::duration_cast<Milliseconds>(end - Clock::now());
  if (left.count() <= 0) return store.check({key});
  try {
    store.wait({key}, left);
    return true;
  } catch (const std::exception&) {
    return store.check({key});  // of stores that have gone it throws
  }
}

}  // namespace

void Backend::monitoredBarrier(const c10d::BarrierOptions& opts, bool wait_all_ranks) {
  check_usable();
  const Milliseconds timeout =
      opts.timeout == c10d::kUnsetTimeout ? timeout_.load(std::memory_order_relaxed) : opts.timeout;
  const Clock::time_point begin = Clock::now(), end = begin + timeout;
  // With the id: a group that is made again with the same store counts from the beginning.
  const std::string prefix =
      "ringtree/monitored_barrier/" + collectives_->id() + "/" + std::to_string(++num_monitored_);
  const auto key_of = [&prefix](const std::string& what) { return prefix + "/" + what; };
  const std::string me = std::to_string(rank_);
  if (rank_ != 0) {
    store_->set(key_of(me), std::vector<uint8_t>{1});
    // Rank 0 may have to wait as long for others before it can say so.
    const bool told = comes(*store_, key_of("result"), end + timeout);
    TORCH_CHECK(told, "Rank ", me,
                " successfully reached monitoredBarrier, but received errors while waiting for "
                "send/recv from rank 0. Please check rank 0 logs for faulty rank.");
    const std::vector<uint8_t> result = store_->get(key_of("result"));
    TORCH_CHECK(result == std::vector<uint8_t>{1}, "Rank ", me,
                " successfully reached monitoredBarrier, but received "
                "errors while waiting for send/recv from rank 0. Please check rank 0 logs for faulty rank.");
    return;
  }
  std::vector<int> absent;
  for (int peer = 1; peer < size_ && (absent.empty() || wait_all_ranks); ++peer)
    if (!comes(*store_, key_of(std::to_string(peer)), end)) absent.push_back(peer);
  const bool no_time = timeout.count() <= 0, well = absent.empty() && !no_time;
  store_->set(key_of("result"), std::vector<uint8_t>{static_cast<uint8_t>(well ? 1 : 0)});
  TORCH_CHECK(!no_time, "[Rank 0]: Rank 0 timed out in monitoredBarrier after ", timeout.count(), " ms.");
  TORCH_CHECK(absent.empty(), "[Rank 0]: ", wait_all_ranks ? "Ranks " : "Rank ", c10::Join(", ", absent),
              " failed to pass monitoredBarrier in ", timeout.count(), " ms");
}

}  // namespace ringtree_torch
