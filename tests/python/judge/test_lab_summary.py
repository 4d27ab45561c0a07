"""From a run to its figures: rows, placements, pairing, verdicts, findings.

For: that nothing is shown that the samples don't support. Not for: the statistics themselves (test_stats_*.py), words
(test_lab_words.py) or layout (test_lab_table.py).
"""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from comparison_support import jitter, near_then_far, noise, placed_run, stored_run
from lab_support import NEAR, make_cell, make_launch, make_plan, make_stored, make_visits

from ringtree.judge.comparison import Comparison
from ringtree.judge.summary import summarise
from ringtree.measure.limits import copied_size, time_limit
from ringtree.results import (
    ArmPlan,
    CopyRate,
    EmulatedCluster,
    MachineLimits,
    StoredRun,
    WrongElement,
)


def test_figures_are_those_of_the_samples() -> None:
    stored = make_stored(
        make_plan(sizes=(1 << 20,)), lambda launch, size, arm: (launch + 1) * (2.0 if arm == "a" else 1.0)
    )
    cell = summarise(stored).cell(1 << 20, "a")
    assert cell.time is not None
    assert cell.versus_reference is not None
    assert (cell.time.median, cell.time.low, cell.time.high) == (7.0, 2.0, 12.0)
    assert cell.algbw == (1 << 20) / 7.0
    assert cell.busbw == cell.algbw
    assert cell.versus_reference.ratio == pytest.approx(2.0)
    assert cell.versus_reference.verdict == "slower"
    assert cell.num_iterations == 18


def test_verdicts_of_known_effects() -> None:
    factor = {"a": 0.5, "c": 2.0, "d": 1.0, "e": 1.0, "b": 1.0}

    def seconds(launch: int, size: int, arm: str) -> float:
        scatter = 0.2 * (-1) ** launch if arm == "e" else 1e-4 * (-1) ** launch * (arm != "b")
        return factor[arm] * math.exp(scatter)

    comparison = summarise(make_stored(make_plan(arms=tuple(factor), sizes=(1024,), num_launches=8), seconds))
    found = {cell.arm: cell.versus_reference for cell in comparison.cells}
    assert found.pop("b") is None
    verdicts = {arm: versus.verdict for arm, versus in found.items() if versus is not None}
    assert verdicts == {"a": "faster", "c": "slower", "d": "equivalent", "e": "inconclusive"}
    assert all(versus is not None and versus.num_comparisons == 4 for versus in found.values())
    # Alone, the floor of p with 8 launches is 2^-7; among four it can't be less.
    assert found["a"] is not None
    assert found["a"].p_faster >= 2**-7


def test_swapping_arm_and_reference_turns_the_verdict() -> None:
    def seconds(launch: int, size: int, arm: str) -> float:
        return (1.3 if arm == "a" else 1.0) * noise(launch, arm)

    plan = make_plan(sizes=(1024,), num_launches=8)
    turned = plan.model_copy(update={"reference": "a"})
    slower = summarise(make_stored(plan, seconds)).cell(1024, "a").versus_reference
    faster = summarise(make_stored(turned, seconds)).cell(1024, "b").versus_reference
    assert slower is not None
    assert faster is not None
    assert (slower.verdict, faster.verdict) == ("slower", "faster")
    assert slower.ratio == pytest.approx(1 / faster.ratio)
    assert slower.low is not None
    assert faster.high is not None
    assert slower.low == pytest.approx(1 / faster.high)


def test_arms_with_launches_of_their_own_are_paired_by_block() -> None:
    # Blocks differ by a factor of up to 32; paired by block the ratio is 2 in each.
    plan = make_plan(sizes=(1024,)).model_copy(
        update={
            "arms": [ArmPlan(label="a", name="a", environment={"OMP_NUM_THREADS": "2"}), ArmPlan(label="b", name="b")]
        }
    )
    launches = []
    for block in range(6):
        for place, arm in enumerate("ab" if block % 2 else "ba"):
            seconds = 2.0**block * (2.0 if arm == "a" else 1.0)
            launches.append(make_launch(2 * block + place, [make_cell(arm, 1024, seconds)], block=block, arms=[arm]))
    comparison = summarise(stored_run(plan, launches))
    versus = comparison.cell(1024, "a").versus_reference
    assert versus is not None
    assert (versus.num_launches, versus.verdict) == (6, "slower")
    assert (versus.low, versus.high) == (pytest.approx(2.0), pytest.approx(2.0))
    assert comparison.num_launches == 6
    assert not any("are stored" in caveat for caveat in comparison.caveats)
    half = summarise(stored_run(plan, launches[:-1]))
    assert any(caveat.startswith("only 11 of 12 launches are stored") for caveat in half.caveats)
    assert half.cell(1024, "a").versus_reference is not None


