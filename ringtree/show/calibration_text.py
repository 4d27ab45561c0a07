"""A calibration on a terminal: what was fitted, what the times don't tell, how well the fit does.

For: `ringtree simulate --calibrate`, `ringtree cluster from --probe`. Not for: fitting (ringtree.simulate.calibration).
"""

from __future__ import annotations

from collections.abc import Iterator

from ringtree.simulate.calibration import Calibration
from ringtree.simulate.calibration.describing import interval_text, median_error, value_text
from ringtree.units import count


def calibration_lines(found: Calibration) -> Iterator[str]:
    """Yields a line a constant, then errors of the fit, what it leaves, and where it extrapolates."""
    for one in found.fitted:
        yield f"fitted: {one.key} = {value_text(one)} ({interval_text(one)}); was {one.before}"
    for bound in found.bounded:
        yield f"bounded: {bound.key} is {bound.words} {value_text(bound)}; was {bound.before}: {bound.why}"
    idle = [one.key for one in found.held if one.why.startswith("no measured time")]
    for held in found.held:
        if held.key not in idle:
            yield f"not determined: {held.key} stays {held.value}: {held.why}"
    if idle:
        yield f"not determined: {', '.join(idle)}: no measured time depends on {'it' if len(idle) == 1 else 'them'}"
    cells = count(len(found.errors), "time")
    yield f"the fit is off by {median_error(found):.1%} (median), {max(map(abs, found.errors)):.1%} at most, of {cells}"
    for why in found.evidence.left_out:
        yield f"left out: {why}"
    yield f"measured were {found.evidence.covers()}: anything else is extrapolated"
