"""What is not tried again: a hang costs as much time as all other arms.

For: how long a call may take before it counts as a hang, and which cells earlier launches have given up. Not for: cells
that fail in this launch (visit_loop.py).
"""

from __future__ import annotations

from collections.abc import Iterable

from ringtree.measure.estimate import cell_seconds, start_of
from ringtree.measure.messages import RANK_TIMEOUT
from ringtree.results import Launch, Plan

GIVE_UP_AFTER = 2  # launches, if a cell could be measured in none of them
LONG_FAILURE = 10.0  # seconds; what fails after so long has hung, and larger sizes would take as long
_LEAST_PATIENCE = 60.0
_PATIENCE = 20  # times what a cell should take


def given_up(before: Iterable[Launch]) -> dict[tuple[int, str], str]:
    """Returns (size in bytes, label) of the cells that none of the launches which tried them could measure, and why."""
    failed: dict[tuple[int, str], list[str | None]] = {}
    for launch in before:
        for cell in launch.cells:
            failed.setdefault((cell.size_bytes, cell.arm), []).append(None if cell.times else cell.error)
    return {
        key: reasons[-1]
        for key, reasons in failed.items()
        if len(reasons) >= GIVE_UP_AFTER and all(reasons) and reasons[-1]
    }


def patience(plan: Plan) -> float:
    """Returns the seconds that an arm may take to meet or for one call. Emulated links may be as slow as one likes."""
    if plan.emulation is not None:
        return RANK_TIMEOUT
    slowest = max(cell_seconds(plan, size.size_bytes) for size in plan.sizes)
    return min(RANK_TIMEOUT, max(_LEAST_PATIENCE, _PATIENCE * slowest) + start_of(plan))
