// What the ranks of a communicator agree on when they meet: what `auto` chooses by, and a token that names them.
//
// For: Communicator's constructor. Not for: what a choice is then (selection.h), what settings must be alike for ranks
// to meet at all, which they show each other before (session.h).
#pragma once

#include <string>

#include "core/engine/selection.h"
#include "core/engine/session.h"
#include "core/engine/settings.h"

namespace ringtree {

struct Agreed {
  std::string profile;  // rank 0's, as text
  /// Of the machine or of the links between hosts, for what the profile has no rule for; as text, "" for those that are
  /// built in.
  std::string constants;
  std::string token;  // of this communicator alone (PartMaker)
};

/// Called by all ranks while they meet, until `deadline`; the others wait for rank 0. TimeoutError names the rank that
/// did not answer a probe.
Agreed agree_at_start(Rendezvous& rendezvous, const Mesh& mesh, const Settings& settings, Deadline deadline);

/// What `auto` knows on this rank: what was agreed, and what every rank reads alike of the others' pages. Throws
/// UsageError for a wrong profile, WorldError for malformed constants.
Selection selection_of(Session& session, const Settings& settings, const Agreed& agreed);

}  // namespace ringtree
