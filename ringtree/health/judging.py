"""A curve against what others reached: shares by size, a verdict for each band of sizes.

For: how far below, and whether that is more than machines of a kind differ. Not for: which logs are comparable
(checking.py).

Logs of alike machines differ: little at large sizes, by half and more at small ones. How much is taken from the whole
catalogue: of each band the standard deviation between logs of one kind of machine and collective, all kinds pooled. A
site has one log of a kind there, as its logs differ less than those of two sites. A band is sick if its share lies
below what one more healthy log would have at 99.9 % (Student's prediction bound), and by more than TOLERANCE.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ringtree.health.curve import Curve
from ringtree.health.entries import Reached
from ringtree.health.records import Band, BandHealth, SizeHealth, Verdict

BANDS: dict[Band, tuple[int, int]] = {  # above the first, up to the second
    "small": (0, 64 << 10),
    "middle": (64 << 10, 128 << 20),
    "large": (128 << 20, 1 << 62),
}
LEVEL = 0.999  # an acceptance test looks at many bands, of many hosts and collectives
TOLERANCE = 0.10  # a difference up to here is never sick: drivers, clocks, versions; one NIC less of eight is more
FAR = 0.5  # of what is enough


class Spread(NamedTuple):
    """Relative standard deviation between logs of alike machines."""

    deviation: float
    dof: int


def spreads(entries: Iterable[Reached]) -> dict[Band, Spread]:
    """Returns the spread of each band; 0 degrees of freedom where no kind of machine has two logs."""
    alike: dict[object, list[Reached]] = {}
    for one in entries:
        alike.setdefault((one.links, one.collective), []).append(one)
    return {band: _spread(alike.values(), band) for band in BANDS}


def _spread(kinds: Iterable[Sequence[Reached]], band: Band) -> Spread:
    """Each log has one deviation from its kind, the median over its sizes."""
    squares, dof = 0.0, 0
    for kind in kinds:
        deviations: dict[int, list[float]] = {}
        for size in {size for one in kind for size in one.times_us if in_band(size, band)}:
            times = {index: math.log(one.times_us[size]) for index, one in enumerate(kind) if size in one.times_us}
            if len(times) > 1:
                mean = statistics.fmean(times.values())
                for index, time in times.items():
                    deviations.setdefault(index, []).append(time - mean)
        squares += sum(statistics.median(one) ** 2 for one in deviations.values())
        dof += max(len(deviations) - 1, 0)
    return Spread(math.sqrt(squares / dof) if dof else 0.0, dof)


def in_band(size: int, band: Band) -> bool:
    """Says whether a size belongs to a band."""
    least, most = BANDS[band]
    return least < size <= most


def sizes_of(curve: Curve, reached: Sequence[Reached], limit: float | None) -> list[SizeHealth]:
    """Returns each size with what others reached there. `limit`: busbw in bytes/s."""
    found = []
    for size, seconds in curve.seconds.items():
        times = [time for time in (one.curve.at(size) for one in reached) if time is not None]
        rates, busbw = sorted(curve.busbw(size, time) for time in times), curve.busbw(size, seconds)
        one = SizeHealth(size_bytes=size, seconds=seconds, busbw=busbw, share_of_limit=busbw / limit if limit else None)
        if rates:
            middle = statistics.median(rates)
            more = {
                "reached": (rates[0], middle, rates[-1]),
                "num_logs": len(rates),
                "share_of_reached": busbw / middle,
            }
            one = one.model_copy(update=more)
        found.append(one)
    return found


def bands_of(sizes: Sequence[SizeHealth], spread: dict[Band, Spread], at_least: float | None) -> list[BandHealth]:
    """Returns the bands of which sizes could be compared. `at_least`: the share that is asked for, else by spread."""
    found = []
    for band in BANDS:
        mine = [one for one in sizes if one.reached is not None and in_band(one.size_bytes, band)]
        if not mine:
            continue
        share, logs = statistics.median(one.share_of_reached or 0.0 for one in mine), max(one.num_logs for one in mine)
        enough = _enough(spread[band], logs) if at_least is None else at_least
        verdict = Verdict.UNKNOWN if enough is None else _verdict(share, enough)
        about = {"band": band, "num_sizes": len(mine), "num_logs": logs, "share": share, "enough": enough or 0.0}
        deviation, dof = spread[band]
        found.append(BandHealth.model_validate({**about, "spread": deviation, "dof": dof, "verdict": verdict}))
    return found


def _enough(spread: Spread, logs: int) -> float | None:
    if spread.dof == 0:
        return None
    from scipy.special import stdtrit  # late: it takes a second to load

    bound = math.exp(-float(stdtrit(spread.dof, LEVEL)) * spread.deviation * math.sqrt(1 + 1 / logs))
    return min(bound, 1 - TOLERANCE)


def _verdict(share: float, enough: float) -> Verdict:
    if share >= enough:
        return Verdict.AS_FAST
    return Verdict.BELOW if share >= FAR * enough else Verdict.FAR_BELOW
