"""`ringtree replay`: one launch of two ranks with two arms of the engine, and an arm that would be wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_support import assert_refused, invoke
from joblog_support import call_line, end_line, group_line, rank_line, step_line, write_rank

from ringtree.joblog.replay import Samples, _judged


def job(folder: Path) -> Path:
    """A step of 4 ms on both ranks: 1 ms of computing, an all-reduce beside 1 ms of it, a gather that is waited for."""
    for rank in range(2):
        calls = [
            call_line(0, 0.001, 0.002, (0.001, 0.002)),
            call_line(1, 0.002, 0.003, (0.002, 0.002), collective="all_gather", in_bytes=2048),
        ]
        lines = [rank_line(rank, 2), group_line(), *calls, step_line(0, 0.0, 0.004, (0.0, 0.003)), end_line(2, 1, 1.0)]
        write_rank(folder, lines, rank)
    return folder


def test_a_replay(tmp_path: Path) -> None:
    assert_refused(invoke("replay", job(tmp_path), "--arms", "ring,naive"), "naive")  # it has no all_gather
    result = invoke("replay", tmp_path, "--arms", "ring,auto", "--launches", 1)
    assert result.exit_code == 0, result.stderr
    assert "step 0 of the trace, 2 calls on 2 ranks; 1 launch" in result.stdout
    assert "disqualified" not in result.stdout
    assert [line.split()[0] for line in result.stdout.splitlines() if " ms " in line][:2] == ["ring", "auto"]


def test_a_faster_arm_is_found_and_the_same_one_is_not() -> None:
    launches: list[Samples] = [
        {
            "a": [(1.0 + 0.001 * n, 0.2)],
            "faster": [(0.8 + 0.001 * n, 0.1)],
            "same": [(1.0 + 0.001 * (n % 3), 0.2)],
        }
        for n in range(8)
    ]
    found = _judged(["a", "faster", "same"], launches, {})
    verdicts = {arm.arm: arm.versus and arm.versus.verdict for arm in found.arms}
    assert verdicts == {"a": None, "faster": "faster", "same": "equivalent"}
    assert found.arms[1].step.median == pytest.approx(0.8035)
    assert found.arms[1].exposed.median == pytest.approx(0.1)
