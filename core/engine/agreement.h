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
  std::string choosing;  // what rank 0 has for `auto` to choose by: a profile, or constants of the machine or of the
                         // links between hosts, as text
  std::string token;     // of this communicator alone (PartMaker)
};

/// Called by all ranks while they meet; the others wait for rank 0, at most Settings::timeout_s for each of what it
/// says: what to choose by, after a probe the links, and the token.
Agreed agree_at_start(Rendezvous& rendezvous, const Mesh& mesh, int rank, const Settings& settings);

/// What `auto` knows on this rank: what was agreed, and what every rank reads alike of the others' pages. Throws
/// UsageError for a wrong profile, WorldError for malformed constants.
Selection selection_of(Session& session, const Settings& settings, const std::string& choosing);

}  // namespace ringtree
