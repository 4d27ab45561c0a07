"""The `nccl-tests` arm over programs that print what nccl-tests prints: second opinions, what ran, failures.

For: measure/tests_set.py and arms/nccl_tests.py. Not for: the reader of their logs (logs/test_logs_nccltests_*.py).
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from nccl_standin import ROOT, Play, standin
from test_nccl_arms import BY_LOG, run

from ringtree.errors import UsageError
from ringtree.measure.request import Request, make_plan

__all__ = ["standin"]
PROGRAM = ROOT / "tests" / "nccl_standin" / "all_reduce_perf.py"


@pytest.fixture
def programs(standin: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "all_reduce_perf"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} {PROGRAM} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("RINGTREE_NCCL_TESTS", str(tmp_path))


@pytest.mark.usefixtures("programs")
def test_a_run_gives_samples_and_what_ran() -> None:
    cells = run("nccl-tests,nccl-tests@NCCL_ALGO=Tree")
    for arm, cell in cells.items():
        assert cell.error is None
        assert cell.verified
        assert cell.batch == 20
        assert cell.times[0] == cell.times[1]
        assert cell.times[0][0] == pytest.approx(20 * 100e-6)
        told = cell.executed or {}
        assert (told["version"], told["protocol"], told["num_channels"]) == ("2.27.3", "LL", 4)
        assert (told["algorithm"], told["proof"]) == ("Tree" if "Tree" in arm else "Ring", BY_LOG)


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("start", "all_reduce_perf ended with exit code 3: host: Test NCCL failure common.cu:1 'invalid usage / '"),
        ("wrong", "wrong result: 3 elements"),
        ("other", "NCCL ran Ring/LL although NCCL_ALGO allows only Tree: not timed"),
    ],
)
def test_what_fails_is_named_and_the_others_are_judged(how: str, said: str) -> None:
    failing = f"nccl-tests@NCCL_ALGO=Tree@FAKE_FAILS={how}"
    cells = run(f"nccl-tests,{failing}")
    assert cells["nccl-tests"].verified
    assert cells[failing].error == said
    assert cells[failing].times == []


@pytest.mark.usefixtures("programs")
def test_called_from_c_it_is_in_no_verdict_with_calls_from_python() -> None:
    with pytest.raises(UsageError, match="share no way to be called"):
        make_plan(Request(ranks=2, arms="nccl,nccl-tests"))


def test_without_programs_one_line_says_so(standin: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RINGTREE_NCCL_TESTS", str(tmp_path))
    with pytest.raises(UsageError, match="nccl-tests: nccl-tests' programs not found"):
        make_plan(Request(ranks=2, arms="nccl-tests"))
