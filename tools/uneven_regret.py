"""What auto loses against the best forced algorithm where ranks' blocks differ in length, without a profile.

    torchrun --nproc-per-node 4 tools/uneven_regret.py launches.jsonl    # once a launch; an even number of them
    python tools/uneven_regret.py launches.jsonl                         # all launches of the file: a line a cell

For: docs/tune.md. Blocks are a ramp (rank r has r + 1 parts) or one rank has half of all. Every launch times auto and
each algorithm in shuffled order, round by round, by the slowest rank. The best is chosen in every other launch and
judged in the ones between, and the other way round. Not for: equal blocks (`ringtree tune --check`, `compare`).
"""

from __future__ import annotations

import json
import math
import os
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import ringtree
from ringtree.stats import round_effect
from ringtree.units import format_size

COLLECTIVES = ("reduce_scatter", "all_gather")
SIZES = tuple(1 << n for n in range(10, 25, 2))  # bytes of all blocks together
ROUNDS, MOST_CALLS = 12, 64
ITEM = 4

Cell = tuple[str, str, int]
Rounds = list[dict[str, float]]


def ramp(total: int, num_ranks: int) -> list[int]:
    """Returns `total` elements as blocks of r + 1 parts on rank r; the last one has what is left."""
    part = total / (num_ranks * (num_ranks + 1) / 2)
    blocks = [int(part * (rank + 1)) for rank in range(num_ranks - 1)]
    return [*blocks, total - sum(blocks)]