def test_the_effect_is_the_median_over_rounds() -> None:
    # One of three rounds was disturbed; the ratio of launch medians is not what counts, nor is their mean.
    def seconds(launch: int, size: int, arm: str, round_: int) -> float:
        drifted = (1.0, 10.0, 100.0)[round_]
        return drifted * (1.0 if arm == "b" else (1.5, 1.5, 9.0)[round_])

    comparison = summarise(placed_run(make_plan(sizes=(1024,)), seconds, lambda *_: (NEAR, NEAR), num_rounds=3))
    assert comparison.placements == [""]
    versus = comparison.cell(1024, "a").versus_reference
    assert versus is not None
    assert versus.ratio == pytest.approx(1.5)


def test_missing_launches_count_less_and_are_said() -> None:
    plan = make_plan(sizes=(1024,), num_launches=8)
    whole = make_stored(plan, lambda launch, size, arm: jitter(launch))
    part = StoredRun(whole.path, whole.run, whole.launches[:3], ["dropped a torn last line of 7 bytes"])
    comparison = summarise(part)
    assert (comparison.num_launches, comparison.num_planned) == (3, 8)
    versus = comparison.cell(1024, "a").versus_reference
    assert versus is not None
    assert (versus.num_launches, versus.verdict) == (3, "inconclusive")
    assert comparison.caveats[0] == "dropped a torn last line of 7 bytes"
    (said,) = (caveat for caveat in comparison.caveats if "are stored" in caveat)
    assert said == f"only 3 of 8 launches are stored; to run the rest: ringtree compare --resume {whole.run.run_id}"
    empty = summarise(StoredRun(whole.path, whole.run, [], []))
    assert empty.rows == empty.cells == []
    assert empty.verdicts == ["no launch is stored: no verdict"]


def test_one_launch_has_no_interval_of_the_ratio() -> None:
    plan = make_plan(sizes=(1024,), num_launches=1)
    versus = summarise(make_stored(plan, lambda launch, size, arm: 1.0)).cell(1024, "a").versus_reference
    assert versus is not None
    assert (versus.low, versus.high, versus.verdict) == (None, None, "inconclusive")
    assert versus.label == "1 launch, no interval"


def test_a_wrong_result_disqualifies_and_says_so() -> None:
    wrong = WrongElement(rank=1, iteration=3, call=0, index=5, expected=3.0, found=4.0)
    launches = []
    for launch in range(6):
        bad = {"verified": False, "first_wrong": wrong} if launch == 2 else {}
        cells = [make_cell("a", 1024, 0.1, **bad), make_cell("b", 1024, 0.3)]
        launches.append(make_launch(launch, [*cells, make_cell("a", 4096, 0.1), make_cell("b", 4096, 0.3)]))
    comparison = summarise(stored_run(make_plan(), launches))
    cell = comparison.cell(1024, "a")
    assert cell.time is None
    assert cell.versus_reference is None
    assert not cell.verified
    assert cell.disqualified == "wrong result in launch 3: rank 1 has 4 instead of 3 at element 5"
    assert comparison.cell(4096, "a").verified
    assert comparison.cell(4096, "a").versus_reference is not None


def test_a_row_stays_if_everything_in_it_failed() -> None:
    error = {"times": [], "verified": False, "error": "UsageError: no {gloo} here"}
    launches = [make_launch(i, [make_cell(arm, 1024, 0.1, **error) for arm in "ab"]) for i in range(6)]
    comparison = summarise(stored_run(make_plan(sizes=(1024,)), launches))
    assert [row.size_bytes for row in comparison.rows] == [1024]
    assert [cell.disqualified for cell in comparison.cells] == ["UsageError: no {gloo} here"] * 2


def test_one_rank_and_one_arm() -> None:
    comparison = summarise(make_stored(make_plan(arms=("a",), num_ranks=1), lambda launch, *_: jitter(launch)))
    assert [row.judged for row in comparison.rows] == [True, True]
    assert all(cell.busbw == 0 and cell.versus_reference is None for cell in comparison.cells)
    assert comparison.crossovers == comparison.fastest == comparison.stragglers == []


