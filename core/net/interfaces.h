// Which addresses of this host a job may use: what the kernel lists, and the choice that the user makes by
// RINGTREE_IFNAME. Not for the default when nothing was asked for, which depends on where the other ranks are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/net/address.h"

namespace ringtree {

/// An address of a network interface; one that has several is listed once for each.
struct Interface {
  std::string name;
  Address address;  // port 0

  friend bool operator==(const Interface&, const Interface&) = default;
};

/// What is up, loopback too: all IPv4 addresses, then all IPv6 ones, each as the kernel lists them. Link-local IPv6 is
/// left out: other hosts can't use such an address without knowing by which of their own interfaces. WorldError if
/// the kernel does not tell.
std::vector<Interface> interfaces_that_are_up();

/// The interfaces of `all` that `pattern` asks for, each with one address, the first IPv4 or else the first one; in
/// order of the pattern's items, then of `all`. The pattern's items are separated by commas:
///
///   eth     those whose names begin so             =eth0    this one
///   ^docker not those whose names begin so         ^=lo     not this one
///
/// With only ^ items: all others. An item's ^ is its own: "^docker,lo" asks for lo (NCCL would exclude both). An item
/// that fits nothing is passed over as long as another one does. UsageError saying what there is if none does, or if
/// the pattern is malformed: an empty item, or a name with a character that no interface has.
std::vector<Interface> choose_interfaces(const std::vector<Interface>& all, std::string_view pattern);

}  // namespace ringtree
