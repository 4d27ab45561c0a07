// The two ends of a one-way link: a FIFO of messages from one rank to one or several readers (a multicast message is
// gone when all have read it). What its memory looks like: link_memory.h. What a message's bytes mean is the protocol's
// business.
//
// How a sleeping peer is woken decides how a message is published. *Fenced* links store what they publish sequentially
// consistent, then look whether the peer sleeps: right where ranks share cores and sleep often. Links that are not
// fenced publish with release and look without waiting for the store to become visible; the sleeper pays instead, with
// a system call that fences all threads (doorbell.h): right where every rank has a core and hardly ever sleeps, as the
// fence would cost more than the message.
#pragma once

#include <cstddef>
#include <vector>

#include "core/transport/recv_end.h"
#include "core/transport/send_end.h"

namespace ringtree {

/// Where an end finds what it needs beside the link's own memory.
struct LinkPool {
  ExchangeSide* side = nullptr;  // null: the link has slots of its own
  std::byte* slots = nullptr;
  size_t slot_bytes = 0;
  std::vector<SendEnd*>* own_links = nullptr;
};

/// The ends of a link in memory that construct_link() made.
SendEnd make_send_end(std::byte* memory, const LinkGeometry& geometry, const LinkPool& pool,
                      std::vector<ReaderRoute> routes, bool fenced, Nic nic);
RecvEnd make_recv_end(std::byte* memory, const LinkGeometry& geometry, int reader_index, const LinkPool& pool,
                      Doorbell* sender_bell, int peer, const SharedTable* shared, bool fenced);

}  // namespace ringtree
