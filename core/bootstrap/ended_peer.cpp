// See ended_peer.h.
#include "core/bootstrap/ended_peer.h"

#include <set>

#include "core/base/clock.h"
#include "core/base/printable.h"
#include "core/bootstrap/wire.h"

namespace ringtree {
namespace {

// For the word of a rank that ended: it left it before it closed its sockets, or just after.
constexpr double kPatienceSeconds = 0.2;
constexpr size_t kMaxTextBytes = 1024;

}  // namespace

PeerError first_to_end(Store& store, const std::string& prefix, int rank, const EndedPeer& found) {
  const auto key = [&](int of) { return prefix + "/ended/" + std::to_string(of); };
  std::string text = found.what();
  try {
    store.set(key(rank),
              ByteWriter().number(static_cast<uint64_t>(found.rank), 4).text(text.substr(0, kMaxTextBytes)).take());
    std::set<int> seen{rank};
    for (int ended = found.rank; seen.insert(ended).second;) {
      const std::string word = store.get(key(ended), Deadline::after_seconds(kPatienceSeconds));
      ByteReader reader(word);
      const int next = static_cast<int>(reader.number(4));
      const std::string theirs = reader.text(kMaxTextBytes);
      if (!reader.done() || seen.contains(next)) break;
      text = printable(theirs, kMaxTextBytes);
      ended = next;
    }
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
    // It left no word, so it was the first; or the store has ended too, and a launcher's says that in its own way.
  }
  return PeerError(text);
}

}  // namespace ringtree
