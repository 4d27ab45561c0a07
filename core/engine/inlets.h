// What wakes a rank that waits.
#pragma once

#include "core/transport/doorbell.h"
#include "core/transport/tcp_port.h"

namespace ringtree {

struct Inlets {
  Doorbell& bell;
  TcpPort* port = nullptr;  // what comes over TCP; null: all ranks are on this host
};

}  // namespace ringtree
