// The rendezvous through the store. If every rank read every record, n ranks would take n² answers of one store. So
// rank 0 reads them all and sets them as one table, which the others read. Rank 1 does the same, for no more than that
// the table is there should rank 0 end before it has set its own: then all go on to connect, and who reaches for rank 0
// finds it gone at once; else they would wait until their deadlines. Both tables are alike, in whatever order they are
// set. Whoever reads records checks each as it comes; once all are there, agree() compares them. No sockets here.
#include "core/bootstrap/exchange.h"

#include <algorithm>
#include <optional>

#include "core/base/error.h"
#include "core/bootstrap/agreement.h"
#include "core/bootstrap/identity_table.h"

namespace ringtree {
namespace {

constexpr int kRanksThatReadAll = 2;
// For finding out which ranks are missing once it is too late for all: they may be thousands.
constexpr double kNamingSeconds = 2.0;

std::string record_key(int rank) { return "identity/" + std::to_string(rank); }

class Exchange {
 public:
  Exchange(Rendezvous& rendezvous, const PeerIdentity& mine, Deadline deadline)
      : rendezvous_(rendezvous), mine_(mine), record_(encode_identity(mine)), deadline_(deadline) {}

  std::vector<PeerIdentity> run(const std::string& why_one_host) {
    rendezvous_.set(record_key(mine_.rank), record_);
    if (mine_.rank < kRanksThatReadAll) {
      read_all();
      set_table();
    } else {
      read_table();
    }
    agree(identities_, why_one_host);
    return std::move(identities_);
  }

 private:
  static std::string table_key(size_t part) { return "identity/all/" + std::to_string(part); }

  void read_all() {
    for (int rank = 0; rank < mine_.world_size; ++rank) {
      if (rank == mine_.rank) {
        add(rank, record_);
      } else {
        read(rank);
      }
    }
    if (!missing_.empty()) throw_missing();
    // Only now, when all had time to write: a second process with our rank has overwritten our record, or we its.
    if (rendezvous_.get(record_key(mine_.rank), deadline_) != record_) throw_claimed_twice();
  }

  // Part 0 last: who has it finds the others there.
  void set_table() {
    const std::vector<std::string> parts = encode_table(records_);
    for (size_t part = parts.size(); part-- > 0;) rendezvous_.set(table_key(part), parts[part]);
  }

  void read_table() {
    std::string all;
    try {
      all = get(table_key(0), 0);
      const size_t num_parts = num_parts_of(all).value_or(1);
      for (size_t part = 1; part < num_parts; ++part) all += get(table_key(part), 0);
    } catch (const TimeoutError&) {
      if (!deadline_.passed()) throw;  // another rank's deadline
      find_missing();
    }
    std::vector<std::string> records = decode_table(all).value_or(std::vector<std::string>());
    const int num_records = static_cast<int>(records.size());
    // Each record says how many ranks its own believes in: of a table of another size the first one tells why.
    for (int rank = 0; rank < num_records; ++rank) add(rank, std::move(records[static_cast<size_t>(rank)]));
    if (num_records != mine_.world_size) {
      throw MismatchError("rank 0 published a table of ranks that rank " + std::to_string(mine_.rank) +
                          " cannot read: run one version of ringtree on all ranks");
    }
    // Rank 0 read the record of one of us two: the other one finds it here.
    if (records_[static_cast<size_t>(mine_.rank)] != record_) throw_claimed_twice();
  }

  void read(int rank) {
    try {
      add(rank, get(record_key(rank), rank));
    } catch (const TimeoutError&) {
      if (!deadline_.passed()) throw;  // another rank's deadline
      missing_.push_back(rank);
    }
  }

  std::string get(const std::string& key, int from_rank) {
    try {
      return rendezvous_.get(key, deadline_);
    } catch (const PeerError& error) {
      throw PeerError(
          "rank " + std::to_string(mine_.rank) + " waited for rank " + std::to_string(from_rank) + ": " + error.what(),
          error.ranks);
    }
  }

