"""The page of `make bench-torch`, from made-up trainings whose exposed communication is known.

For: that each bar can be reached and missed, and that the page comes from the raw launches alone. Not for: trainings
(test_train_sweep.py), real calls.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from bench.stored import keep
from bench.training.page import bars_of, write_page
from bench.training.parts import CALLS, GLOO, OURS, STEPS, plans
from needed import needs
from train_support import training_run

from ringtree.errors import UsageError
from ringtree.results import Plan, StoredRun
from ringtree.train.arms import ALONE

pytest.importorskip("torch")
needs("transformers")

CALL = {GLOO: 300e-6, OURS: 5e-6}


def parts(share: float, call: float = CALL[OURS], gloo: float = 0.1) -> dict[str, StoredRun]:
    """Steps of 100 ms, to which Gloo adds `gloo` and ringtree this share of 100 ms; its small calls take `call`."""
    step = {ALONE: 0.1, GLOO: 0.1 + gloo, OURS: 0.1 + share * 0.1}
    calls = {**CALL, OURS: call}

    def made(plan: Plan, seconds: Mapping[str, float]) -> StoredRun:
        return training_run(plan, lambda _block, _model, _ranks, arm, _rank: seconds[arm])

    return {name: made(plan(), step if name in STEPS else calls) for name, plan in plans(launches=6, seed=1).items()}


@pytest.mark.parametrize(
    ("share", "call", "reached"),
    [(0.2, 5e-6, [True, True, True]), (0.3, 5e-6, [False, True, True]), (0.5, 20e-6, [False, False, False])],
)
def test_each_bar_can_be_reached_and_missed(share: float, call: float, reached: list[bool]) -> None:
    bars = bars_of(parts(share, call))
    assert [bar.met for bar in bars] == reached
    assert bars[0].measured.startswith(f"{share:.2f} (")
    assert bars[0].measured.endswith("6 launches")


def test_a_part_that_was_not_measured_reaches_nothing() -> None:
    [ddp, *others] = bars_of({"ddp": parts(0.2)["ddp"]})
    assert ddp.met is True
    assert [bar.met for bar in others] == [None, None]


def test_where_gloo_exposes_nothing_there_is_no_share() -> None:
    bar = bars_of({"ddp": parts(0.2, gloo=-0.01)["ddp"]})[0]
    assert bar.met is None
    assert bar.measured == "noise exceeds Gloo's in 6 of 6 launches"


def test_the_page_is_made_from_the_raw_launches_alone(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no run"):
        write_page(tmp_path)
    for name, stored in parts(0.3).items():
        keep(stored, tmp_path, name, tmp_path)
    (tmp_path / "notes.md").write_text("A busy day.\n")
    page, missed = write_page(tmp_path)
    assert missed == 1
    text = page.read_text()
    wanted = ["## Bars", "| **missed** |", "## Notes\n\nA busy day.", "## ddp", "## fsdp2", "## Small calls"]
    wanted += [
        f"| | {GLOO} | {OURS} | {OURS}'s share of {GLOO}'s time | |",
        "| all_reduce of 8 B | 300 µs (300–300 µs) | 5.00 µs",
        "| faster |",
        "bench.training page docs/benchmarks/",
    ]
    places = [text.index(one) for one in wanted]
    assert places == sorted(places)
    assert all(f"\n| all_reduce of {size} |" in text for size in ("8 B", "1 KB", "64 KB"))
    assert len(CALLS) == 3
    assert str(tmp_path) not in text
