"""A schedule interpreted in Python over any torch.distributed group: the textbook loop of the field.

For: the from-scratch baseline, written as a person would write it (post the round's isends and irecvs as one batch,
wait, add, go on) but driven by a schedule, so that it covers every algorithm. Works over Gloo with CPU tensors and over
NCCL with CUDA tensors: nothing here is of the CPU, and matching needs no tags (core/schedule/rounds.h).
Not for: speed. Whole chunks travel (no slices), so a tree isn't pipelined, as in the field's own versions.

What depends only on schedule, rank and buffers is prepared once: `run` posts, waits and calls torch functions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import torch.distributed as dist

from ringtree._core import Round, RoundMessage
from ringtree.errors import UsageError
from ringtree.traits import BLOCKED, GIVES_BLOCK, TAKES_BLOCK

_FOLDS: dict[str, Callable[..., Any]] = {
    "sum": torch.add,
    "prod": torch.mul,
    "min": torch.minimum,
    "max": torch.maximum,
}
Action = Callable[[], Any]


class InterpretedCall:
    """One collective on fixed buffers, ready to run any number of times.

    `input`, `output`: flat tensors on the group's device, of `count` elements or as many blocks as the collective says;
    in place the same tensor, or one the own block of the other. Raises UsageError for an op that has no fold. Every
    rank must call `run` alike; it raises what torch.distributed raises if a peer is gone.
    """

    def __init__(
        self,
        schedule: Any,
        rounds: list[Round],
        rank: int,
        group: dist.ProcessGroup,
        input: torch.Tensor,
        output: torch.Tensor,
        count: int,
        op: str = "sum",
    ) -> None:
        if op not in _FOLDS:
            raise UsageError(f"send-recv has no op {op!r}; choose from: {', '.join(_FOLDS)}")
        self._fold = _FOLDS[op]
        self._group = group
        self._steps = list(schedule.program(rank))
        self._layout: list[tuple[int, int]] = schedule.layout(count)
        self._offsets = _offsets_of(schedule, self._layout, rank, count)
        self._slot_length = max((length for _, length in self._layout), default=0)
        scratch = input.new_empty(schedule.scratch_chunks(rank) * self._slot_length)
        self._buffers = {"input": input, "output": output, "scratch": scratch}
        self._spare = _SparePool(input)
        self._incoming: dict[int, dict[int, torch.Tensor]] = defaultdict(dict)  # step -> operand -> where it lands
        self._outgoing: dict[int, torch.Tensor] = {}  # step -> what it sends
        self._held: dict[int, list[torch.Tensor]] = defaultdict(list)  # step -> spares to give back after its sends
        self._compiled = [self._compile(current) for current in rounds]

    def run(self) -> None:
        """Runs the collective; returns when this rank's result is in the output (on a GPU: is queued)."""
        for batch, actions in self._compiled:
            if batch:
                for work in dist.batch_isend_irecv(batch):
                    work.wait()
            for action in actions:
                action()

    def _compile(self, current: Round) -> tuple[list[dist.P2POp], list[Action]]:
        batch: list[dist.P2POp] = []
        for transfer in current.sends:
            self._add(batch, dist.isend, self._outgoing[transfer.step], transfer.peer)
        for transfer in current.recvs:
            self._add(batch, dist.irecv, self._landing(transfer), transfer.peer)
        for step in dict.fromkeys(transfer.step for transfer in current.sends):
            self._spare.give(self._held.pop(step, []))
        actions: list[Action] = []
        for step in current.steps:
            self._compile_step(step, actions)
        return batch, actions

    def _add(self, batch: list[dist.P2POp], function: Any, tensor: torch.Tensor, peer: int) -> None:
        # Both ends know the layout, so both leave an empty message out.
        if tensor.numel():
            batch.append(dist.P2POp(function, tensor, dist.get_global_rank(self._group, peer), self._group))

    def _landing(self, transfer: RoundMessage) -> torch.Tensor:
        """Where a message is received: in its place if that is free and in one piece, else in a spare."""
        step = self._steps[transfer.step]
        pieces = self._pieces(step, step.dst) if step.dst else []
        if transfer.lands and len(pieces) == 1 and len(step.recv) == 1 and not step.src:
            landing = pieces[0]
        else:
            landing = self._spare.take(self._length(step))
            self._held[transfer.step].append(landing)
        self._incoming[transfer.step][transfer.operand] = landing
        return landing

    def _compile_step(self, index: int, actions: list[Action]) -> None:
        """Emits what the step does between its messages: fold, copy, pack."""
        step = self._steps[index]
        incoming = self._incoming.pop(index, {})
        operands = [incoming[k] for k in range(len(step.recv))]
        if step.src:
            operands.insert(step.src_at if step.recv else 0, self._read(index, step, step.src, actions))
        if step.verb == "reduce":  # the local fold of src and what dst holds
            operands.insert(0 if step.src_at else 1, self._read(index, step, step.dst, actions))
        value = operands[0]
        pieces = self._pieces(step, step.dst) if step.dst else []
        if len(operands) > 1:
            value = pieces[0] if len(pieces) == 1 else self._take(index, step)
            # The fold is written as it goes; an own operand that comes third or later must not be overwritten before.
            if any(operand.data_ptr() == value.data_ptr() for operand in operands[2:]):
                value = self._take(index, step)
            for k, operand in enumerate(operands[1:]):
                actions.append(partial(self._fold, operands[0] if k == 0 else value, operand, out=value))
        offset = 0
        for piece in pieces:
            part = value[offset : offset + piece.numel()]
            if part.numel() and part.data_ptr() != piece.data_ptr():
                actions.append(partial(piece.copy_, part))
            offset += piece.numel()
        if step.send_to:
            self._outgoing[index] = value
        else:
            self._spare.give(self._held.pop(index, []))

    def _read(self, index: int, step: Any, place: tuple[str, int], actions: list[Action]) -> torch.Tensor:
        """The operand at `place` as one flat tensor: a view if it lies in one piece, else a packed copy."""
        pieces = self._pieces(step, place)
        if len(pieces) == 1:
            return pieces[0]
        packed = self._take(index, step)
        offset = 0
        for piece in pieces:
            actions.append(partial(packed[offset : offset + piece.numel()].copy_, piece))
            offset += piece.numel()
        return packed

    def _pieces(self, step: Any, place: tuple[str, int]) -> list[torch.Tensor]:
        """The step's chunks at `place` as views, neighbours joined; at least one, maybe empty."""
        buffer, slot = place
        extents: list[tuple[int, int]] = []
        for i, chunk in enumerate(step.chunks):
            length = self._layout[chunk][1]
            offset = (slot + i) * self._slot_length if buffer == "scratch" else self._offsets[buffer][chunk]
            if extents and extents[-1][0] + extents[-1][1] == offset:
                extents[-1] = (extents[-1][0], extents[-1][1] + length)
            elif length or not extents:
                extents.append((offset, length))
        flat = self._buffers[buffer]
        return [flat[offset : offset + length] for offset, length in extents]

    def _length(self, step: Any) -> int:
        return sum(self._layout[chunk][1] for chunk in step.chunks)

    def _take(self, index: int, step: Any) -> torch.Tensor:
        spare = self._spare.take(self._length(step))
        self._held[index].append(spare)
        return spare


