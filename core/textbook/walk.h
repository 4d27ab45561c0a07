// Walks through the rounds of a call: messages, then the steps between them, one after the other, in one thread.
#pragma once

#include "core/reduce/kernels.h"
#include "core/textbook/mailbox_wire.h"
#include "core/textbook/wire.h"

namespace ringtree::textbook {

/// What folds: the op on elements of a size.
struct Fold {
  FoldKernel kernel = nullptr;
  size_t item_bytes = 1;
};

/// Everything that arrives lies in a temporary or in its place before any of it is folded. False: stopped.
bool walk_separately(const BoundRounds& bound, const Memory& memory, const Fold& fold, Wire& wire);

/// What arrives is folded where it lies in the mailbox, into place and into the next message alike. False: stopped.
bool walk_fused(const BoundRounds& bound, const Memory& memory, const Fold& fold, MailboxWire& wire);

}  // namespace ringtree::textbook
