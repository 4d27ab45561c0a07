// The rendezvous through the store. Ranks are read in order and each is checked as it comes; once all are there,
// agree() compares them. No sockets here.
#include "core/bootstrap/exchange.h"

#include <algorithm>
#include <optional>

#include "core/base/error.h"
#include "core/bootstrap/agreement.h"

namespace ringtree {
namespace {

class Exchange {
 public:
  Exchange(Rendezvous& rendezvous, const PeerIdentity& mine, Deadline deadline)
      : rendezvous_(rendezvous), mine_(mine), deadline_(deadline) {}

  std::vector<PeerIdentity> run(const std::string& why_one_host) {
    const std::string record = encode_identity(mine_);
    rendezvous_.set(key(mine_.rank), record);
    for (int rank = 0; rank < mine_.world_size; ++rank) {
      if (rank != mine_.rank) read(rank);
    }
    if (!missing_.empty()) throw_missing();
    // Only now, when all had time to write: a second process with our rank has overwritten our record, or we its.
    if (rendezvous_.get(key(mine_.rank), deadline_) != record) {
      throw UsageError("two processes claim rank " + std::to_string(mine_.rank) + ", one of them pid " +
                       std::to_string(mine_.pid) +
                       ": give each its own rank, and each communicator its own store or prefix");
    }
    identities_.insert(identities_.begin() + mine_.rank, mine_);
    agree(identities_, why_one_host);
    return std::move(identities_);
  }

 private:
  static std::string key(int rank) { return "identity/" + std::to_string(rank); }

  void read(int rank) {
    std::string record;
    try {
      record = rendezvous_.get(key(rank), deadline_);
    } catch (const TimeoutError&) {
      if (!deadline_.passed()) throw;  // another rank's deadline
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
    agree_on_world_size(mine_, identities_.back());
  }

  [[noreturn]] void throw_missing() {
    std::string list;
    for (const int rank : missing_) list += (list.empty() ? "" : ", ") + std::to_string(rank);
    throw TimeoutError("rank " + std::to_string(mine_.rank) + " waited " + seconds_text(now_ns() - start_ns_) +
                       " for " + (missing_.size() == 1 ? "rank " : "ranks ") + list + " of " +
                       std::to_string(mine_.world_size) +
                       ", which did not come: check that all ranks were started and did not fail");
  }

  Rendezvous& rendezvous_;
  const PeerIdentity& mine_;
  const Deadline deadline_;
  const int64_t start_ns_ = now_ns();
  std::vector<PeerIdentity> identities_;  // in the order of ranks, without ours until all are there
  std::vector<int> missing_;
};

}  // namespace

std::vector<PeerIdentity> exchange_identities(Rendezvous& rendezvous, const PeerIdentity& mine, Deadline deadline,
                                              const std::string& why_one_host) {
  return Exchange(rendezvous, mine, deadline).run(why_one_host);
}

}  // namespace ringtree
