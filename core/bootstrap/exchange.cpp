// The rendezvous through the store. Ranks are read in order and each is checked as it comes; once all are there,
// agree() compares them. Every failure that all ranks will see is followed by a farewell (see exchange.h). No sockets
// here.
#include "core/bootstrap/exchange.h"

#include <algorithm>
#include <optional>

#include "core/base/error.h"
#include "core/bootstrap/agreement.h"

namespace ringtree {
namespace {

constexpr double kFarewellSeconds = 2.0;
constexpr double kLateFarewellSeconds = 0.5;

class Exchange {
 public:
  Exchange(Store& store, const std::string& prefix, const PeerIdentity& mine, Deadline deadline)
      : store_(store), prefix_(prefix), mine_(mine), deadline_(deadline) {}

  std::vector<PeerIdentity> run() {
    const std::string record = encode_identity(mine_);
    store_.set(key("identity", mine_.rank), record);
    for (int rank = 0; rank < mine_.world_size; ++rank) {
      if (rank != mine_.rank) read(rank);
    }
    if (!missing_.empty()) throw_missing();
    // Only now, when all had time to write: a second process with our rank has overwritten our record, or we its.
    if (store_.get(key("identity", mine_.rank), deadline_) != record) {
      throw UsageError("two processes claim rank " + std::to_string(mine_.rank) + ", one of them pid " +
                       std::to_string(mine_.pid) +
                       ": give each its own rank, and each communicator its own store or prefix");
    }
    identities_.insert(identities_.begin() + mine_.rank, mine_);
    try {
      agree(identities_);
    } catch (const std::exception&) {
      farewell(kFarewellSeconds);
      throw;
    }
    return std::move(identities_);
  }

 private:
  std::string key(const char* what, int rank) const { return prefix_ + "/" + what + "/" + std::to_string(rank); }

  void read(int rank) {
    std::string record;
    try {
      record = store_.get(key("identity", rank), deadline_);
    } catch (const TimeoutError&) {
      missing_.push_back(rank);
      return;
    } catch (const PeerError& error) {
      throw PeerError("rank " + std::to_string(mine_.rank) + " waited for rank " + std::to_string(rank) + ": " +
                      error.what());
    }
    std::optional<PeerIdentity> identity = decode_identity(record);
    if (!identity || (identity->rank != rank)) {
      throw MismatchError("rank " + std::to_string(rank) + " published an identity that rank " +
                          std::to_string(mine_.rank) + " cannot read: run one version of ringtree on all ranks");
    }
    identities_.push_back(std::move(*identity));
    try {
      agree_on_world_size(mine_, identities_.back());
    } catch (const MismatchError&) {
      farewell(kFarewellSeconds);
      throw;
    }
  }

  [[noreturn]] void throw_missing() {
    std::string list;
    for (const int rank : missing_) list += (list.empty() ? "" : ", ") + std::to_string(rank);
    const std::string waited = seconds_text(now_ns() - start_ns_);
    farewell(kLateFarewellSeconds);
    throw TimeoutError("rank " + std::to_string(mine_.rank) + " waited " + waited + " for " +
                       (missing_.size() == 1 ? "rank " : "ranks ") + list + " of " + std::to_string(mine_.world_size) +
                       ", which did not come: check that all ranks were started and did not fail");
  }

  // Says that we know how this ends, and waits until those that came know it too, or until `seconds` have passed.
  void farewell(double seconds) {
    const Deadline until = Deadline::after_seconds(seconds);
    try {
      store_.set(key("left", mine_.rank), "");
      for (const PeerIdentity& identity : identities_) {
        if (identity.rank != mine_.rank) store_.get(key("left", identity.rank), until);
      }
    } catch (const WorldError&) {  // NOLINT(bugprone-empty-catch)
      // Somebody left without a word, or the store did: nothing is lost, our own error is about to be thrown.
    }
  }

  Store& store_;
  const std::string& prefix_;
  const PeerIdentity& mine_;
  const Deadline deadline_;
  const int64_t start_ns_ = now_ns();
  std::vector<PeerIdentity> identities_;  // in the order of ranks, without ours until all are there
  std::vector<int> missing_;
};

}  // namespace

std::vector<PeerIdentity> exchange_identities(Store& store, const std::string& prefix, const PeerIdentity& mine,
                                              Deadline deadline) {
  return Exchange(store, prefix, mine, deadline).run();
}

}  // namespace ringtree
