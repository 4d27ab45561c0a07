"""The bars of the bench on made-up launches whose ratios are known: which parts and placements they look at, and that
each can be missed."""

from __future__ import annotations

import math

import pytest
from bench.bars import BANDS, FAR, NEAR, Judged, bars_of
from bench.parts import OTHERS
from bench_support import made_up, made_up_part, times_of
from comparison_support import noise
from generated import Bar

from ringtree.judge.comparison import MIXED
from ringtree.results import StoredRun

SIZES = (8, 1000, 4096, 8192, 2 << 20, 4 << 20, 16 << 20)
QUICK_PEERS = {"auto": 1.0, "openmpi5": 2.0, "openmpi5@X=1": 1.9, "mpich5": 3.0, "impi": 1.85, "auto/shared": 0.8}
FREE = "all_reduce, 2 ranks, against the better of Open MPI and MPICH"
BEST = "all_reduce, 2 ranks, against the best of all peers"
SHARED = "all_reduce, 2 ranks, shared buffers, against the best of all peers"
NOBODY = "native-2: peers significantly faster at a single size"


def bars(factors: dict[str, float], name: str = "native-2") -> dict[str, Bar]:
    judged = made_up(times_of(factors), tuple(factors), SIZES, name=name)
    return {bar.question: bar for bar in bars_of({name: judged})}


def without(stored: StoredRun, label: str, launches: set[int]) -> Judged:
    """The part without an arm's cells of some launches."""
    kept = [
        launch.model_copy(
            update={"cells": [cell for cell in launch.cells if launch.launch not in launches or cell.arm != label]}
        )
        for launch in stored.launches
    ]
    return Judged(StoredRun(stored.path, stored.run, kept, []))


def test_bars_are_reached_where_the_best_peer_is_slow_enough() -> None:
    found = bars(QUICK_PEERS)
    assert {question for question, bar in found.items() if bar.met is not True} == set()
    free = found[f"{FREE}, cores near, ≤ 4 KB"]
    assert (free.measured[:5], free.measured.partition("; ")[2]) == ("1.90×", "openmpi5@X=1")
    assert "over 2 of 2 sizes, 8 launches" in free.measured, "1,000 bytes are in no band"
    assert found[f"{BEST}, cores near, ≥ 4 MB"].measured.startswith("1.85×")
    assert found[f"{SHARED}, cores far, 8 KB–2 MB"].measured.startswith("2.3×")


@pytest.mark.parametrize(
    ("peer", "factor", "question"),
    [
        ("mpich5", 1.6, f"{FREE}, cores far, ≤ 4 KB"),
        ("impi", 1.3, f"{BEST}, cores near, 8 KB–2 MB"),
        ("impi", 1.3, f"{BEST}, cores far, ≥ 4 MB"),
        ("auto/shared", 1.0, f"{SHARED}, cores near, ≥ 4 MB"),
        ("impi", 0.9, NOBODY),
    ],
)
def test_each_bar_can_be_missed(peer: str, factor: float, question: str) -> None:
    assert bars(QUICK_PEERS)[question].met is True
    assert bars({**QUICK_PEERS, peer: factor})[question].met is False


def test_who_is_faster_is_named() -> None:
    told = bars({**QUICK_PEERS, "impi": 0.9})[NOBODY].measured
    assert "impi near at 8 B" in told
    assert "impi far at 4 KB" in told


def test_a_placement_that_was_never_met_has_no_data_and_parts_that_did_not_run_have_no_bars() -> None:
    judged = made_up(times_of(QUICK_PEERS), tuple(QUICK_PEERS), SIZES, lambda *_: (3e-8, 3e-8))
    found = {bar.question: bar for bar in bars_of({"native-2": judged})}
    assert (found[f"{BEST}, cores far"].met, found[f"{BEST}, cores far"].wanted) == (None, "1.4×")
    assert found[f"{BEST}, cores near, ≤ 4 KB"].met is True
    assert bars_of({}) == []


def test_far_cores_alone_are_far() -> None:
    judged = made_up(times_of(QUICK_PEERS), tuple(QUICK_PEERS), SIZES, lambda *_: (3e-7, 3e-7))
    assert list(judged.places().values()) == [FAR]


def test_times_are_held_against_their_limit_and_only_near() -> None:
    found = bars({"auto": 2.0, "mpich5": 3.0}, "native-4")
    assert found["all_reduce, 4 ranks on 2 cores near, 8 B"].met is True
    assert "all_reduce, 4 ranks on 2 cores far, 8 B" not in found
    assert bars({"auto": 3.0, "mpich5": 9.0}, "native-4")["all_reduce, 4 ranks on 2 cores near, 8 B"].met is False
    assert bars({"auto": 8.0, "mpich5": 9.0}, "native-16")["all_reduce, 16 ranks on 2 cores far, 8 B"].met is False


def test_gloo_is_held_against_the_engine_through_pytorch() -> None:
    found = bars({"auto": 1.0, "gloo": 20.0}, "torch-2")
    assert found["all_reduce, 2 ranks through PyTorch, against Gloo, cores near, ≤ 4 KB"].met is False
    assert found["all_reduce, 2 ranks through PyTorch, against Gloo, cores near, 8 KB–2 MB"].met is True