def half_on_one(total: int, num_ranks: int) -> list[int]:
    """Returns `total` elements, half of them on rank 1 and the others even; rank 0 has what is left."""
    other = (total - total // 2) // (num_ranks - 1)
    blocks = [total // 2 if rank == 1 else other for rank in range(num_ranks)]
    return [blocks[0] + total - sum(blocks), *blocks[1:]]


BLOCKS = {"ramp": ramp, "half on one": half_on_one}


def regret(launches: Sequence[Rounds]) -> tuple[str, float]:
    """Returns the algorithm that is fastest in all launches, and the share by which auto takes longer than the best.

    The best is the one of the launches with even numbers, judged in those with odd ones, and vice versa.
    """
    halves = [launches[0::2], launches[1::2]]
    lost = [behind(fastest(choosing), judging) for choosing, judging in (halves, halves[::-1])]
    return fastest(launches), math.expm1(statistics.fmean(lost))


def fastest(launches: Sequence[Rounds]) -> str:
    """Returns the algorithm that auto is furthest behind."""
    return max((arm for arm in launches[0][0] if arm != "auto"), key=lambda arm: behind(arm, launches))


def behind(arm: str, launches: Sequence[Rounds]) -> float:
    """Returns log(auto's time / the arm's), by rounds in each launch, and their mean."""
    return statistics.fmean(
        round_effect([[one["auto"]] for one in rounds], [[one[arm]] for one in rounds]) for rounds in launches
    )


def measure(comm: ringtree.Communicator, launch: int) -> list[tuple[Cell, str, Rounds]]:
    """Returns what auto runs in every cell, and its rounds in seconds of a call on the slowest rank. Raises SystemExit
    if a result is wrong."""
    found = []
    for collective in COLLECTIVES:
        arms = ["auto", *sorted({name for of, name, _, why in ringtree.support() if of == collective and not why})]
        for layout, blocks_of in BLOCKS.items():
            for size in SIZES:
                blocks = blocks_of(size // ITEM, comm.world_size)
                call = Call(comm, collective, blocks)
                for arm in arms:
                    call.check(arm)
                own = [
                    {arm: call.seconds(arm) for arm in Random(f"{launch}/{turn}").sample(arms, len(arms))}
                    for turn in range(ROUNDS)
                ]
                times = np.array([[one[arm] for arm in arms] for one in own])
                comm.all_reduce(times, "max")
                choice = comm.choice(collective, sum(blocks) // comm.world_size)
                rounds = [dict(zip(arms, row, strict=True)) for row in times.tolist()]
                found.append(((collective, layout, size), f"{choice.algorithm}/{choice.protocol}", rounds))
    return found


class Call:
    """One collective with one layout of blocks, on memory of its own that all arms share."""

    def __init__(self, comm: ringtree.Communicator, collective: str, blocks: list[int]) -> None:
        self.comm, self.collective, self.blocks = comm, collective, blocks
        self.whole, self.own = np.empty(sum(blocks), np.float32), np.empty(blocks[comm.rank], np.float32)
        bytes_of_all = sum(blocks) * ITEM
        self.calls = max(1, min(MOST_CALLS, (1 << 20) // bytes_of_all))

    def __call__(self, arm: str) -> None:
        if self.collective == "all_gather":
            self.comm.all_gather(self.own, self.whole, arm, counts=self.blocks)
        else:
            self.comm.reduce_scatter(self.whole, self.own, "sum", arm, counts=self.blocks)

    def check(self, arm: str) -> None:
        """Makes a call whose result is known: which element of which rank it is."""
        count, rank = sum(self.blocks), self.comm.rank
        first = sum(self.blocks[:rank])
        numbers = (np.arange(count) % 251).astype(np.float32)
        mine = slice(first, first + self.blocks[rank])
        if self.collective == "all_gather":
            self.own[:], self.whole[:] = numbers[mine], -1
            self(arm)
            right = np.array_equal(self.whole, numbers)
        else:
            self.whole[:], self.own[:] = numbers, -1
            self(arm)
            right = np.array_equal(self.own, numbers[mine] * self.comm.world_size)
        if not right:
            raise SystemExit(f"{self.collective} with {arm} and blocks of {self.blocks}: wrong result on rank {rank}")

    def seconds(self, arm: str) -> float:
        """Times a call on this rank. All ranks stop their clocks before any goes on: on a core that they share it would
        take the others' time."""
        self(arm)
        self.comm.barrier()
        begin = time.perf_counter()
        for _ in range(self.calls):
            self(arm)
        seconds = (time.perf_counter() - begin) / self.calls
        self.comm.barrier()
        return seconds


def report(launches: list[dict[str, Any]]) -> None:
    """Prints a line a cell, and a mean and the worst of each number of ranks and collective."""
    cells: dict[tuple[int, Cell], list[tuple[str, Rounds]]] = defaultdict(list)
    for launch in launches:
        for cell, choice, rounds in launch["cells"]:
            cells[launch["ranks"], tuple(cell)].append((choice, rounds))
    groups: dict[tuple[int, str], list[float]] = defaultdict(list)
    for (ranks, cell), measured in sorted(cells.items()):
        collective, layout, size = cell
        if len(measured) % 2:
            raise SystemExit(f"{len(measured)} launches of {ranks} ranks; needs an even number")
        best, lost = regret([rounds for _, rounds in measured])
        groups[ranks, collective].append(lost)
        what = f"{collective} of {ranks} ranks, {layout}, {format_size(size)}"
        print(f"{what:50} auto: {measured[0][0]:18} best: {best:18} regret {lost:7.1%}")
    for (ranks, collective), all_lost in groups.items():
        mean, over = math.expm1(statistics.fmean(map(math.log1p, all_lost))), sum(one > 0.1 for one in all_lost)
        told = f"mean regret {mean:.1%}, worst {max(all_lost):.1%}, {over} above 10 %"
        print(f"{collective} of {ranks} ranks, {len(all_lost)} cells: {told}")


def main() -> None:
    """Measures a launch where a launcher has started this as a rank, and else reports all of a file."""
    if len(sys.argv) != 2:
        raise SystemExit("usage: uneven_regret.py FILE, as a rank that torchrun has started or by itself")
    file = Path(sys.argv[1])
    if "RANK" not in os.environ:
        report([json.loads(line) for line in file.read_text().splitlines()])
        return
    with ringtree.init(profile="") as comm:
        if comm.world_size < 2:
            raise SystemExit("needs at least 2 ranks")
        number = len(file.read_text().splitlines()) if file.exists() else 0
        found = measure(comm, number)
        if comm.rank == 0:
            with file.open("a") as out:
                out.write(json.dumps({"ranks": comm.world_size, "cells": found}) + "\n")


if __name__ == "__main__":
    main()
