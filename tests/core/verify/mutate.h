// Small seeded faults in schedules: what a slip of the pen in a generator would do. Each mutation changes one thing of
// one rank. Whether the result is wrong is for verifier and oracle to say; a few mutants are equivalent to the
// original.
#pragma once

#include <random>
#include <string>
#include <utility>

#include "tests/core/verify/schedules.h"

namespace ringtree::testing {

class Mutator {
 public:
  Mutator(Steps& steps, std::mt19937_64& random) : steps_(steps), random_(random) {}

  static constexpr const char* kNames[] = {"flip send peer", "flip recv peer", "drop step",       "duplicate step",
                                           "swap chunks",    "change tag",     "swap steps",      "change verb",
                                           "change src",     "change src_at",  "change lane",     "drop reader",
                                           "change dst",     "swap receives",  "flip and re-tag", "change chunk"};
  static constexpr int kNumMutations = static_cast<int>(sizeof(kNames) / sizeof(kNames[0]));

  /// Applies mutation number `kind` to a random step; false if that step offers no place for it or nothing changed.
  bool apply(int kind) {
    rank_ = pick(steps_.shape.num_programs());
    if (steps_.by_rank[rank_].empty()) return false;
    const std::vector<Step> before = steps_.by_rank[rank_];
    index_ = pick(static_cast<int>(before.size()));
    return change(kind) && steps_.by_rank[rank_] != before;
  }
  int rank() const { return rank_; }
  int index() const { return index_; }

 private:
  int pick(int count) { return static_cast<int>(random_() % static_cast<uint64_t>(count)); }
  std::vector<Step>& own() { return steps_.by_rank[rank_]; }
  int other_peer(int than) {
    const int peer = pick(steps_.shape.num_programs());
    return peer == rank_ || peer == than ? -1 : peer;
  }

  bool change(int kind) {
    Step& step = own()[index_];
    switch (kind) {
      case 0:
        return flip_send(step);
      case 1:
        return flip_recv(step);
      case 2:
        return own().erase(own().begin() + index_), true;
      case 3:
        return own().insert(own().begin() + index_, Step(step)), true;
      case 4:
        return std::swap(step.chunks, own()[pick(static_cast<int>(own().size()))].chunks), true;
      case 5:
        return change_tag(step);
      case 6:
        return std::swap(step, own()[pick(static_cast<int>(own().size()))]), true;
      case 7:
        return change_verb(step);
      case 8:
        return change_place(step.src);
      case 9:
        return step.src_at = pick(static_cast<int>(step.recv.size()) + 2), true;
      case 10:
        return step.lane = pick(own().back().lane + 2), true;
      case 11:
        return step.send_to.size() > 1 &&
               (step.send_to.erase(step.send_to.begin() + pick(static_cast<int>(step.send_to.size()))), true);
      case 12:
        return change_place(step.dst);
      case 13:
        return step.recv.size() > 1 &&
               (std::swap(step.recv[0], step.recv[1 + pick(static_cast<int>(step.recv.size()) - 1)]), true);
      case 14:
        return step.send_tag = 7 + pick(2), flip_send(step);
      default:
        return step.chunks.first = pick(steps_.shape.num_chunks), true;
    }
  }

  bool flip_send(Step& step) {
    if (step.send_to.empty()) return false;
    int& peer = step.send_to[pick(static_cast<int>(step.send_to.size()))];
    const int other = other_peer(peer);
    return other >= 0 && (peer = other, true);
  }
  bool flip_recv(Step& step) {
    if (step.recv.empty()) return false;
    int& peer = step.recv[pick(static_cast<int>(step.recv.size()))].peer;
    const int other = other_peer(peer);
    return other >= 0 && (peer = other, true);
  }
  bool change_tag(Step& step) {
    if (!step.recv.empty() && (step.send_to.empty() || pick(2) == 0))
      return ++step.recv[pick(static_cast<int>(step.recv.size()))].tag, true;
    return ++step.send_tag, !step.send_to.empty();
  }
  bool change_place(Place& place) {
    if (!place) return false;
    const int choice = pick(3);
    if (choice == 2) steps_.num_scratch[rank_] += steps_.shape.widest;  // so that the slot exists at least
    place = choice == 0 ? kInput : choice == 1 ? kOutput : scratch(pick(steps_.num_scratch[rank_]));
    return true;
  }

  /// Another verb, with what it cannot have taken away and what it needs put in.
  bool change_verb(Step& step) {
    const VerbShape& verb = kVerbs[pick(static_cast<int>(sizeof(kVerbs) / sizeof(kVerbs[0])))];
    step.verb = verb.verb;
    if (verb.recv == Arity::none) step.recv.clear();
    if (verb.recv != Arity::none && step.recv.empty()) return false;
    if (verb.recv == Arity::one) step.recv.resize(1);
    if (!verb.has_src) step.src = {}, step.src_at = 0;
    if (verb.has_src && !step.src) step.src = kInput;
    if (!verb.has_dst) step.dst = {};
    if (verb.has_dst && !step.dst) step.dst = kOutput;
    if (!verb.has_send) step.send_to.clear();
    if (verb.has_send && step.send_to.empty()) step.send_to = {(rank_ + 1) % steps_.shape.num_ranks};
    return true;
  }

  Steps& steps_;
  std::mt19937_64& random_;
  int rank_ = 0, index_ = 0;
};

}  // namespace ringtree::testing