  // In the order of ranks.
  void add(int rank, std::string record) {
    std::optional<PeerIdentity> identity = decode_identity(record);
    if (!identity || (identity->rank != rank)) {
      throw MismatchError("rank " + std::to_string(rank) + " published an identity that rank " +
                          std::to_string(mine_.rank) + " cannot read: run one version of ringtree on all ranks");
    }
    agree_on_world_size(mine_, *identity);
    identities_.push_back(std::move(*identity));
    records_.push_back(std::move(record));
  }

  // The deadline has passed: each key is looked at once.
  [[noreturn]] void find_missing() {
    const Deadline enough = Deadline::after_seconds(kNamingSeconds);
    int rank = 0;
    try {
      for (; rank < mine_.world_size && (rank == 0 || !enough.passed()); ++rank)
        if (rank != mine_.rank) read(rank);
    } catch (const PeerError&) {  // the store has ended meanwhile: what was found counts
      if (missing_.empty()) throw;
    }
    const bool all = rank == mine_.world_size;
    // Who speaks for them is the lowest that came: of a list in which nobody did, the error's field has none.
    const bool has_lowest = all || missing_.size() < static_cast<size_t>(rank);
    if (!missing_.empty()) throw_missing(all ? "" : " and perhaps others", has_lowest);
    throw TimeoutError("rank " + std::to_string(mine_.rank) + " waited " + seconds_text(now_ns() - start_ns_) +
                       " for rank 0 to say who the " + std::to_string(mine_.world_size) + " ranks are, though " +
                       (all ? "they have" : "those below " + std::to_string(rank) + " have") + " come: check that " +
                       (all ? "" : "all ranks were started and that ") + "rank 0 runs and did not fail");
  }

  [[noreturn]] void throw_missing(const std::string& more = "", bool in_field = true) const {
    std::string list;
    for (const int rank : missing_) list += (list.empty() ? "" : ", ") + std::to_string(rank);
    throw TimeoutError("rank " + std::to_string(mine_.rank) + " waited " + seconds_text(now_ns() - start_ns_) +
                           " for " + (missing_.size() == 1 && more.empty() ? "rank " : "ranks ") + list + more +
                           " of " + std::to_string(mine_.world_size) +
                           ", which did not come: check that all ranks were started and did not fail",
                       in_field ? missing_ : std::vector<int>());
  }

  [[noreturn]] void throw_claimed_twice() const {
    throw UsageError("two processes claim rank " + std::to_string(mine_.rank) + ", one of them pid " +
                     std::to_string(mine_.pid) +
                     ": give each its own rank, and each communicator its own store or prefix, or use a fresh store "
                     "(this one may hold an earlier job's ranks)");
  }

  Rendezvous& rendezvous_;
  const PeerIdentity& mine_;
  const std::string record_;
  const Deadline deadline_;
  const int64_t start_ns_ = now_ns();
  std::vector<PeerIdentity> identities_;  // in the order of ranks
  std::vector<std::string> records_;      // theirs
  std::vector<int> missing_;
};

}  // namespace

std::vector<PeerIdentity> exchange_identities(Rendezvous& rendezvous, const PeerIdentity& mine, Deadline deadline,
                                              const std::string& why_one_host) {
  return Exchange(rendezvous, mine, deadline).run(why_one_host);
}

std::vector<int> missing_ranks(Store& store, const std::string& prefix, int world_size, int most) {
  const Deadline enough = Deadline::after_seconds(kNamingSeconds);
  std::vector<int> missing;
  for (int rank = 0; rank < world_size && !enough.passed(); ++rank) {
    if (static_cast<int>(missing.size()) >= most) break;
    try {
      store.get(prefix + "/" + record_key(rank), Deadline{0});
    } catch (const TimeoutError&) {
      missing.push_back(rank);
    }
  }
  return missing;
}

}  // namespace ringtree
