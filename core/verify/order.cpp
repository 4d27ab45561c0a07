// See order.h. A step waits for: the step before it in its lane; its dependencies; the senders of what it receives;
// and, to send message k, for every reader of message k - 2, since a link has two slots here and a multicast slot is
// free when all its readers have read. All of that is known beforehand, so running is sorting a graph topologically.
#include "core/verify/order.h"

#include "core/verify/verify.h"

namespace ringtree {
namespace {

constexpr int kSlotsProved = 2;

/// Calls visit(id of the step waited for, why, link or -1) for all that step `id` waits for.
template <typename Visit>
void for_each_wait(const StepTable& table, const Ledger& ledger, int id, const Visit& visit) {
  const FlatStep& step = table.steps[id];
  if (step.lane_before >= 0) visit(step.lane_before, "its lane to get past", -1);
  for (int other : table.waits_of(id)) visit(other, "the bytes that it shares with", -1);
  for (const MessageEnd& end : table.recvs_of(id))
    visit(ledger.senders(end.link)[end.ordinal], "a message from", end.link);
  for (const MessageEnd& end : table.sends_of(id))
    if (end.ordinal >= kSlotsProved)
      visit(ledger.receivers(end.link)[end.ordinal - kSlotsProved], "a slot to be freed by", end.link);
}

/// Why step `id`, which never ran, does not: one of the steps that it waits for has not run either.
struct Blocker {
  int id = -1;
  const char* why = nullptr;
  int link = -1;
};

Blocker blocker_of(const StepTable& table, const Ledger& ledger, const std::vector<int>& num_unmet, int id) {
  Blocker blocker;
  for_each_wait(table, ledger, id, [&](int other, const char* why, int link) {
    if (blocker.id < 0 && num_unmet[other] > 0) blocker = {other, why, link};
  });
  return blocker;
}

/// Each step that never ran has a blocker that never ran, so going from blocker to blocker ends in a circle.
Fault describe_circle(const StepTable& table, const Ledger& ledger, const std::vector<int>& num_unmet) {
  int first = 0;
  while (num_unmet[first] == 0) ++first;
  for (std::vector<bool> met(table.steps.size()); !met[first];) {
    met[first] = true;
    first = blocker_of(table, ledger, num_unmet, first).id;
  }
  constexpr int kShown = 8;
  std::string problem = "deadlock: " + table.describe(first);
  int id = first, num_shown = 0;
  do {
    if (num_shown == kShown) {
      problem += ", …";
      break;
    }
    const Blocker blocker = blocker_of(table, ledger, num_unmet, id);
    problem += (num_shown++ == 0 ? " waits for " : ", which waits for ") + std::string(blocker.why) + " " +
               table.describe(blocker.id);
    if (blocker.link >= 0) problem += " on " + ledger.describe(blocker.link);
    id = blocker.id;
  } while (id != first);
  return {fault::kDeadlock, problem, table.steps[first].rank, table.index(first)};
}

}  // namespace

std::optional<Fault> find_order(const StepTable& table, const Ledger& ledger, std::vector<int>& order) {
  const int num_steps = static_cast<int>(table.steps.size());
  std::vector<int> num_unmet(table.steps.size(), 0), first(table.steps.size() + 1, 0);
  for (int id = 0; id < num_steps; ++id)
    for_each_wait(table, ledger, id, [&](int other, const char*, int) { ++num_unmet[id], ++first[other + 1]; });
  for (int id = 0; id < num_steps; ++id) first[id + 1] += first[id];
  std::vector<int> waiting(first.back()), fill(first.begin(), first.end() - 1);
  for (int id = 0; id < num_steps; ++id)
    for_each_wait(table, ledger, id, [&](int other, const char*, int) { waiting[fill[other]++] = id; });

  order.clear();
  order.reserve(table.steps.size());
  for (int id = 0; id < num_steps; ++id)
    if (num_unmet[id] == 0) order.push_back(id);
  for (size_t done = 0; done < order.size(); ++done) {
    const int id = order[done];
    for (int i = first[id]; i < first[id + 1]; ++i)
      if (--num_unmet[waiting[i]] == 0) order.push_back(waiting[i]);
  }
  if (order.size() == table.steps.size()) return std::nullopt;
  return describe_circle(table, ledger, num_unmet);
}

}  // namespace ringtree
