// What every rank shows to all its peers in shared memory: its doorbell, which call it is in (the board), which calls
// it has completed.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

#include "core/engine/call_description.h"
#include "core/transport/doorbell.h"
#include "core/transport/nic.h"

namespace ringtree {

/// The last calls that a rank has begun; peers that wait look here whether they are in the same call. One writer.
class Board {
 public:
  static constexpr size_t kWords = 9;
  static constexpr size_t kEntries = 64;  // a peer that runs ahead by more calls than this is simply not found
  using Words = std::array<uint64_t, kWords>;
  /// A description as it is posted; its sequence is not part of it.
  static Words words_of(const CallDescription& call);
  /// And back; nothing if that is not a call.
  static std::optional<CallDescription> description_of(uint64_t sequence, const Words& words);
  void post(uint64_t sequence, const Words& words);
  /// The call with this sequence number, if the rank has begun it and it has not been overwritten by later ones.
  std::optional<CallDescription> find(uint64_t sequence) const;
  /// The newest call begun, 0 before the first.
  uint64_t newest() const { return newest_.load(std::memory_order_acquire); }  // pairs with the release in post()

 private:
  struct Entry {
    std::atomic<uint64_t> sequence{0};
    std::array<std::atomic<uint64_t>, kWords> words{};
  };
  std::atomic<uint64_t> newest_{0};
  std::array<Entry, kEntries> entries_;
};

inline constexpr size_t kCpuMaskWords = 16;  // 1,024 processors

/// In shared memory; of a rank on another host a copy that this rank keeps (rank_status.h).
struct RankPage {
  /// Whether this rank's process may be fenced by the others (core/transport/fence.h); written before the page is
  /// announced.
  bool can_be_fenced = false;
  alignas(64) Doorbell bell;
  alignas(64) std::atomic<uint64_t> completed{
      0};  // the newest call that this rank has finished; release, read with acquire
  /// The communicator has failed here, and the reason is on its way to the peers; release, read with acquire.
  std::atomic<bool> failed{false};
  /// For people, while the rank waits: bytes of slice steps that its call has done so far.
  alignas(64) std::atomic<uint64_t> done_bytes{0};
  /// When the rank's process last had a thread that ran (now_ns(), twice a second); 0 before the first time.
  std::atomic<int64_t> beat_ns{0};
  alignas(64) NicClock nic;  // of the emulated host whose first rank this is
  alignas(64)
      std::array<uint64_t, kCpuMaskWords> cpu_mask{};  // where this rank may run; written before the page is announced
  alignas(64) Board board;
};

}  // namespace ringtree
