// TCP sockets: listening on one address, connecting without waiting, and how that went. Every socket made here is
// non-blocking and close-on-exec. Not for who is at the other end (handshake.h): anybody may connect to a port.
#pragma once

#include "core/net/address.h"
#include "core/net/socket.h"

namespace ringtree {

/// Listens on `address` alone; port 0 lets the kernel choose one, see local_address(). UsageError for a wildcard
/// address, which would let every network of the host knock. EADDRINUSE: another socket listens there; EADDRNOTAVAIL:
/// the address is not this host's.
SocketResult listen_tcp(const Address& address, int backlog);

/// Begins to connect to `to`, from the own address `from` if it is given (its port does not count). Error 0: connected
/// or in progress, ask connect_error(). ENETUNREACH: no route; EADDRNOTAVAIL: `from` is not this host's, or no port is
/// free.
SocketResult connect_tcp(const Address& to, const Address* from);

/// How connecting went so far, without waiting: 0 if connected, EINPROGRESS while it lasts, else why it failed
/// (ECONNREFUSED: nobody listens there). Wait for POLLOUT before asking again. Reports a failure once, ENOTCONN
/// afterwards: close the socket.
int connect_error(int socket);

/// Turns Nagle's delay off: small messages leave at once instead of waiting for an acknowledgement of earlier ones.
void send_at_once(int socket);

}  // namespace ringtree
