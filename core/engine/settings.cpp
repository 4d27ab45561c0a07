// See settings.h.
#include "core/engine/settings.h"

#include <cmath>
#include <cstdio>

#include "core/base/error.h"
#include "core/schedule/layout.h"
#include "core/transport/nic.h"

namespace ringtree {
namespace {

constexpr int kProtocolVersion = 4;  // of what ranks share in memory, and tell each other once they have met
constexpr int kMaxChannels = 64;

std::string number(double value) {
  char text[32];
  snprintf(text, sizeof text, "%.17g", value);
  return text;
}

}  // namespace

std::string Settings::agreed_text() const {
  std::string text = "engine version " + std::to_string(kProtocolVersion) + ", " + std::to_string(kSlots) +
                     " slots of " + std::to_string(kSlotBytes) + " bytes, " + std::to_string(num_channels) +
                     " channels" + (shared_buffers ? ", choosing for shared buffers" : "") +
                     (deterministic ? ", deterministic" : "");
  if (network.num_streams != 0) text += ", " + std::to_string(network.num_streams) + " streams between hosts";
  if (network.checksums) text += ", with checksums";
  if (emulation)
    text += ", emulating " + std::to_string(emulation->num_hosts) + "x" + std::to_string(emulation->ranks_per_host) +
            " with alpha " + number(emulation->alpha_s) + " s and beta " + number(emulation->beta_Bps) + " B/s";
  return text;
}

void Settings::check(int world_size) const {
  if (!(timeout_s > 0)) throw UsageError("timeout must be above 0 s");
  if (num_channels < 1 || num_channels > kMaxChannels)
    throw UsageError("channels must be within 1.." + std::to_string(kMaxChannels));
  if (network.num_streams < 0 || network.num_streams > kMaxStreams)
    throw UsageError("streams must be within 1.." + std::to_string(kMaxStreams));
  if (!emulation) return;
  const Cluster& cluster = *emulation;
  if (cluster.num_hosts < 1 || cluster.ranks_per_host < 1 || cluster.num_hosts * cluster.ranks_per_host != world_size)
    throw UsageError("an emulated cluster of " + std::to_string(cluster.num_hosts) + " hosts x " +
                     std::to_string(cluster.ranks_per_host) + " ranks does not fit a world of " +
                     std::to_string(world_size) + " ranks");
  if (cluster.ranks_per_host > kMaxRanksPerEmulatedHost)
    throw UsageError("an emulated host has at most " + std::to_string(kMaxRanksPerEmulatedHost) + " ranks");
  if (!(cluster.alpha_s >= 0) || cluster.alpha_s > 60) throw UsageError("alpha must be within 0..60 s");
  if (!(cluster.beta_Bps >= 1) || !std::isfinite(cluster.beta_Bps)) throw UsageError("beta must be at least 1 B/s");
}

}  // namespace ringtree
