// See unique_id.h.
#include "core/capi/unique_id.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "core/base/sha256.h"
#include "core/bootstrap/peer.h"
#include "core/capi/errors.h"
#include "core/net/socket.h"

namespace ringtree::capi {
namespace {

constexpr std::string_view kPrefix = "capi-";
constexpr std::string_view kLocal = "local";
constexpr std::string_view kDigits = "0123456789abcdef";
constexpr size_t kHostDigits = 16, kRandomDigits = 32;
constexpr size_t kEndLength = 1 + kHostDigits + 1 + kRandomDigits;
constexpr size_t kMaxAddressLength = 64;  // link-local with the longest name of an interface; others are shorter
static_assert(kPrefix.size() + kMaxAddressLength + kEndLength < RT_UNIQUE_ID_BYTES);

bool all_digits(std::string_view text) { return text.find_first_not_of(kDigits) == std::string_view::npos; }

std::optional<UniqueId> parse(std::string_view text) {
  if (text.size() <= kPrefix.size() + kEndLength || text.substr(0, kPrefix.size()) != kPrefix) return std::nullopt;
  const std::string_view place = text.substr(kPrefix.size(), text.size() - kPrefix.size() - kEndLength);
  const std::string_view end = text.substr(text.size() - kEndLength);
  const std::string_view host = end.substr(1, kHostDigits), random = end.substr(kEndLength - kRandomDigits);
  if (end[0] != '-' || end[1 + kHostDigits] != '-' || !all_digits(host) || !all_digits(random)) return std::nullopt;
  UniqueId id{{}, std::string(host), std::string(random)};
  if (place == kLocal) return id;
  id.address = Address::parse(place);
  if (!id.address || id.address->port() == 0 || id.address->is_wildcard()) return std::nullopt;
  return id;
}

}  // namespace

std::string UniqueId::text() const {
  std::string text(kPrefix);
  text += address ? address->to_text() : std::string(kLocal);
  return text + "-" + host + "-" + random;
}

std::string this_host() {
  const PeerIdentity self = describe_self(0, 1, {});
  const Sha256Digest digest = sha256(self.boot_id + "/" + std::to_string(self.network_namespace));
  std::string digits;
  for (size_t i = 0; i < kHostDigits; ++i)
    digits.push_back(kDigits[static_cast<size_t>(i % 2 == 0 ? digest[i / 2] >> 4 : digest[i / 2] & 15)]);
  return digits;
}

UniqueId make_unique_id(std::optional<Address> address) {
  return {address, this_host(), random_hex(kRandomDigits / 2)};
}

rtUniqueId encode(const UniqueId& id) {
  const std::string text = id.text();
  rtUniqueId bytes = {};
  std::copy_n(text.begin(), std::min(text.size(), sizeof bytes.internal - 1), bytes.internal);
  return bytes;
}

UniqueId decode(const rtUniqueId& bytes) {
  const char* const end = std::find(std::begin(bytes.internal), std::end(bytes.internal), '\0');
  std::optional<UniqueId> id = parse({bytes.internal, static_cast<size_t>(end - bytes.internal)});
  if (!id) refuse_argument("the unique id was not made by rtGetUniqueId(), or did not arrive whole");
  return *std::move(id);
}

}  // namespace ringtree::capi
