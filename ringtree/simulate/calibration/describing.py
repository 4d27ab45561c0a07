"""A calibrated cluster as a description that says where its constants are from, and what it extrapolates.

For: the TOML file of a calibration. Not for: fitting (fitting.py), printing what was found (ringtree.show).
"""

from __future__ import annotations

import statistics

from ringtree.simulate.calibration.constants import changed, constant_like
from ringtree.simulate.calibration.fitting import LEVEL, Bounded, Calibration, Fitted
from ringtree.simulate.cluster import Cluster, Constant

_DIGITS = 4
_MOST_SOURCES = 4


def described(calibration: Calibration) -> Cluster:
    """Returns the cluster with each fitted constant's source: runs, number of cells, interval; its date the newest
    run's. Its assumptions name what was not told and what lies beyond the times."""
    evidence = calibration.evidence
    base = calibration.cluster
    constants = {one.key: _constant(calibration, one, interval_text(one)) for one in calibration.fitted}
    constants |= {one.key: _constant(calibration, one, f"{one.words} that") for one in calibration.bounded}
    about = [
        f"calibrated on {evidence.covers()}; other sizes, numbers of ranks, algorithms and protocols are extrapolated",
        *evidence.made_by,
        *(f"{one.key}: {one.words} the value given here: {one.why}" for one in calibration.bounded),
        *(f"{one.key}: {one.why}" for one in calibration.held if not one.why.startswith("no measured time")),
    ]
    cluster = changed(base, constants)
    return cluster.model_copy(update={"assumptions": [*base.assumptions, *about]})


def interval_text(one: Fitted) -> str:
    """Says the interval in the constant's unit; that there is none where cells are as few as constants."""
    if one.interval is None:
        return "no interval: no more times than constants"
    low, high = (constant_like(one.before, end, digits=_DIGITS) for end in one.interval)
    return f"{low.value:g} to {high}, {LEVEL:.0%}"


def value_text(one: Fitted | Bounded) -> str:
    """Says the value in the unit that the description has it in."""
    return str(constant_like(one.before, one.value, digits=_DIGITS))


def _constant(calibration: Calibration, one: Fitted | Bounded, how: str) -> Constant:
    evidence = calibration.evidence
    names = evidence.sources[:_MOST_SOURCES]
    more = len(evidence.sources) - len(names)
    source = f"fitted to {', '.join(names)}{f' and {more} more' if more else ''}, {how}"
    return constant_like(one.before, one.value, source, evidence.date, digits=_DIGITS)


def median_error(calibration: Calibration) -> float:
    """Returns the median of |simulated / measured − 1| over the cells that the fit saw."""
    return statistics.median(map(abs, calibration.errors))
