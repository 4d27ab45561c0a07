"""The player's clock (simulate.js) against the sliced recurrence of the core, on built-in and on random schedules.

The two agree wherever they model the same thing. On purpose they do not where
- ranks share a host's network card: in the player each rank has a port of its own;
- messages meet at a receiver: the player's ports receive one message after the other, too;
- a lane sends faster than its port: in the player it goes on and the message waits, in the recurrence the lane waits.
  Messages leave at the same times; what the lane does in between is earlier in the player;
- data is cut unevenly, or needs several passes: the player's slices of a step are equal, and it has no passes.
So with bytes that cost nothing every schedule is compared, on hosts of any size; with bytes that do, those of one lane
a rank, which receives from one peer. The engine's own clock meets the recurrence in
tests/core/engine/test_virtual_time.cpp.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser_support import Page, browser
from random_schedule import RandomSchedule

import ringtree
from ringtree import Emulation
from ringtree.schedules.model import time_on_cluster
from ringtree.show.player import page, scene

ALPHA, BANDWIDTH, NO_COST = 1e-3, 5e8, 1e300
SEEDS = range(60)
ITEM_BYTES = 4
# A step of the widest kind has four slices of these bytes in the recurrence, others one, two or four.
SLICE_BYTES = 16384
# The two add up the same numbers in another order.
TOLERANCE = 1e-9

# The recurrence ends when the last message is read and the last one has begun to leave.
TIMES = """cases => cases.map(([scene, clock]) => {
  const result = simulate(scene, clock);
  if (result.stuck.length > 0) return "stuck";
  return Math.max(0, ...result.messages.flatMap(message => [message.depart, message.taken]));
})"""


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    file: Path = tmp_path_factory.mktemp("player") / "play.html"
    one = scene(ringtree.schedule("all_reduce", "ring", 2))
    file.write_text(page([one], title="", alpha=ALPHA, bandwidth=1.0, size_bytes=1, slice_bytes=1), encoding="utf-8")
    with browser() as opened:
        yield Page(opened, file.as_uri())


def expect_one_time(
    shown: Page, schedules: dict[Any, ringtree.Schedule], per_host: int, bandwidth: float, slices: int
) -> None:
    """Player and recurrence agree on each. slices: of a step of the widest kind; `schedules`: by what to call them."""
    cases, core = [], []
    for schedule in schedules.values():
        chunk_bytes = SLICE_BYTES * slices // schedule.widest if slices > 1 else ITEM_BYTES
        whole = schedule.num_chunks * chunk_bytes
        blocks = sum(length for _, length in schedule.layout(1))  # of one element each
        ranks = schedule.num_ranks
        clock: dict[str, Any] = {"alpha": ALPHA, "bandwidth": bandwidth, "size": whole, "slice": SLICE_BYTES}
        clock["inside"] = {"alpha": 0, "bandwidth": NO_COST}
        cases.append([scene(schedule, [rank // per_host for rank in range(ranks)]), clock])
        cluster = Emulation(-(-ranks // per_host), per_host, ALPHA, bandwidth)
        core.append(time_on_cluster(schedule, whole // blocks // ITEM_BYTES, ITEM_BYTES, cluster))
    player = shown.run_on_text(TIMES, cases)
    assert dict(zip(schedules, player, strict=True)) == pytest.approx(
        dict(zip(schedules, core, strict=True)), rel=TOLERANCE
    )


def built_in(ranks: int, slices: int) -> dict[str, ringtree.Schedule]:
    """Every built-in schedule that both cut alike: four slices of a step can be shared by 1, 2 or 4 chunks."""
    schedules = {
        f"{collective} {row.name}": ringtree.schedule(collective, row.name, ranks)
        for row in ringtree.algorithms.table()
        for collective in row.collectives
    }
    return {name: one for name, one in schedules.items() if slices == 1 or one.widest in (1, 2, 4)}


def is_tree(schedule: ringtree.Schedule) -> bool:
    """One lane a rank, which receives from one peer at most."""
    for rank in range(schedule.num_ranks):
        steps = schedule.program(rank)
        if len({step.lane for step in steps}) > 1 or len({peer for step in steps for peer, _ in step.recv}) > 1:
            return False
    return True


@pytest.mark.parametrize("slices", [1, 4])
@pytest.mark.parametrize(("ranks", "per_host"), [(2, 1), (5, 1), (8, 1), (6, 2), (7, 3)])
def test_latency_of_built_in_schedules(shown: Page, ranks: int, per_host: int, slices: int) -> None:
    expect_one_time(shown, built_in(ranks, slices), per_host, NO_COST, slices)


@pytest.mark.parametrize("slices", [1, 4])
@pytest.mark.parametrize("ranks", [2, 5, 8])
def test_time_of_built_in_trees(shown: Page, ranks: int, slices: int) -> None:
    schedules = {name: one for name, one in built_in(ranks, slices).items() if is_tree(one)}
    assert {"all_reduce ring", "broadcast tree"} <= set(schedules)
    expect_one_time(shown, schedules, 1, BANDWIDTH, slices)


@pytest.mark.parametrize("slices", [1, 4])
@pytest.mark.parametrize("per_host", [1, 2, 3])
def test_latency_of_random_schedules(shown: Page, per_host: int, slices: int) -> None:
    schedules = {seed: RandomSchedule(seed).schedule() for seed in SEEDS}
    expect_one_time(shown, schedules, per_host, NO_COST, slices)


@pytest.mark.parametrize("slices", [1, 4])
def test_time_of_random_trees(shown: Page, slices: int) -> None:
    schedules = {seed: RandomSchedule(seed, tree=True).schedule() for seed in SEEDS}
    expect_one_time(shown, schedules, 1, BANDWIDTH, slices)
