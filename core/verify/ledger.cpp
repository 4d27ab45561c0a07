// See ledger.h.
#include "core/verify/ledger.h"

#include <unordered_map>

#include "core/verify/verify.h"

namespace ringtree {
namespace {

struct Key {
  int src, dst, tag;
  bool operator==(const Key&) const = default;
};

struct KeyHash {
  size_t operator()(const Key& key) const {
    const uint64_t word = (uint64_t{static_cast<uint32_t>(key.src)} << 40) ^
                          (uint64_t{static_cast<uint32_t>(key.dst)} << 20) ^ static_cast<uint32_t>(key.tag);
    return static_cast<size_t>((word * 0x9e3779b97f4a7c15u) >> 16);
  }
};

bool same_chunks(const ChunkRange& a, const ChunkRange& b, int num_chunks) {
  if (a == b) return true;
  if (a.count != b.count) return false;
  for (int i = 0; i < a.count; ++i)
    if (a.id(i, num_chunks) != b.id(i, num_chunks)) return false;
  return true;
}

std::string times(size_t number) { return std::to_string(number) + (number == 1 ? " time" : " times"); }

std::string steps_text(std::span<const int> indexes) {
  if (indexes.empty()) return "";
  return (indexes.size() == 1 ? ": step " : ": steps ") + join(indexes);
}

}  // namespace

Ledger::Ledger(StepTable& table) : table_(table) {
  find_links(table);
  list_steps();
}

void Ledger::find_links(StepTable& table) {
  std::unordered_map<Key, int, KeyHash> index;
  index.reserve(table.sends.size() / 4);
  const auto find = [&](int src, int dst, int tag) {
    const auto [entry, is_new] = index.try_emplace(Key{src, dst, tag}, static_cast<int>(links_.size()));
    if (is_new) links_.push_back({src, dst, tag});
    return entry->second;
  };
  for (const FlatStep& step : table.steps) {
    for (int i = step.recv_begin; i < step.recv_end; ++i) {
      MessageEnd& end = table.recvs[i];
      end.link = find(end.peer, step.rank, end.tag);
      end.ordinal = links_[end.link].num_recvs++;
    }
    for (int i = step.send_begin; i < step.send_end; ++i) {
      MessageEnd& end = table.sends[i];
      end.link = find(step.rank, end.peer, end.tag);
      end.ordinal = links_[end.link].num_sends++;
    }
  }
}

void Ledger::list_steps() {
  links_.emplace_back();  // ends the last link's lists
  for (size_t i = 1; i < links_.size(); ++i) {
    links_[i].first_send = links_[i - 1].first_send + links_[i - 1].num_sends;
    links_[i].first_recv = links_[i - 1].first_recv + links_[i - 1].num_recvs;
  }
  senders_.resize(table_.sends.size());
  receivers_.resize(table_.recvs.size());
  for (int id = 0; id < static_cast<int>(table_.steps.size()); ++id) {
    for (const MessageEnd& end : table_.recvs_of(id)) receivers_[links_[end.link].first_recv + end.ordinal] = id;
    for (const MessageEnd& end : table_.sends_of(id)) senders_[links_[end.link].first_send + end.ordinal] = id;
  }
}

std::optional<Fault> Ledger::check() const {
  const int num_chunks = table_.shape.num_chunks;
  for (int link = 0; link < num_links(); ++link) {
    const std::span<const int> sends = senders(link), recvs = receivers(link);
    if (sends.size() != recvs.size()) return unequal_numbers(link);
    for (size_t k = 0; k < sends.size(); ++k)
      if (!same_chunks(table_.steps[sends[k]].chunks, table_.steps[recvs[k]].chunks, num_chunks))
        return unequal_chunks(link, k);
  }
  return std::nullopt;
}

Fault Ledger::unequal_numbers(int link) const {
  const Link& at = links_[link];
  std::vector<int> send_steps, recv_steps;
  for (int id : senders(link)) send_steps.push_back(table_.index(id));
  for (int id : receivers(link)) recv_steps.push_back(table_.index(id));
  const std::string src = table_.shape.called(at.src), dst = table_.shape.called(at.dst);
  return {fault::kLedger,
          src + " sends " + times(send_steps.size()) + " to " + dst + " (tag " + std::to_string(at.tag) + ")" +
              steps_text(send_steps) + ", but " + dst + " receives from it " + times(recv_steps.size()) +
              steps_text(recv_steps),
          send_steps.size() > recv_steps.size() ? at.src : at.dst,
          send_steps.size() > recv_steps.size() ? send_steps[recv_steps.size()] : recv_steps[send_steps.size()]};
}

Fault Ledger::unequal_chunks(int link, size_t ordinal) const {
  const Link& at = links_[link];
  const int send = senders(link)[ordinal], recv = receivers(link)[ordinal];
  const int num_chunks = table_.shape.num_chunks;
  return {fault::kLedger,
          table_.describe(send) + " sends " + describe_chunks(table_.steps[send].chunks, num_chunks) + " to " +
              table_.shape.called(at.dst) + " (tag " + std::to_string(at.tag) + ") as message " +
              std::to_string(ordinal) + ", but " + table_.describe(recv) + " takes that message as " +
              describe_chunks(table_.steps[recv].chunks, num_chunks),
          at.src, table_.index(send)};
}

std::string Ledger::describe(int link) const {
  const Link& at = links_[link];
  return "link " + std::to_string(at.src) + " -> " + std::to_string(at.dst) + ", tag " + std::to_string(at.tag);
}

}  // namespace ringtree
