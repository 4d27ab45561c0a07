// The static ledger of links: who sends what to whom, in order, without running anything. Most faults show here first,
// and here both ends of the link can be named.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/verify/step_table.h"

namespace ringtree {

class Ledger {
 public:
  /// Enters every message end of `table` and writes its link and ordinal into the table. Linear in the message ends.
  explicit Ledger(StepTable& table);

  /// The first link whose sends and receives do not pair up, or nothing.
  std::optional<Fault> check() const;

  int num_links() const { return static_cast<int>(links_.size()) - 1; }
  int64_t num_messages() const { return static_cast<int64_t>(receivers_.size()); }
  /// Step ids. Once check() has found nothing, both lists of a link are equally long.
  std::span<const int> senders(int link) const {
    return part(senders_, links_[link].first_send, links_[link + 1].first_send);
  }
  std::span<const int> receivers(int link) const {
    return part(receivers_, links_[link].first_recv, links_[link + 1].first_recv);
  }
  /// "link 2 -> 5, tag 0"
  std::string describe(int link) const;

 private:
  struct Link {
    int src = 0, dst = 0, tag = 0;
    int num_sends = 0, num_recvs = 0;
    int first_send = 0, first_recv = 0;  // in senders_ and receivers_
  };

  static std::span<const int> part(const std::vector<int>& all, int begin, int end) {
    return {all.data() + begin, all.data() + end};
  }
  void find_links(StepTable& table);
  void list_steps();
  Fault unequal_numbers(int link) const;
  Fault unequal_chunks(int link, size_t ordinal) const;

  const StepTable& table_;
  std::vector<Link> links_;  // in order of first mention, and one more that ends the lists
  std::vector<int> senders_;
  std::vector<int> receivers_;
};

}  // namespace ringtree
