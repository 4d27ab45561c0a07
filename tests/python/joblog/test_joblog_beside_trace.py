"""A replay's exposed time beside the trace's. Not for: replaying (cli/test_cli_replay.py)."""

from __future__ import annotations

from pathlib import Path

import pytest
from joblog_support import call_line, group_line, step_line, whole_rank

from ringtree.joblog.beside_trace import beside_trace, exposed_by_step
from ringtree.joblog.reading import read_trace
from ringtree.joblog.replay import ArmReplay
from ringtree.joblog.summary import Summary, summarise
from ringtree.stats import median_interval

EXPOSED = (1.0, 2.0, 3.0)  # seconds of the three steps


def job(folder: Path) -> Summary:
    """Three steps of 10 s; a call in each stands still for 1, 2 and 3 s."""
    calls = [{**call_line(n, 10.0 * n, 10.0 * n + idle, (0.0, 0.0)), "step": n} for n, idle in enumerate(EXPOSED)]
    whole_rank(folder, calls, [step_line(n, 10.0 * n, 10.0 * n + 10) for n in range(3)], groups=[group_line()])
    return summarise(read_trace(folder), 0)


def replayed(arm: str, *exposed: float) -> ArmReplay:
    return ArmReplay(arm, median_interval([10.0] * len(exposed)), median_interval(list(exposed)), None)


def test_intervals_that_meet_need_no_word(tmp_path: Path) -> None:
    summary = job(tmp_path)
    assert exposed_by_step(summary) == [pytest.approx(one) for one in EXPOSED]
    assert beside_trace(summary, [replayed("gloo", *[2.0 + n / 10 for n in range(8)])], 0.0, 2) is None
    assert beside_trace(summary, [replayed("gloo", *[2.9 + n / 10 for n in range(8)])], 0.0, 2) is None


@pytest.mark.parametrize(
    ("seconds", "reason"), [(0.5, "the job's ranks also wait for busy cores"), (5.0, "were kept waiting by other load")]
)
def test_intervals_that_do_not_meet(tmp_path: Path, seconds: float, reason: str) -> None:
    line = beside_trace(job(tmp_path), [replayed("ring", 2.0), replayed("gloo", *[seconds] * 8)], 3.14, 2)
    assert line is not None
    assert "1.00–3.00 s in the trace: the two don't meet" in line
    assert line.startswith("gloo exposes ")
    assert reason in line
    assert "load 3.1 on 2 cores" in line


def test_another_arm_is_expected_to_differ(tmp_path: Path) -> None:
    assert beside_trace(job(tmp_path), [replayed("ring", *[9.0] * 8)], 0.0, 2) is None