@pytest.mark.parametrize("collective", OTHERS)
def test_the_other_collectives_are_to_be_ahead_of_every_peer_near_and_far(collective: str) -> None:
    for factor, met in ((1.1, True), (0.9, False)):
        found = bars({"auto": 1.0, "openmpi5": 1.5, "impi": factor}, f"native-2-{collective}")
        question = f"{collective}, 2 ranks, against the best of all peers, cores"
        assert list(found) == [f"{question} {place}, {band}" for place in (NEAR, FAR) for band in BANDS]
        assert {(bar.met, bar.wanted) for bar in found.values()} == {(met, "1×")}


def test_the_better_of_several_peers_counts_at_each_size() -> None:
    def seconds(launch: int, size: int, label: str, round_: int) -> float:
        factor = {"auto": 1.0, "openmpi5": 2.0 if size <= 1024 else 4.0, "mpich5": 3.0}[label]
        return factor * 1e-6 * noise(launch, size, label, round_)

    judged = made_up(seconds, ("auto", "openmpi5", "mpich5"), (8, 1024, 64 << 10, 4 << 20))
    found = judged.over((1, 1 << 30), judged.peers, "auto", NEAR)
    assert found is not None
    assert found[0] == pytest.approx(math.sqrt(2.0 * 3.0), rel=0.01)
    assert found[1].startswith("2.4× (2.4")
    assert found[1].endswith("over 4 of 4 sizes, 8 launches; openmpi5, mpich5")


def test_a_peer_with_few_launches_is_not_chosen_for_its_luck() -> None:
    stored = made_up_part(times_of({"auto": 1.0, "mpich5": 2.0, "impi": 0.5}), ("auto", "mpich5", "impi"), (8,))
    few = without(stored, "impi", set(range(5)))
    assert few.best(few.peers, "auto", 8, NEAR) == "mpich5"
    assert Judged(stored).best(few.peers, "auto", 8, NEAR) == "impi"


def test_a_launch_that_lacks_the_size_with_the_large_ratio_does_not_look_slow() -> None:
    def seconds(launch: int, size: int, label: str, round_: int) -> float:
        return 1e-6 * (1.0 if label == "auto" else 2.0 if size == 8 else 8.0) * noise(launch, size, label, round_)

    stored = made_up_part(seconds, ("auto", "mpich5"), (8, 64))
    kept = [
        launch.model_copy(
            update={"cells": [cell for cell in launch.cells if launch.launch < 4 or cell.size_bytes == 8]}
        )
        for launch in stored.launches
    ]
    judged = Judged(StoredRun(stored.path, stored.run, kept, []))
    found = judged.over((1, 4096), judged.peers, "auto", NEAR)
    assert found is not None
    assert found[0] == pytest.approx(4.0, rel=0.01)
    assert found[1].startswith("4.0× (")


def test_near_is_held_against_near_where_no_placement_alone_can_be_judged() -> None:
    def handoff(launch: int, arm: str, round_: int) -> tuple[float, float]:
        return (3e-8, 3e-8) if launch % 2 else (1.5e-7, 1.5e-7)

    def seconds(launch: int, size: int, label: str, round_: int) -> float:
        return (1.0 if label == "auto" else 2.0) * (1e-6 if launch % 2 else 5e-6) * noise(launch, size, label, round_)

    judged = made_up(seconds, ("auto", "openmpi4"), (8, 64 << 10, 16 << 20), handoff, "native-2x1")
    assert judged.places() == {MIXED: MIXED}
    found = bars_of({"native-2x1": judged})
    assert [bar.met for bar in found] == [True] * 3
    assert found[0].measured.startswith("2.0×")


@pytest.mark.parametrize(("factor", "met"), [(1.4, True), (0.9, False)])
def test_between_hosts_the_better_open_mpi_is_to_be_slower_at_three_sizes(factor: float, met: bool) -> None:
    factors = {"auto": 1.0, "openmpi4": 3.0, "openmpi5": factor}
    found = bars_of(
        {"native-4x1": made_up(times_of(factors), tuple(factors), (8, 1024, 64 << 10, 16 << 20), name="native-4x1")}
    )
    of_near = [bar for bar in found if "cores near" in bar.question]
    assert [bar.question.rpartition(", ")[2] for bar in of_near] == ["8 B", "64 KB", "16 MB"]
    assert {bar.met for bar in found} == {met}
    assert of_near[0].question.startswith("4 hosts of 1 rank native C, against Open MPI")


@pytest.mark.parametrize(("share", "met"), [(0.95, True), (0.85, False)])
def test_a_ring_is_to_fill_the_link(share: float, met: bool) -> None:
    def seconds(launch: int, size: int, label: str, round_: int) -> float:
        return 1.5 * size * 8 / (1e9 * share) * noise(launch, label)  # a ring of four ranks sends 1.5 times the size

    judged = made_up(seconds, ("ring", "gloo"), (16 << 20,), lambda *_: (3e-8, 3e-8), "rate-4x1")
    (bar,) = bars_of({"rate-4x1": judged})
    assert (bar.met, bar.wanted) == (met, "≥ 90%")
    assert float(bar.measured.partition("%")[0]) == pytest.approx(100 * share, rel=0.006), "noise is of 0.5 %"
