// What all ranks of a communicator agree on when it is made.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "core/bootstrap/network.h"
#include "core/model/cluster.h"
#include "core/model/estimate.h"

namespace ringtree {

struct Settings {
  double timeout_s = 300;                       // of each call, and of making the communicator; each rank's own
  size_t memory_cap_bytes = size_t{256} << 20;  // of each rank's outgoing links; each rank's own
  int num_channels = 1;
  /// A cluster to emulate on this machine: messages between its hosts leave through the sending host's one network card
  /// at beta and arrive alpha later; messages inside a host are not slowed. docs/decisions/0006.
  std::optional<Cluster> emulation;

  /// What was measured on this machine (profile.h), "" for nothing. Rank 0's counts, on all ranks.
  std::string profile;
  /// The constants of the closed-form model on this machine, within about so many seconds; from the thread that makes
  /// the communicator. Asked of rank 0 alone, once all ranks have met, if it has no profile and all ranks share a host
  /// that is not an emulation; what it says, or throws, counts on all ranks. None: default_machine(), and nothing is
  /// sent.
  std::function<Machine(double seconds)> probe = {};
  /// Whether rank 0 and a rank of another host are to probe the links between hosts (core/net/link_probe.h), for `auto`
  /// to choose by. Asked of rank 0 alone, once all ranks have met, if they really run on several hosts; what it throws
  /// counts on all ranks. Nothing is sent where rank 0's process has found links to that host before (found_links.h).
  /// None, or false: default_host_links().
  std::function<bool()> probes_links = {};
  /// The links that the ranks of the whole agreed on, for a part of it: nothing is probed then. Alike on all its ranks.
  std::optional<HostLinks> links = {};
  /// `auto` chooses for buffers that every rank's peers read in place (core/transport/shared_buffer.h); others stay
  /// right. Alike on all ranks, since who chooses must not depend on where one rank's buffers lie.
  bool shared_buffers = false;
  /// Peers may write sums of calls in place into this rank's shared buffers, instead of sending them to be copied
  /// there. Buffers of a call that failed are withdrawn (core/transport/withdrawn_buffer.h): a peer that hung may go on
  /// and still write. Ranks that are threads of one process aren't kept apart by that. Each rank's own.
  bool answers_in_place = false;
  /// The same inputs give the same bits whichever algorithm, protocol, slices and channels run: where the order of a
  /// fold shows in the result, only algorithms run that fold all ranks' contributions in one go, in the order of ranks.
  bool deterministic = false;
  /// How ranks of other hosts are reached; each rank's own, but its streams and checksums.
  Network network;
  /// Told one line for people when a rank has fallen silent; from a thread of the communicator's, which it must not
  /// keep waiting, and without exceptions. Each rank's own; none: nobody is told. The library itself prints nothing.
  std::function<void(const std::string& line)> warn = {};

  /// The part that must be equal on all ranks, as text that people can read in the error when it is not.
  std::string agreed_text() const;
  /// Throws UsageError, for a communicator of `world_size` ranks.
  void check(int world_size) const;
};

}  // namespace ringtree
