// One step of one rank's program, as plain data. It says what, from whom, to whom; program.h checks it.
#pragma once

#include <cstdint>
#include <vector>

#include "core/schedule/verb.h"

namespace ringtree {

/// Chunk ids (first + i·stride) mod num_chunks for i in [0, count), in that order: laid end to end they are the step's
/// operand. Stride and wrap are what aggregating algorithms need (a Bruck step sends blocks r, r+1, … around the end).
struct ChunkRange {
  int first = 0;
  int count = 1;
  int stride = 1;

  int id(int index, int num_chunks) const {
    const int64_t raw = (first + int64_t{index} * stride) % num_chunks;
    return static_cast<int>(raw < 0 ? raw + num_chunks : raw);
  }
  bool operator==(const ChunkRange&) const = default;
};

enum class Buffer : uint8_t { none = 0, input = 1, output = 2, scratch = 3 };

inline constexpr const char* kBufferNames[] = {"none", "input", "output", "scratch"};

/// Where an operand lies. Input and output are addressed by the step's own chunk ids; scratch by slot: the step's i-th
/// chunk lies in slot `slot + i` and takes that chunk's size.
struct Place {
  Buffer buffer = Buffer::none;
  int slot = 0;
  bool operator==(const Place&) const = default;
  explicit operator bool() const { return buffer != Buffer::none; }
};

inline constexpr Place kInput{Buffer::input, 0};
inline constexpr Place kOutput{Buffer::output, 0};
inline Place scratch(int slot) { return {Buffer::scratch, slot}; }

/// The far end of an incoming link: link (peer -> this rank, tag).
struct Endpoint {
  int peer = 0;
  int tag = 0;
  bool operator==(const Endpoint&) const = default;
};

struct Step {
  Verb verb = Verb::send;
  int lane = 0;
  ChunkRange chunks = {};
  std::vector<Endpoint> recv = {};  // in fold order
  Place src = {};
  int src_at = 0;  // place of src in the fold: 0 = before recv[0], recv.size() = after the last
  Place dst = {};
  std::vector<int> send_to = {};  // several peers: a multicast, one slot with several readers
  int send_tag = 0;
  bool operator==(const Step&) const = default;
};

}  // namespace ringtree
