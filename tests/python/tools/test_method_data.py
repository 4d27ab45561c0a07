"""The data of the method's tests of itself (tools/method): closed forms, emulated launches, banks, extraction.

The closed forms are held against the sliced recurrence, extracted effects against the lab's own. What is concluded from
the data is tested in test_method.py.
"""

from __future__ import annotations

import json
import math
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from lab_support import make_cell, make_launch, make_plan, make_run, make_visits

import ringtree
from ringtree.judge.cells import RunCells
from ringtree.judge.comparison import MIXED
from ringtree.results import StoredRun

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools"))

from method import emulated as emulating
from method.bank import Bank, read_bank, write_bank
from method.cells import ANY, Columns, columns_of
from method.emulated import Emulated, pack, read_emulated, read_lines
from method.extract import extract
from method.packed import read_packed, sha256, write_packed
from method.shaped import DESIGNS, LARGEST_SIZE, Design, times
from method_synthetic import FAR, NEAR, synthetic_bank

SEED = 3


class TestShaped:
    @pytest.mark.parametrize("arm", ["one_shot", "two_shot", "ring"])
    @pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.name)
    def test_the_closed_form_is_the_sliced_recurrence(self, arm: str, design: Design) -> None:
        sizes = (*design.sizes, 16, 1024, LARGEST_SIZE)
        schedule = ringtree.schedule("all_reduce", arm, ranks=4)
        cluster = ringtree.Emulation(4, 1, design.alpha, design.beta)
        exact = [ringtree.model.time_on_cluster(schedule, size // 4, 4, cluster) for size in sizes]
        assert list(times(arm, sizes, design.alpha, design.beta)) == pytest.approx(exact, rel=1e-6)

    def test_beyond_one_slice_the_closed_form_ends(self) -> None:
        cluster = ringtree.Emulation(4, 1, DESIGNS[0].alpha, DESIGNS[0].beta)
        schedule = ringtree.schedule("all_reduce", "ring", ranks=4)
        exact = ringtree.model.time_on_cluster(schedule, 2 * LARGEST_SIZE // 4, 4, cluster)
        assert exact < 0.95 * times("ring", (2 * LARGEST_SIZE,), cluster.alpha, cluster.beta)[0]

    @pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.name)
    def test_arms_take_the_same_time_at_the_crossover(self, design: Design) -> None:
        first, second = (
            cost[0] * design.alpha + cost[1] * design.crossover / design.beta
            for cost in ({"one_shot": (1, 3), "two_shot": (2, 1.5), "ring": (6, 1.5)}[arm] for arm in design.arms)
        )
        assert first == pytest.approx(second)

    def test_each_launch_draws_its_own_links_once(self) -> None:
        design = DESIGNS[0]
        logs = np.log([design.links_of(launch) for launch in range(400)]) - np.log([design.alpha, design.beta])
        assert design.links_of(7) == design.links_of(7) != design.links_of(8)
        assert logs.std(axis=0) == pytest.approx([design.spread] * 2, rel=0.15)
        assert abs(logs.mean(axis=0)).max() < 4 * design.spread / 20

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"arms": ("ring", "tree")}, "two different arms"),
            ({"sizes": (6144, 65536)}, "stay within"),
            ({"sizes": (6144, 6150)}, "split into four"),
            ({"sizes": (18432, 32768)}, "crossover lies within"),
            ({"spread": 0.0}, "positive"),
        ],
    )
    def test_impossible_designs_are_refused(self, change: dict[str, object], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            replace(DESIGNS[0], **change)  # type: ignore[arg-type]


class TestEmulated:
    # The closed form of a launch is some 5 ms: quick, and enough to see that what is measured is what is described.
    SMALL = Design("small", ("one_shot", "ring"), 2e-4, 2.5e7, (6144, 32768), 1, 1, 2, 0.05, 5)

    def test_launches_are_measured_packed_and_read_again(self, tmp_path: Path) -> None:
        lines, packed = tmp_path / "small.jsonl", tmp_path / "small.npz"
        emulating.measure(self.SMALL, lines)
        pack(lines, packed)
        stored = read_emulated(packed)
        assert stored.design == self.SMALL
        assert [tuple(link) for link in stored.links] == [self.SMALL.links_of(launch) for launch in range(2)]
        for launch, (alpha, beta) in enumerate(stored.links):
            for arm, name in enumerate(self.SMALL.arms):
                # An emulated call is never faster than its links allow (but for the clock's grain).
                least = times(name, self.SMALL.sizes, alpha, beta)
                assert np.all(stored.seconds[launch, :, arm, 0] > 0.98 * least), f"seed {self.SMALL.seed}"

    def test_a_killed_measurement_goes_on_where_it_was(self, tmp_path: Path) -> None:
        lines = tmp_path / "small.jsonl"
        emulating.measure(self.SMALL, lines)
        whole = lines.read_text().splitlines(keepends=True)
        lines.write_text(whole[0] + whole[2] + whole[1][:40])  # the first launch is missing, a line is torn
        emulating.measure(self.SMALL, lines)
        _, launches = read_lines(lines)
        assert [entry.launch for entry in launches] == [1, 0]
        assert lines.read_text().splitlines(keepends=True)[:2] == [whole[0], whole[2]]

    def test_what_is_missing_or_of_another_design_is_refused(self, tmp_path: Path) -> None:
        lines = tmp_path / "small.jsonl"
        emulating.measure(self.SMALL, lines)
        other = replace(self.SMALL, seed=6)
        with pytest.raises(SystemExit, match="another design"):
            emulating.measure(other, lines)
        lines.write_text("".join(lines.read_text().splitlines(keepends=True)[:2]))
        with pytest.raises(ValueError, match="1 of 2 launches"):
            pack(lines, tmp_path / "small.npz")
        with pytest.raises(ValueError, match="not what the design says"):
            Emulated(self.SMALL, np.ones((2, 2, 2, 2)), np.ones((2, 2)), {})


class TestBank:
    def test_a_bank_is_read_as_it_was_written_and_to_the_same_bytes(self, tmp_path: Path) -> None:
        bank = synthetic_bank(3, 0.02, seed=SEED)
        write_bank(tmp_path / "a.npz", bank)
        write_bank(tmp_path / "b.npz", read_bank(tmp_path / "a.npz"))
        assert sha256(tmp_path / "a.npz") == sha256(tmp_path / "b.npz")
        again = read_bank(tmp_path / "a.npz")
        np.testing.assert_array_equal(again.medians, bank.medians)
        assert (again.arms, again.sizes, again.kind) == (bank.arms, bank.sizes, "synthetic")

    def test_the_order_of_arrays_does_not_change_the_bytes(self, tmp_path: Path) -> None:
        one, two = np.zeros(3), np.ones(2)
        write_packed(tmp_path / "a.npz", {"x": 1, "y": 2}, {"one": one, "two": two})
        write_packed(tmp_path / "b.npz", {"y": 2, "x": 1}, {"two": two, "one": one})
        assert sha256(tmp_path / "a.npz") == sha256(tmp_path / "b.npz")

    def test_other_files_are_refused(self, tmp_path: Path) -> None:
        write_packed(tmp_path / "other.npz", {"format": "something/1"}, {"x": np.zeros(1)})
        with pytest.raises(ValueError, match="something/1"):
            read_bank(tmp_path / "other.npz")
        with pytest.raises(ValueError, match="something/1"):
            read_emulated(tmp_path / "other.npz")
        np.savez(tmp_path / "bare.npz", x=np.zeros(1))
        with pytest.raises(ValueError, match="no header"):
            read_packed(tmp_path / "bare.npz", "any")

    @pytest.mark.parametrize(
        "change", [{"medians": -1.0}, {"kind": "guessed"}, {"arms": ("a", "a")}, {"sizes": (1, 2, 3)}, {"probes": 0.0}]
    )
    def test_broken_banks_are_refused(self, change: dict[str, object]) -> None:
        good = vars(synthetic_bank(2, 0.02, seed=SEED, num_sizes=2))
        ((name, value),) = change.items()
        bad = np.full_like(good[name], value) if isinstance(value, float) else value
        with pytest.raises(ValueError, match=r"."):
            Bank(**{**good, name: bad})


NUM_ROUNDS = 7


def stored_run(far_from_round: int = NUM_ROUNDS) -> StoredRun:
    """Six launches of two arms at two sizes. From one round on the cores are far, and in the first round of launch 0
    they move during the arm's visit."""
    plan = make_plan(num_launches=6, max_rounds=NUM_ROUNDS)
    launches = []
    for launch in range(plan.num_launches):
        cells = []
        for place, (size, arm) in enumerate((s.size_bytes, a.label) for s in plan.sizes for a in plan.arms):
            random = np.random.default_rng([SEED, launch, place])
            visits = [
                visit.model_copy(update={"handoff": (FAR, FAR) if visit.round >= far_from_round else (NEAR, NEAR)})
                for visit in make_visits(NUM_ROUNDS, num_iterations=2, first_position=place, stride=4)
            ]
            if launch == 0 and arm == "a":
                visits[0] = visits[0].model_copy(update={"handoff": (NEAR, FAR)})
            rows = np.exp(random.normal(scale=0.2, size=(2, 2 * NUM_ROUNDS)))
            cells.append(make_cell(arm, size, 1.0, times=rows.tolist(), visits=visits))
        launches.append(make_launch(launch, cells))
    return StoredRun(Path("runs/example"), make_run(plan), launches, [])


class TestExtract:
    @pytest.mark.parametrize(
        ("far_from_round", "counted"),
        [
            (1, {"far", ANY}),
            (3, {"near", "far", ANY}),
            (4, {"near", "far", ANY}),
            (5, {"near", ANY}),
            (NUM_ROUNDS, {""}),
        ],
    )
    def test_the_effects_are_those_of_the_lab(self, far_from_round: int, counted: set[str]) -> None:
        stored = stored_run(far_from_round)
        columns, lab = columns_of(extract("name", [stored])), RunCells(stored)
        assert set(columns.placements) - {ANY} == set(lab.placements)
        for place, (size, name) in enumerate(zip(columns.sizes, columns.placements, strict=True)):
            by_block = lab.effects(size, "a", "b", MIXED if name == ANY else name)
            expected = [by_block.get(block, math.nan) for block in range(6)]
            assert list(columns.effects[:, place]) == pytest.approx(expected, abs=1e-6, nan_ok=True)
        found = np.isfinite(columns.effects).any(axis=0)
        assert {name for name, any_ in zip(columns.placements, found, strict=True) if any_} == counted

    def test_a_run_shows_what_the_lab_would_judge(self) -> None:
        columns = columns_of(extract("name", [stored_run(3)]))
        rows = np.arange(6)
        shown = {(columns.sizes[i], columns.placements[i]) for i in columns.shown(rows, 6)}
        # Launch 0 has two near rounds left, too few to count: five launches are too few to judge.
        assert shown == {(1024, "far"), (4096, "far")}
        assert {columns.placements[i] for i in columns.shown(rows, 5)} == {"near", "far"}
        gone = Columns(columns.effects.copy(), columns.sizes, columns.placements)
        gone.effects[5, [name == "far" for name in columns.placements]] = np.nan
        assert {gone.placements[i] for i in gone.shown(rows, 6)} == {ANY}

    def test_blocks_that_failed_are_left_out_and_counted(self) -> None:
        stored = stored_run()
        broken = [cell.model_copy(update={"verified": False}) for cell in stored.launches[2].cells]
        launches = [*stored.launches]
        launches[2] = launches[2].model_copy(update={"cells": broken})
        bank = extract("name", [StoredRun(stored.path, stored.run, launches, [])])
        assert (bank.num_blocks, bank.origin["blocks_left_out"]) == (5, 1)

    def test_runs_with_different_questions_make_no_bank(self) -> None:
        other = make_plan(num_launches=6, num_ranks=4, max_rounds=NUM_ROUNDS)
        with pytest.raises(ValueError, match="2 different questions"):
            extract("name", [stored_run(), StoredRun(Path("runs/other"), make_run(other), [], [])])

    def test_no_name_of_the_machine_is_kept(self) -> None:
        assert '"host"' not in json.dumps(extract("name", [stored_run()]).origin)
