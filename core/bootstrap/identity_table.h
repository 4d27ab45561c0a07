// The table of ranks: the records of all identities in the order of ranks, as rank 0 sets them for those that would
// otherwise read each record by itself. In parts, since a value of a store is bounded: part 0 begins with a header
// (magic, how many records, bytes of all with their lengths), and says thereby how many parts there are. Nothing here
// looks into a record: peer.h does.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ringtree {

/// What a table may hold. ringtree's own store, of 64 MiB, has the records themselves as well.
inline constexpr size_t kMaxTableBytes = size_t{31} << 20;
/// A part at most. All ranks wait for part 0 and are answered at once, each with a copy in the store's process.
inline constexpr size_t kTablePartBytes = size_t{64} << 10;

/// Values for a store, one a part, of `part_bytes` at most. UsageError: more than kMaxTableBytes in all.
std::vector<std::string> encode_table(const std::vector<std::string>& records, size_t part_bytes = kTablePartBytes);

/// How many parts there are, from part 0. Nothing: not a table of this version, or one of impossible length.
std::optional<size_t> num_parts_of(std::string_view part_0, size_t part_bytes = kTablePartBytes);

/// The records, from all parts in order, one after the other. Nothing: not a table of this version, or its lengths are
/// not those of what it holds.
std::optional<std::vector<std::string>> decode_table(std::string_view all_parts);

}  // namespace ringtree
