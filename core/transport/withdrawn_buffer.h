// A shared buffer (shared_buffer.h) that peers may still write to when its owner's call has failed: it becomes memory
// of this process alone, with the same contents at the same addresses, and who has it mapped writes elsewhere from then
// on.
#pragma once

#include <cstddef>

namespace ringtree {

/// Does so with the pages of [at, at + bytes); nobody in this process may write to these meanwhile. All of the buffer
/// is shared with nobody from now on. Nothing happens where no shared buffer holds the bytes. Ranks that are threads of
/// this process are not kept away. Throws WorldError if there is no memory for it.
void withdraw_shared(const void* at, size_t bytes);

}  // namespace ringtree
