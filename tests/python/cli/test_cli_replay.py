"""`ringtree replay`: one launch of two ranks with two arms of the engine, and an arm that would be wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_support import assert_refused, invoke
from forked_ranks import forked_ranks
from joblog_support import call_line, end_line, group_line, rank_line, step_line, write_rank

from ringtree.errors import UsageError
from ringtree.joblog.replay import Samples, _judged
from ringtree.joblog.replayed_dtypes import with_dtypes_of
from ringtree.joblog.script import Script, ScriptedCall

__all__ = ["forked_ranks"]


def job(folder: Path, dtype: str = "float32") -> Path:
    """A step of 4 ms on both ranks: 1 ms of computing, an all-reduce beside 1 ms of it, a gather that is waited for."""
    for rank in range(2):
        calls = [
            call_line(0, 0.001, 0.002, (0.001, 0.002), dtype=dtype),
            call_line(1, 0.002, 0.003, (0.002, 0.002), collective="all_gather", in_bytes=2048, dtype=dtype),
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


@pytest.mark.torch
@pytest.mark.parametrize(("dtype", "stand_in"), [("bfloat16", None), ("bool", "uint8"), ("complex64", "float64")])
def test_a_replay_of_other_element_types(tmp_path: Path, dtype: str, stand_in: str | None) -> None:
    result = invoke("replay", job(tmp_path, dtype), "--arms", "gloo,ring,auto", "--launches", 1, "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert [arm["arm"] for arm in found["arms"]] == ["gloo", "ring", "auto"]
    assert found["disqualified"] == {}
    stood_in = [note for note in found["notes"] if "is replayed as" in note]  # the others depend on the load
    assert len(stood_in) == (0 if stand_in is None else 1)
    if stand_in is not None:
        assert stood_in[0].startswith(f"{dtype} is replayed as {stand_in}, the same bytes: its results")


def test_element_types_by_what_the_arms_have() -> None:
    calls = [ScriptedCall("all_reduce", 64, dtype) for dtype in ("bfloat16", "float8_e4m3fn", "uint64", "float32")]
    script = Script(0, calls, [[]], 0)
    engine, notes = with_dtypes_of(script, ["ring"])
    assert [[call.dtype for call in engine.calls], notes] == [[call.dtype for call in calls], []]
    both, notes = with_dtypes_of(script, ["ring", "gloo"])
    assert [call.dtype for call in both.calls] == ["bfloat16", "uint8", "int64", "float32"]
    assert notes == [
        "float8_e4m3fn is replayed as uint8, the same bytes: arm gloo lacks it",
        "uint64 is replayed as int64, the same bytes: arm gloo lacks it",
    ]
    with pytest.raises(UsageError, match="replay can't run float4: its results can't be checked in float4"):
        with_dtypes_of(Script(0, [ScriptedCall("all_reduce", 64, "float4")], [[]], 0), ["ring"])


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
