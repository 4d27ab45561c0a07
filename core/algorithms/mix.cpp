// See mix.h.
#include "core/algorithms/mix.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>

namespace ringtree {
namespace {

constexpr int64_t kMostChunks = int64_t{1} << 24;

/// A share's part of the whole: which chunks, lanes, tags and scratch its algorithm's own become.
struct Share {
  int index = 0, num_shares = 1;
  int finer = 1;  // chunks for each of the algorithm's
  int first_lane = 0, first_scratch = 0, num_scratch = 0;

  int tag(int own) const { return own * num_shares + index; }
  Place place(const Place& own, int piece) const {
    return own.buffer == Buffer::scratch ? scratch(first_scratch + piece * num_scratch + own.slot) : own;
  }
  /// `piece`: which of the `finer` chunks of each of the step's.
  Step step(Step own, int piece) const {
    own.lane += first_lane;
    own.chunks.first = (own.chunks.first * finer + piece) * num_shares + index;
    own.chunks.stride *= finer * num_shares;
    for (Endpoint& end : own.recv) end.tag = tag(end.tag);
    own.src = place(own.src, piece);
    own.dst = place(own.dst, piece);
    if (!own.send_to.empty()) own.send_tag = tag(own.send_tag);
    return own;
  }
};

struct Parts {
  std::vector<Schedule> schedules;
  std::vector<int> of_share;  // in `schedules`
  int chunks_a_share = 1;
};

void generate(const Parts& parts, ProgramBuilder& b) {
  Share share{0, static_cast<int>(parts.of_share.size())};
  for (; share.index < share.num_shares; ++share.index) {
    const Schedule& of = parts.schedules[static_cast<size_t>(parts.of_share[static_cast<size_t>(share.index)])];
    const Program program = of.program(b.rank());
    share.finer = parts.chunks_a_share / of.shape().num_chunks;
    share.num_scratch = program.num_scratch();
    share.first_scratch = b.reserve_scratch(share.num_scratch * share.finer);
    for (int piece = 0; piece < share.finer; ++piece)
      for (const Step& step : program.steps()) b.add(share.step(step, piece));
    share.first_lane += program.num_lanes();
  }
}

MixPart parse_part(std::string_view text, std::string_view name) {
  const size_t colon = text.find(':');
  if (text.substr(0, colon).empty() && !name.empty())
    throw UsageError("'" + std::string(name) + "' has a part without a name: write for example ring:3+double_tree");
  if (colon == std::string_view::npos) return {std::string(text), 1};
  const std::string_view number = text.substr(colon + 1);
  MixPart part{std::string(text.substr(0, colon)), 0};
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), part.shares);
  if (error != std::errc() || end != number.data() + number.size() || part.shares < 1 || part.shares > kMostShares)
    throw UsageError("'" + std::string(name) + "': write shares as numbers from 1 to " + std::to_string(kMostShares) +
                     ", for example ring:3+double_tree");
  return part;
}

}  // namespace

std::vector<MixPart> parse_mix(std::string_view name) {
  std::vector<MixPart> parts;
  int num_shares = 0;
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('+', begin), name.size());
    parts.push_back(parse_part(name.substr(begin, end - begin), name));
    num_shares += parts.back().shares;
    begin = end + 1;
  }
  if (num_shares > kMostShares)
    throw UsageError("'" + std::string(name) + "' has " + std::to_string(num_shares) + " shares: at most " +
                     std::to_string(kMostShares) + " are possible");
  return parts;
}

Schedule mix(std::string_view name, const std::vector<MixPart>& parts, std::vector<Schedule> schedules) {
  ScheduleShape shape = schedules.front().shape();
  shape.name = name;
  int64_t chunks_a_share = 1;
  for (const Schedule& one : schedules) {
    if (one.shape().num_switches() > 0)
      throw UsageError(one.shape().name + " can't be mixed with others: its switch works for all channels");
    chunks_a_share = std::lcm(chunks_a_share, int64_t{one.shape().num_chunks});
    if (chunks_a_share > kMostChunks / kMostShares)
      throw UsageError(shape.name + " would need more than " + std::to_string(kMostChunks) + " chunks on " +
                       std::to_string(shape.num_ranks) +
                       " ranks: mix algorithms whose numbers of chunks divide each "
                       "other");
  }
  const auto all = std::make_shared<Parts>();
  all->chunks_a_share = static_cast<int>(chunks_a_share);
  shape.widest = 1;
  for (size_t i = 0; i < schedules.size(); ++i) {
    all->of_share.insert(all->of_share.end(), static_cast<size_t>(parts[i].shares), static_cast<int>(i));
    shape.widest = std::max(shape.widest, schedules[i].shape().widest);
  }
  shape.shares = static_cast<int>(all->of_share.size());
  shape.num_chunks = all->chunks_a_share * shape.shares;
  all->schedules = std::move(schedules);
  return Schedule(std::move(shape), [all](ProgramBuilder& b) { generate(*all, b); });
}

}  // namespace ringtree
