"""Making the call of a Case as one rank, and telling what is wrong with what came out.

For: the tests that hold the engine against NumPy: arrays between canaries, the call, the comparison. Not for: what is
right (engine_oracle.py), or the ranks that call (engine_ranks.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from engine_case import BLOCKED, REDUCING, ROOTED, Case
from engine_oracle import Array, contribution, expected, factor_of

import ringtree
from ringtree import Communicator

CANARY = 128  # bytes on both sides of every array
UNTOUCHED = 0xA5


class Guarded:
    """An array of `count` elements, `offset` bytes past a line, with canaries on both sides. shared: peers may read it
    where it lies."""

    def __init__(self, count: int, dtype: str, offset: int, shared: bool = False) -> None:
        size = count * np.dtype(dtype).itemsize
        make: Callable[..., Any] = ringtree.empty if shared else np.empty
        self._memory = make((size + 2 * CANARY + 128,), dtype="uint8")
        self._memory.fill(UNTOUCHED)
        self._start = -self._memory.ctypes.data % 64 + CANARY + offset
        self._end = self._start + size
        self.array: Array = self._memory[self._start : self._end].view(dtype)

    def intact(self) -> bool:
        """Whether nothing was written beside the array."""
        return bool((self._memory[: self._start] == UNTOUCHED).all() and (self._memory[self._end :] == UNTOUCHED).all())


@dataclass(frozen=True)
class Outcome:
    """What one rank saw: its output if it gets one, what is wrong beside it, what was executed."""

    output: Array | None
    complaints: list[str]
    executed: dict[str, Any]


@dataclass(frozen=True)
class Buffers:
    """The memory of input and output (one and the same in place), and the arrays in it that the call is about."""

    given: Guarded
    taken: Guarded
    source: Array
    target: Array


def buffers_of(case: Case, rank: int) -> Buffers:
    """Memory for one rank, with its contribution in it; where nothing was written all bytes are UNTOUCHED."""
    num_in, num_out = case.input_count(rank), case.output_count(rank)
    if not case.in_place:
        given = Guarded(num_in, case.dtype, case.offset, case.shared_input)
        taken = Guarded(num_out, case.dtype, (case.offset * 3) % 64, case.shared_output)
        made = Buffers(given, taken, given.array, taken.array)
    else:
        both = Guarded(max(num_in, num_out), case.dtype, case.offset, case.shared_output)
        source = target = both.array
        if case.collective in ("reduce_scatter", "scatter"):
            target = target[case.own_block(rank)]
        if case.collective in ("all_gather", "gather"):
            source = source[case.own_block(rank)]
        made = Buffers(both, both, source, target)
    if case.gives(rank):
        made.source[:] = contribution(case, rank)
    return made


def arguments_of(case: Case, rank: int, buffers: Buffers) -> tuple[list[Any], dict[str, Any]]:
    """What the method of the collective's name is called with. Arrays that are not used are left out now and then."""
    source: Array | None = buffers.source
    target: Array | None = buffers.target
    if case.seed % 2 == 0 and case.collective == "scatter" and not case.gives(rank):
        source = None
    if case.seed % 2 == 0 and case.collective == "gather" and not case.gets(rank):
        target = None
    options: dict[str, Any] = {"algorithm": case.algorithm, "protocol": case.protocol}
    options |= {"slice_bytes": case.slice_bytes, "streaming": case.streaming, "out": target}
    if case.collective in REDUCING:
        options["op"] = case.op
        if case.op == "premul_sum":
            options["factor"] = factor_of(case, rank)
    if case.collective in ROOTED:
        options["root"] = case.root
    if case.counts and case.collective == "all_to_all":
        options |= {"send_counts": case.sent(rank), "recv_counts": case.got(rank)}
    elif case.counts and case.collective in BLOCKED:
        options["counts"] = case.blocks
    if case.in_place and case.collective in ("all_reduce", "broadcast", "reduce"):
        del options["out"]  # in place is what they do without it
    return [source], options


def call(case: Case, comm: Communicator) -> Outcome:
    """Runs the case as one rank."""
    rank = comm.rank
    buffers = buffers_of(case, rank)
    before = buffers.given.array.tobytes(), buffers.taken.array.tobytes()
    arguments, options = arguments_of(case, rank, buffers)
    if case.started:
        returned = comm.start(case.collective, *arguments, **options).wait()
    else:
        returned = getattr(comm, case.collective)(*arguments, **options)

    complaints = []
    if returned is not options.get("out", arguments[0]):
        complaints.append("returned another array than the one with the result")
    if not (buffers.given.intact() and buffers.taken.intact()):
        complaints.append("wrote beside an array")
    gets_none = not case.gets(rank)
    if (not case.in_place or gets_none) and buffers.given.array.tobytes() != before[0]:
        complaints.append("changed the input")
    if gets_none and buffers.taken.array.tobytes() != before[1]:
        complaints.append("wrote the output of a rank that gets none")
    return Outcome(None if gets_none else buffers.target, complaints, comm.last_call())


def mistakes(case: Case, outcomes: list[Outcome]) -> list[str]:
    """What is wrong with the outcomes of all ranks, one line each; empty if all is right."""
    lines = [f"rank {rank} {text}" for rank, outcome in enumerate(outcomes) for text in outcome.complaints]
    for rank, outcome in enumerate(outcomes):
        wanted = expected(case, rank)
        if wanted is None or outcome.output is None:
            continue
        same = (outcome.output == wanted) | ((wanted != wanted) & (outcome.output != outcome.output))
        if not same.all():
            at = int(np.argmin(same))
            lines.append(
                f"rank {rank}: element {at} is {outcome.output[at]!r}, not {wanted[at]!r}; {(~same).sum()} differ"
            )
        for name in ("algorithm", "protocol"):
            asked = getattr(case, name)
            if asked not in ("auto", outcome.executed[name]):
                lines.append(f"rank {rank} ran {name} {outcome.executed[name]}, not {asked}")
    results = [outcome.output.tobytes() for outcome in outcomes if outcome.output is not None]
    if case.collective == "all_reduce" and len(set(results)) > 1:
        lines.append("ranks have different bits")
    return lines