def _offsets_of(schedule: Any, layout: list[tuple[int, int]], rank: int, count: int) -> dict[str, list[int]]:
    """Where each chunk lies in a rank's input and output, where it has it at all: blocks side by side."""
    collective, num_ranks = schedule.collective, schedule.num_ranks
    to_all = collective == "all_to_all"  # a block for each pair: rank s's block r, and then rank s's next
    num_blocks = num_ranks**2 if to_all else num_ranks if collective in BLOCKED else 1
    per_block = len(layout) // num_blocks
    offsets: dict[str, list[int]] = {"input": [], "output": []}
    for chunk, (offset, _) in enumerate(layout):
        block = chunk // per_block
        inside = offset - layout[block * per_block][0]
        given, taken = (block % num_ranks, block // num_ranks) if to_all else (block, block)
        offsets["input"].append(inside + (0 if collective in TAKES_BLOCK else given * count))
        offsets["output"].append(inside + (0 if collective in GIVES_BLOCK else taken * count))
    return offsets


class _SparePool:
    """Spare tensors, used again as soon as the step that held one is over."""

    def __init__(self, like: torch.Tensor) -> None:
        self._like = like
        self._free: dict[int, list[torch.Tensor]] = defaultdict(list)

    def take(self, length: int) -> torch.Tensor:
        return self._free[length].pop() if self._free[length] else self._like.new_empty(length)

    def give(self, tensors: list[torch.Tensor]) -> None:
        for tensor in tensors:
            self._free[tensor.numel()].append(tensor)
