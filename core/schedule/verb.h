// The verbs: what one step does. This table is the only place that knows their names and shapes; the builder, the
// verifier, the engine and the Python bindings read it.
//
// A step takes what arrives from `recv` peers and its own operand `src`, folds them (reducing verbs) or passes the one
// operand on (the others), and puts the result into `dst`, into the slots of its outgoing link, or both. Every verb
// streams: it handles its operand slice by slice. After NCCL's primitives (send, recv, recvCopySend, recvReduceSend,
// recvReduceCopy, recvReduceCopySend) plus local ones.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace ringtree {

enum class Verb : uint8_t {
  send = 0,
  recv = 1,
  recv_send = 2,
  recv_copy_send = 3,
  recv_reduce_send = 4,
  recv_reduce_copy = 5,
  recv_reduce_copy_send = 6,
  copy = 7,
  copy_send = 8,
  reduce = 9,
};

enum class Arity : uint8_t { none, one, some };

struct VerbShape {
  Verb verb;
  const char* name;
  Arity recv;    // some: one or more peers, folded in the order given
  bool has_src;  // reducing verbs with two or more peers may leave it out
  bool has_dst;
  bool has_send;
  bool reduces;
};

inline constexpr VerbShape kVerbs[] = {
    {Verb::send, "send", Arity::none, true, false, true, false},
    {Verb::recv, "recv", Arity::one, false, true, false, false},
    {Verb::recv_send, "recv_send", Arity::one, false, false, true, false},
    {Verb::recv_copy_send, "recv_copy_send", Arity::one, false, true, true, false},
    {Verb::recv_reduce_send, "recv_reduce_send", Arity::some, true, false, true, true},
    {Verb::recv_reduce_copy, "recv_reduce_copy", Arity::some, true, true, false, true},
    {Verb::recv_reduce_copy_send, "recv_reduce_copy_send", Arity::some, true, true, true, true},
    {Verb::copy, "copy", Arity::none, true, true, false, false},
    {Verb::copy_send, "copy_send", Arity::none, true, true, true, false},
    // dst <- fold of src and what dst holds; src_at 0 puts src first, 1 puts it second.
    {Verb::reduce, "reduce", Arity::none, true, true, false, true},
};

constexpr const VerbShape& shape_of(Verb verb) { return kVerbs[static_cast<int>(verb)]; }
constexpr const char* verb_name(Verb verb) { return shape_of(verb).name; }

inline std::optional<Verb> verb_from_name(std::string_view name) {
  for (const VerbShape& shape : kVerbs)
    if (name == shape.name) return shape.verb;
  return std::nullopt;
}

}  // namespace ringtree
