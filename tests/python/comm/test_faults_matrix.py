"""The fault matrix of `make faults`, few cells of it: who is told what, and when.

For: every row of the matrix at least once, against the bars of docs/reliability.md. Beside other work, a row
that is told the right things too late is skipped and says so. Rows that wait for seconds are tried all at once. Not
for: every collective (test_faults_death.py, test_faults_mismatch.py, test_faults_hosts.py).
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from faults import others as others_module
from faults.bars import AT_DEADLINE, DISAGREE, NO_ALARM, SUSPECTED
from faults.matrix import Row, rows
from faults.others import Others, judged
from faults.trial import Cell, Survivor, Trial, World
from forked import start_the_server

pytestmark = pytest.mark.alone


ROWS = {f"{row.fault}, over {row.worlds[0].over}": row for row in rows(quick=True)}
Tried = tuple[list[Trial], float]  # what came of a row, and others' share meanwhile


def tries(row: Row) -> list[Trial]:
    return [row.attempt(cell) for cell in row.cells()]


def waits(row: Row) -> bool:
    """For seconds, in which it does next to nothing."""
    return row.bar in (NO_ALARM, SUSPECTED, AT_DEADLINE)


@pytest.fixture(scope="module")
def waited(request: pytest.FixtureRequest) -> Callable[[str], Tried]:
    """Tries all rows that wait and whose tests are to run; all are over when it returns."""
    here = [getattr(item, "callspec", None) for item in request.session.items if item.path == request.path]
    chosen = {spec.params.get("name") for spec in here if spec}
    names = [name for name, row in ROWS.items() if name in chosen and waits(row)]
    start_the_server()
    with Others() as others, ThreadPoolExecutor(max(len(names), 1)) as pool:
        tried = {name: pool.submit(tries, ROWS[name]) for name in names}
        pool.shutdown()
    return lambda name: (tried[name].result(), others.share)


@pytest.mark.parametrize("name", ROWS)
def test_everybody_is_told_or_nobody_is_alarmed(name: str, request: pytest.FixtureRequest) -> None:
    row = ROWS[name]
    if waits(row):
        trials, share = request.getfixturevalue("waited")(name)
    else:
        with Others() as others:
            trials = tries(row)
        share = others.share
    assert trials
    wrong, late = judged(row.bar, trials, share)
    assert wrong == []
    if late:
        pytest.skip(f"right, but late beside others that took {share:.0%} of the machine: {'; '.join(late)}")


@pytest.mark.parametrize(
    ("seconds", "others_share", "is_wrong", "is_late"),
    [
        (0.01, 0.0, False, False),
        (0.01, 0.9, False, False),
        (0.5, 0.0, True, False),  # the bar is 0.1 s
        (0.5, 0.9, False, True),
        (9.0, 0.9, True, True),  # no work beside it excuses a hang
    ],
)
def test_what_is_late_is_excused_only_beside_others(
    seconds: float, others_share: float, is_wrong: bool, is_late: bool
) -> None:
    told = Survivor(1, "MismatchError", "rank 0 called broadcast", seconds, named=True)
    trial = Trial(Cell("calls differ", World(0, 2), "all_reduce"), [told])
    wrong, late = judged(DISAGREE, [trial], others_share)
    assert (bool(wrong), bool(late)) == (is_wrong, is_late)


def test_own_work_is_not_others(monkeypatch: pytest.MonkeyPatch) -> None:
    clocks = iter([(100.0, 50.0, 3.0), (110.0, 62.0, 11.0)])  # 10 s, in which cores worked 12 s, of that 8 s for us
    monkeypatch.setattr(others_module, "_seconds", lambda: next(clocks))
    with Others() as others:
        pass
    assert others.share == pytest.approx(4.0 / 10.0 / (os.cpu_count() or 1))


def test_a_process_of_others_is_seen() -> None:
    """What was started and is not waited for counts as others' work."""
    work = "import time; end = time.process_time() + {}\nwhile time.process_time() < end: pass"
    with subprocess.Popen([sys.executable, "-c", work.format(3600)]) as other, Others() as others:
        subprocess.run([sys.executable, "-c", work.format(1.0)], check=True)
        measured = others.so_far()
        other.kill()
    assert measured > 0.3 / (os.cpu_count() or 1)
