"""The builder: one method a verb. It appends the same steps that the built-in generators are made of; checks are the
core's.

    def ring(p):                                    # all_reduce, one chunk a rank
        right, left = (p.rank + 1) % p.ranks, (p.rank - 1) % p.ranks
        p.send(p.rank, to=right)
        ...

Arguments that all methods share. chunk: a chunk id, or Chunks(first, count, stride). to: a peer, or a list of peers
that read the same slot. source: a peer, or a list of peers in the order in which they are folded; (peer, tag) where a
tag is needed. src, dst: INPUT, OUTPUT or a scratch slot from reserve_scratch(). lane: steps of a lane run in order,
lanes overlap. tag: tells two links between the same ranks apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ringtree._core import Step

INPUT = ("input", 0)
OUTPUT = ("output", 0)


@dataclass(frozen=True)
class Chunks:
    """Chunk ids first, first + stride, … (count of them, modulo the number of chunks)."""

    first: int
    count: int = 1
    stride: int = 1


Place = tuple[str, int]
Source = int | tuple[int, int]


class ProgramBuilder:
    """One rank's program under construction."""

    def __init__(self, rank: int, ranks: int, root: int, chunks: int) -> None:
        self.rank = rank
        self.ranks = ranks
        self.root = root
        self.chunks = chunks
        self.steps: list[Step] = []
        self.num_scratch = 0

    def reserve_scratch(self, count: int = 1) -> list[Place]:
        """`count` more scratch slots of this rank; each can hold one chunk."""
        first = self.num_scratch
        self.num_scratch += count
        return [("scratch", first + i) for i in range(count)]

    def send(
        self, chunk: int | Chunks, *, to: int | Sequence[int], src: Place = INPUT, lane: int = 0, tag: int = 0
    ) -> None:
        """Sends the chunk from `src`."""
        self._add("send", chunk, lane, src=src, to=to, tag=tag)

    def recv(self, chunk: int | Chunks, *, source: Source, dst: Place = OUTPUT, lane: int = 0) -> None:
        """Receives the chunk into `dst`."""
        self._add("recv", chunk, lane, source=source, dst=dst)

    def recv_send(
        self, chunk: int | Chunks, *, source: Source, to: int | Sequence[int], lane: int = 0, tag: int = 0
    ) -> None:
        """Passes the chunk on and keeps nothing."""
        self._add("recv_send", chunk, lane, source=source, to=to, tag=tag)

    def recv_copy_send(
        self,
        chunk: int | Chunks,
        *,
        source: Source,
        to: int | Sequence[int],
        dst: Place = OUTPUT,
        lane: int = 0,
        tag: int = 0,
    ) -> None:
        """Receives the chunk into `dst` and passes it on."""
        self._add("recv_copy_send", chunk, lane, source=source, dst=dst, to=to, tag=tag)

    def recv_reduce_send(
        self,
        chunk: int | Chunks,
        *,
        source: Source | Sequence[Source],
        to: int | Sequence[int],
        src: Place | None = INPUT,
        src_at: int = 0,
        lane: int = 0,
        tag: int = 0,
    ) -> None:
        """Folds what arrives with `src` and passes the result on. src_at: how many arrivals come before the own
        operand."""
        self._add("recv_reduce_send", chunk, lane, source=source, src=src, src_at=src_at, to=to, tag=tag)

    def recv_reduce_copy(
        self,
        chunk: int | Chunks,
        *,
        source: Source | Sequence[Source],
        src: Place | None = INPUT,
        src_at: int = 0,
        dst: Place = OUTPUT,
        lane: int = 0,
    ) -> None:
        """Folds what arrives with `src` into `dst`."""
        self._add("recv_reduce_copy", chunk, lane, source=source, src=src, src_at=src_at, dst=dst)

    def recv_reduce_copy_send(
        self,
        chunk: int | Chunks,
        *,
        source: Source | Sequence[Source],
        to: int | Sequence[int],
        src: Place | None = INPUT,
        src_at: int = 0,
        dst: Place = OUTPUT,
        lane: int = 0,
        tag: int = 0,
    ) -> None:
        """Folds what arrives with `src` into `dst` and passes the result on."""
        self._add("recv_reduce_copy_send", chunk, lane, source=source, src=src, src_at=src_at, dst=dst, to=to, tag=tag)

    def copy(self, chunk: int | Chunks, *, src: Place = INPUT, dst: Place = OUTPUT, lane: int = 0) -> None:
        """Copies the chunk within this rank."""
        self._add("copy", chunk, lane, src=src, dst=dst)

    def copy_send(
        self,
        chunk: int | Chunks,
        *,
        to: int | Sequence[int],
        src: Place = INPUT,
        dst: Place = OUTPUT,
        lane: int = 0,
        tag: int = 0,
    ) -> None:
        """Copies the chunk within this rank and sends it."""
        self._add("copy_send", chunk, lane, src=src, dst=dst, to=to, tag=tag)

    def reduce(self, chunk: int | Chunks, *, src: Place, dst: Place = OUTPUT, src_at: int = 0, lane: int = 0) -> None:
        """Folds `src` with what `dst` holds, into `dst`. src_at: 0 puts `src` first, 1 second."""
        self._add("reduce", chunk, lane, src=src, src_at=src_at, dst=dst)

    def _add(
        self,
        verb: str,
        chunk: int | Chunks,
        lane: int,
        *,
        source: Source | Sequence[Source] | None = None,
        src: Place | None = None,
        src_at: int = 0,
        dst: Place | None = None,
        to: int | Sequence[int] = (),
        tag: int = 0,
    ) -> None:
        chunks = chunk if isinstance(chunk, Chunks) else Chunks(chunk)
        ids = (chunks.first, chunks.count, chunks.stride)
        send_to = [to] if isinstance(to, int) else list(to)
        self.steps.append(Step(verb, lane, ids, _endpoints(source), src, src_at, dst, send_to, tag))


def _endpoints(source: Source | Sequence[Source] | None) -> list[tuple[int, int]]:
    """(peer, tag) pairs. A tuple of two ints is one endpoint with its tag; lists are several."""
    if source is None:
        return []
    if isinstance(source, int):
        return [(source, 0)]
    if isinstance(source, tuple):
        peer, tag = source
        if isinstance(peer, int) and isinstance(tag, int):
            return [(peer, tag)]
    return [end for one in source for end in _endpoints(one)]