def test_the_share_of_the_limit() -> None:
    plan = make_plan(sizes=(1 << 20,))
    limits = MachineLimits(
        num_copying=2, copy_rates=[CopyRate(size_bytes=copied_size(1 << 20), bytes_per_second=1 << 30)], handoff=1e-7
    )
    stored = make_stored(plan, lambda *_: 2e-3)
    with_limits = StoredRun(stored.path, stored.run.model_copy(update={"limits": limits}), stored.launches, [])
    cell = summarise(with_limits).cell(1 << 20, "a")
    limit = time_limit(limits, "all_reduce", 2, 1 << 20)
    assert limit is not None
    assert limit == pytest.approx(2**20 / 2**30, rel=1e-3), "two ranks on two copying cores"
    assert cell.limit == limit
    assert cell.share_of_limit == pytest.approx(limit / 2e-3)
    assert summarise(stored).cell(1 << 20, "a").share_of_limit is None


def test_times_below_the_limit_are_a_caveat() -> None:
    rate = CopyRate(size_bytes=copied_size(1 << 20), bytes_per_second=1 << 30)
    limits = MachineLimits(num_copying=2, copy_rates=[rate], handoff=1e-7)
    limit = time_limit(limits, "all_reduce", 2, 1 << 20)
    assert limit is not None
    assert limit is not None

    def caveats(*factors: float) -> list[str]:
        """Arm a takes `factors` of the limit by turns, arm b twice the limit."""
        stored = make_stored(
            make_plan(sizes=(1 << 20,)),
            lambda launch, _, arm: limit * (factors[launch % len(factors)] if arm == "a" else 2.0),
        )
        run = stored.run.model_copy(update={"limits": limits})
        return summarise(StoredRun(stored.path, run, stored.launches, [])).caveats

    assert caveats(1.01) == caveats(0.9, 1.2) == []  # nothing that the interval of the time allows is an accusation
    (said,) = caveats(0.8)
    assert said.startswith("faster than this machine's limit, as probed before the first launch: a at 1 MB (125%)")


def test_one_emulated_host_slows_nothing_and_has_no_placement() -> None:
    cluster = EmulatedCluster(hosts=1, ranks_per_host=2, alpha=1e-3, beta=2e7)
    plan = make_plan(arms=("ring", "tree"), num_ranks=2, emulation=cluster)
    stored = placed_run(plan, lambda launch, *_: jitter(launch), lambda *_: None)
    comparison = summarise(stored)
    assert comparison.placements == [""]
    assert comparison.caveats == ["emulated: 1 host of 2 ranks has no link between hosts: nothing is slowed"]
    assert all(cell.time is not None for cell in comparison.cells)


def test_probes_that_are_missing_leave_a_visit_out_only_if_placements_differ() -> None:
    launches = [
        make_launch(i, [make_cell(arm, 1024, 1.0, visits=make_visits(3, handoff=None)) for arm in "ab"])
        for i in range(6)
    ]
    comparison = summarise(stored_run(make_plan(sizes=(1024,)), launches))
    assert comparison.cell(1024, "a").num_iterations == 18


def test_json_round_trip() -> None:
    stored = placed_run(make_plan(arms=("ring", "tree", "gloo")), lambda launch, *_: jitter(launch), near_then_far)
    comparison = summarise(stored)
    assert Comparison.model_validate_json(comparison.model_dump_json()) == comparison
    assert comparison.format == "ringtree.comparison/2"
    record = json.loads(comparison.model_dump_json())
    assert record["rows"][0]["placement"] == "near"


@pytest.mark.parametrize("seed", range(3))
def test_the_same_arm_twice_claims_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    plan = make_plan(arms=("x", "x#2"), sizes=tuple(1 << bits for bits in range(10, 20)), num_launches=8)
    stored = placed_run(plan, lambda *_: float(np.exp(rng.normal(0, 0.3))), near_then_far)
    claimed = [cell for cell in summarise(stored).cells if cell.versus_reference is not None]
    assert len(claimed) == 20, f"seed {seed}"
    assert all(cell.versus_reference.verdict == "inconclusive" for cell in claimed if cell.versus_reference), (
        f"seed {seed}"
    )
