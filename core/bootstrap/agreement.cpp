// Compares every rank with rank 0 and names the first that differs, so that the message is the same everywhere.
// No input or output here.
#include "core/bootstrap/agreement.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include "core/base/error.h"

namespace ringtree {
namespace {

constexpr size_t kShownBytes = 120;
constexpr size_t kShownBefore = 40;

// `settings` for a one-line message: the part around byte `at`, where two settings begin to differ, with no control
// bytes.
std::string excerpt(const std::string& settings, size_t at) {
  const size_t first =
      settings.size() <= kShownBytes || at < kShownBefore ? 0 : std::min(at - kShownBefore, settings.size());
  const std::string shown = settings.substr(first, kShownBytes);
  std::string text = first > 0 ? "'..." : "'";
  for (const char c : shown) {
    char escaped[5];
    const auto byte = static_cast<unsigned char>(c);
    std::snprintf(escaped, sizeof(escaped), "\\x%02x", byte);
    text += byte >= 0x20 && byte != 0x7f ? std::string(1, c) : std::string(escaped);
  }
  return text + (first + shown.size() < settings.size() ? "...'" : "'");
}

std::string both(const PeerIdentity& a, const PeerIdentity& b) { return to_text(a) + " and " + to_text(b); }

}  // namespace

void agree(const std::vector<PeerIdentity>& identities, const std::string& why_one_host) {
  const PeerIdentity& first = identities.front();
  // Who shares memory must be one user; over TCP nobody asks.
  for (const PeerIdentity& other : identities) {
    const auto mate = std::find_if(identities.begin(), identities.end(),
                                   [&](const PeerIdentity& candidate) { return share_host(candidate, other); });
    if (mate->uid != other.uid) {
      throw UsageError(both(*mate, other) + " run as users " + std::to_string(mate->uid) + " and " +
                       std::to_string(other.uid) + ": start all ranks of a host as one user");
    }
  }
  for (const PeerIdentity& other : identities) {
    if (other.settings == first.settings) continue;
    const auto differ =
        std::mismatch(first.settings.begin(), first.settings.end(), other.settings.begin(), other.settings.end());
    const auto at = static_cast<size_t>(differ.first - first.settings.begin());
    throw MismatchError("the ranks' settings differ: " + to_text(first) + " has " + excerpt(first.settings, at) + ", " +
                        to_text(other) + " has " + excerpt(other.settings, at) +
                        ": start all ranks with the same settings");
  }
  const auto is_elsewhere = [&](const PeerIdentity& other) { return !share_host(other, first); };
  if (!why_one_host.empty() && std::any_of(identities.begin(), identities.end(), is_elsewhere))
    throw UsageError(why_one_host);
}

void agree_on_world_size(const PeerIdentity& self, const PeerIdentity& peer) {
  if (self.world_size == peer.world_size) return;
  const PeerIdentity& low = self.rank < peer.rank ? self : peer;
  const PeerIdentity& high = self.rank < peer.rank ? peer : self;
  throw MismatchError("the ranks' world sizes differ: " + to_text(low) + " has " + std::to_string(low.world_size) +
                      ", " + to_text(high) + " has " + std::to_string(high.world_size) +
                      ": start all ranks with one world size");
}

}  // namespace ringtree
