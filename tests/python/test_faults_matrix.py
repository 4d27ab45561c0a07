"""The fault matrix of `make faults`, few cells of it: who is told what, also on a machine that does other things.

For: every row of the matrix at least once. Not for: the bars themselves, which hold on a quiet machine (`make faults`,
docs/reliability.md), or every collective (test_faults_death.py, test_faults_mismatch.py, test_faults_hosts.py).
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from faults.bars import Bar, misses
from faults.matrix import Row, rows

PATIENCE_S = 5.0  # in place of bars of a tenth of a second to one second


def patient(bar: Bar) -> Bar:
    """The same errors and names, at any time that is not a hang."""
    within_s = None if bar.within_s is None else max(PATIENCE_S, bar.within_s)
    return replace(bar, within_s=within_s, median_s=None, warns_s=None if bar.warns_s is None else bar.warns_s + 2.0)


def name_of(row: Row) -> str:
    return f"{row.fault}, over {row.worlds[0].over}"


@pytest.mark.parametrize("row", rows(quick=True), ids=name_of)
def test_everybody_is_told_or_nobody_is_alarmed(row: Row) -> None:
    trials = [row.attempt(cell) for cell in row.cells()]
    assert trials
    assert misses(patient(row.bar), trials) == []
