// What the bytes of an rtUniqueId say: a text that tells where the ranks meet, and random digits. Not for meeting
// there: meeting.h.
//
//     capi-local-<host>-<random>                 on the host where it was made
//     capi-10.77.0.10:40123-<host>-<random>      at rank 0's, which listens there
//
// The part of fixed length is at the end, so that an id that did not arrive whole is told from one that did.
#pragma once

#include <optional>
#include <string>

#include "core/net/address.h"
#include "ringtree.h"

namespace ringtree::capi {

struct UniqueId {
  /// Where rank 0 listens; none: the ranks share the host.
  std::optional<Address> address;
  /// this_host() of the process that made it.
  std::string host;
  /// Digits that no other id has.
  std::string random;

  std::string text() const;
};

/// Digits that stand for this host as far as Unix sockets and the loopback interface reach: a running kernel and a
/// network namespace. WorldError: /proc is not there.
std::string this_host();

/// A new one, made here.
UniqueId make_unique_id(std::optional<Address> address);

rtUniqueId encode(const UniqueId& id);

/// ResultError(rtInvalidArgument): encode() did not make it.
UniqueId decode(const rtUniqueId& bytes);

}  // namespace ringtree::capi
