// PartMaker: communicators of parts of one, by choice (split) or because ranks have died (shrink). Not for the calls by
// which ranks tell each other what they wish: those are the communicator's.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/engine/call_watch.h"
#include "core/engine/selection.h"
#include "core/engine/session.h"

namespace ringtree {

class Communicator;

class PartMaker {
 public:
  /// The communicator and what its parts get of it.
  struct Whole {
    Session& session;
    Settings settings;  // with the profile or the constants that all ranks agreed on
    const AlgorithmTable& table;
    InterruptCheck interrupted;
  };
  using Wish = std::array<int64_t, 2>;  // color, key

  PartMaker(Store& store, std::string prefix) : store_(&store), prefix_(std::move(prefix)) {}

  /// Of this communicator alone, alike on all ranks: names it where the store is no longer there.
  void set_token(std::string token) { token_ = std::move(token); }

  /// `wishes`: every rank's. Null for a negative color.
  std::unique_ptr<Communicator> split(const Whole& whole, const std::vector<Wish>& wishes);
  /// See Communicator::shrink().
  std::unique_ptr<Communicator> shrink(const Whole& whole);
  /// A survivor's word of where to meet; on the mesh's monitor thread.
  void on_meeting(Session& session, ByteReader reader);

 private:
  static std::unique_ptr<Communicator> make(Store& store, std::shared_ptr<Store> kept, size_t place, size_t num_ranks,
                                            const Whole& whole, const std::string& prefix);
  /// Where the survivors of a shrink meet: a store that the first of them serves, the only one that has `place` 0.
  std::unique_ptr<Store> open_meeting(const Whole& whole, const std::string& id, int place,
                                      const std::vector<int>& survivors, Deadline deadline);

  Store* const store_;
  const std::string prefix_;
  std::shared_ptr<Store> kept_store_;  // of a communicator that shrink() made, and of its parts: the store they met in
  std::string token_;
  std::map<std::string, std::pair<std::string, uint16_t>> meetings_;  // id -> host, port; under the session's lock
  int num_splits_ = 0, num_shrinks_ = 0;
};

}  // namespace ringtree
