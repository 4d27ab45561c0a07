"""The bars of the bench: which parts and placements they look at, and that each can be missed."""

from __future__ import annotations

import pytest
from bench.bars import BEST_BARS, Bar, bars_of
from bench.effects import BANDS, FAR, NEAR
from bench.parts import ALL_REDUCE, COLLECTIVES, NATIVE, Part
from bench_support import made_up_world, times_of

SIZES = (8, 4096, 8192, 2 << 20, 4 << 20, 16 << 20)
QUICK_PEERS = {"engine": 1.0, "openmpi5": 2.0, "openmpi5-nocma": 1.9, "mpich5": 3.0, "impi": 1.85, "engine/shared": 0.8}


def bars(factors: dict[str, float], name: str = "native-2") -> dict[str, Bar]:
    world = made_up_world(times_of(factors), tuple(factors), SIZES, name=name)
    return {bar.question: bar for bar in bars_of({name: world})}


def test_bars_are_reached_where_the_best_peer_is_slow_enough() -> None:
    found = bars(QUICK_PEERS)
    for question, bar in found.items():
        if question.startswith("all_reduce, 2 ranks") and "PyTorch" not in question:
            assert bar.met, question
    free = found["all_reduce, 2 ranks, against the better of Open MPI and MPICH, near, ≤ 4 KB"]
    assert free.measured.startswith("1.90×")
    assert free.measured.endswith("openmpi5-nocma")
    assert found["all_reduce, 2 ranks near, against the best of all peers, ≥ 4 MB"].measured.startswith("1.85×")
    shared = found["all_reduce, 2 ranks, shared buffers, against the best of all peers, far, 8 KB–2 MB"]
    assert shared.measured.startswith("2.3×")


@pytest.mark.parametrize(
    ("peer", "factor", "question"),
    [
        ("mpich5", 1.6, "all_reduce, 2 ranks, against the better of Open MPI and MPICH, far, ≤ 4 KB"),
        ("impi", 1.3, "all_reduce, 2 ranks near, against the best of all peers, 8 KB–2 MB"),
        ("impi", 1.3, "all_reduce, 2 ranks far, against the best of all peers, ≥ 4 MB"),
        ("engine/shared", 1.0, "all_reduce, 2 ranks, shared buffers, against the best of all peers, near, ≥ 4 MB"),
        ("impi", 0.9, "all_reduce, native-2: peers significantly faster at a single size"),
    ],
)
def test_each_bar_can_be_missed(peer: str, factor: float, question: str) -> None:
    assert bars(QUICK_PEERS)[question].met is True
    assert bars({**QUICK_PEERS, peer: factor})[question].met is False


def test_who_is_faster_is_named() -> None:
    found = bars({**QUICK_PEERS, "impi": 0.9})["all_reduce, native-2: peers significantly faster at a single size"]
    assert "impi near at 8 B, 4 KB" in found.measured
    assert "0.90×" in found.measured


def test_near_and_far_have_bars_of_their_own() -> None:
    found = bars(QUICK_PEERS)
    for column, wanted in BEST_BARS.items():
        assert found[f"all_reduce, 2 ranks {column}, against the best of all peers, ≤ 4 KB"].wanted == f"{wanted[0]:g}×"


def test_parts_and_placements_that_are_not_there_have_no_data() -> None:
    assert {bar.met for bar in bars_of({})} == {None}
    world = made_up_world(times_of(QUICK_PEERS), tuple(QUICK_PEERS), SIZES, lambda *_: (3e-8, 3e-8))
    found = {bar.question: bar for bar in bars_of({"native-2": world})}
    assert found["all_reduce, 2 ranks far, against the best of all peers"].met is None
    assert found["all_reduce, 2 ranks near, against the best of all peers, ≤ 4 KB"].met is True


def test_collectives_that_were_not_asked_for_have_no_bars() -> None:
    found = bars_of({}, ["native-2-broadcast", "native-2-all_gather"])
    assert {bar.question.partition(",")[0] for bar in found} == {"all_gather", "broadcast"}
    assert {bar.met for bar in found} == {None}
    assert {bar.question.partition(",")[0] for bar in bars_of({}, ["torch-4"])} == {"all_reduce"}


def test_times_are_held_against_their_limit_and_only_near() -> None:
    found = bars({"engine": 2.0, "mpich5": 3.0}, "native-4")
    assert found["all_reduce, 4 ranks on 2 cores near, 8 B"].met is True
    assert "all_reduce, 4 ranks on 2 cores far, 8 B" not in found
    assert bars({"engine": 3.0, "mpich5": 9.0}, "native-4")["all_reduce, 4 ranks on 2 cores near, 8 B"].met is False
    assert bars({"engine": 8.0, "mpich5": 9.0}, "native-16")["all_reduce, 16 ranks on 2 cores far, 8 B"].met is False


def test_gloo_is_held_against_the_engine_through_pytorch() -> None:
    world = made_up_world(times_of({"auto": 1.0, "gloo": 20.0}), ("auto", "gloo"), SIZES, name="torch-2")
    found = {bar.question: bar for bar in bars_of({"torch-2": world})}
    assert found["all_reduce, 2 ranks through PyTorch, against Gloo, near, ≤ 4 KB"].met is False
    assert found["all_reduce, 2 ranks through PyTorch, against Gloo, near, 8 KB–2 MB"].met is True


@pytest.mark.parametrize("collective", [name for name in COLLECTIVES if name != ALL_REDUCE])
def test_the_other_collectives_are_to_be_ahead_of_every_peer_near_and_far(collective: str) -> None:
    name = Part(NATIVE, 2, 0.0, 0, collective=collective).name
    for factor, met in ((1.1, True), (0.9, False)):
        found = bars({"engine": 1.0, "openmpi5": 1.5, "impi": factor}, name)
        ahead = {question: bar for question, bar in found.items() if question.startswith(f"{collective}, ")}
        assert list(ahead) == [
            f"{collective}, 2 ranks {column}, against the best of all peers, {band.name}"
            for column in (NEAR, FAR)
            for band in BANDS
        ]
        assert {bar.met for bar in ahead.values()} == {met}
        assert {bar.wanted for bar in ahead.values()} == {"1×"}
        assert {bar.met for question, bar in found.items() if question not in ahead} == {None}
