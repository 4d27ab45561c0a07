// See identity_table.h.
#include "core/bootstrap/identity_table.h"

#include <utility>

#include "core/base/error.h"
#include "core/bootstrap/wire.h"

namespace ringtree {
namespace {

constexpr uint64_t kMagic = 0x54525452;  // "RTRT" in memory
constexpr size_t kHeaderBytes = 12;
constexpr size_t kLengthBytes = 4;  // before each record (ByteWriter::text)

struct Header {
  uint64_t num_records, body_bytes;
};

// Of lengths that are possible: the reader may plan with them.
std::optional<Header> read_header(ByteReader& in) {
  const bool ours = in.number(4) == kMagic;
  const Header header{in.number(4), in.number(4)};
  const bool possible = header.num_records >= 1 && header.body_bytes >= header.num_records * kLengthBytes &&
                        header.body_bytes <= kMaxTableBytes;
  return in.ok() && ours && possible ? std::optional(header) : std::nullopt;
}

}  // namespace

std::vector<std::string> encode_table(const std::vector<std::string>& records, size_t part_bytes) {
  size_t body_bytes = 0;
  for (const std::string& record : records) body_bytes += kLengthBytes + record.size();
  if (body_bytes > kMaxTableBytes) {
    throw UsageError("the " + std::to_string(records.size()) + " ranks need " + std::to_string(body_bytes) +
                     " bytes to describe themselves, more than " + std::to_string(kMaxTableBytes) +
                     ": agree on a digest of the settings instead");
  }
  ByteWriter out;
  out.number(kMagic, 4).number(records.size(), 4).number(body_bytes, 4);
  for (const std::string& record : records) out.text(record);
  const std::string table = out.take();
  std::vector<std::string> parts;
  for (size_t at = 0; at < table.size(); at += part_bytes) parts.push_back(table.substr(at, part_bytes));
  return parts;
}

std::optional<size_t> num_parts_of(std::string_view part_0, size_t part_bytes) {
  ByteReader in(part_0);
  const std::optional<Header> header = read_header(in);
  if (!header) return std::nullopt;
  return (kHeaderBytes + header->body_bytes + part_bytes - 1) / part_bytes;
}

std::optional<std::vector<std::string>> decode_table(std::string_view all_parts) {
  ByteReader in(all_parts);
  const std::optional<Header> header = read_header(in);
  if (!header || all_parts.size() != kHeaderBytes + header->body_bytes) return std::nullopt;
  std::vector<std::string> records;
  for (uint64_t rank = 0; rank < header->num_records && in.ok(); ++rank) records.push_back(in.text(header->body_bytes));
  return in.done() ? std::optional(std::move(records)) : std::nullopt;
}

}  // namespace ringtree
