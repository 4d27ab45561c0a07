"""Two tools on one question: where their figures agree, where not, and by what.

For: nccl-tests against a benchmark in PyTorch on the same machine. Not for: two runs of one tool (compare-runs).

A ratio that is the same at all sizes is a definition: of the rate, of the payload, of the unit. One that fades with the
size is time added to each call: launching from Python, synchronising. Neither is a difference of the network.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from itertools import combinations

from ringtree.health.curve import Curve, Measured
from ringtree.health.records import ToolsAgreement, ToolSize
from ringtree.logs import IN_PLACE
from ringtree.stats import bus_factor, fit_line
from ringtree.units import format_factor, format_size, format_time, format_time_range

ALIKE = 0.05  # times that differ by less agree


def tools_of(measured: Sequence[Measured]) -> list[ToolsAgreement]:
    """Returns each pair of tables of different tools with one collective, ranks and hosts, and sizes in common."""
    found = []
    for one, other in combinations(measured, 2):
        same = one.curve.collective == other.curve.collective and one.curve.num_ranks == other.curve.num_ranks
        if same and one.tool != other.tool and (one.hosts == other.hosts or None in (one.hosts, other.hosts)):
            agreement = _agreement(one, other)
            if agreement is not None:
                found.append(agreement)
    return found


def _agreement(one: Measured, other: Measured) -> ToolsAgreement | None:
    shared = {size: other.curve.seconds.get(size) for size in one.curve.seconds}
    if not any(shared.values()):  # sizes were rounded, or chosen otherwise
        shared = {size: other.curve.at(size) for size in one.curve.seconds}
    sizes = []
    for size, second in shared.items():
        if second is not None:
            seconds = one.curve.seconds[size]
            rates = one.curve.busbw(size, seconds), other.curve.busbw(size, second)
            sizes.append(ToolSize(size_bytes=size, first=rates[0], second=rates[1], ratio=second / seconds))
    if not sizes:
        return None
    agree = [one.size_bytes for one in sizes if abs(one.ratio - 1) <= ALIKE]
    verdict = f"they agree within {ALIKE:.0%} at {len(agree)} of {len(sizes)} sizes"
    if agree and len(agree) < len(sizes):
        verdict += f", {format_size(agree[0])} to {format_size(agree[-1])}"
    return ToolsAgreement(
        first=one.tool,
        second=other.tool,
        collective=one.curve.collective,
        num_ranks=one.curve.num_ranks,
        sizes=sizes,
        differences=[*_constant(sizes, one.curve), *_added(sizes, one.curve), *_stated(one, other)],
        verdict=verdict,
    )


def _constant(sizes: Sequence[ToolSize], curve: Curve) -> Iterator[str]:
    """A known factor that all sizes share."""
    ratios = [one.ratio for one in sizes]
    middle = statistics.median(ratios)
    if abs(middle - 1) <= ALIKE / 2 or max(ratios) / min(ratios) > 1 + 2 * ALIKE:
        return
    factor = bus_factor(curve.collective, curve.num_ranks)
    known = {
        factor: f"2(n-1)/n or its like, {factor:.4g}: one of them calls busbw what the other calls algbw",
        2.0: "2: one of them counts twice the size in its rate, as the first all_reduce_bench.py did",
        8.0: "8: bits against bytes",
        float(curve.num_ranks): "the number of ranks: all blocks against one rank's block as the size",
        1.024**3: "2³⁰/10⁹: GiB against GB",
        1.024**2: "2²⁰/10⁶: MiB against MB",
    }
    for value, words in known.items():
        if any(abs(middle / one - 1) < 0.015 for one in (value, 1 / value)):
            yield f"all sizes differ by the factor {words}"
            return
    yield f"all sizes differ by about the factor {format_factor(max(middle, 1 / middle))}: no definition makes this one"


def _added(sizes: Sequence[ToolSize], curve: Curve) -> Iterator[str]:
    """Time that one adds to each call: second = added + slope × first."""
    first = [curve.seconds[one.size_bytes] for one in sizes]
    line = fit_line(first, [one.ratio * seconds for one, seconds in zip(sizes, first, strict=True)])
    if line is None or line.intercept_interval[0] <= 0 <= line.intercept_interval[1]:
        return
    which = "second" if line.intercept > 0 else "first"
    low, high = sorted(map(abs, line.intercept_interval))
    added, between = format_time(abs(line.intercept)), format_time_range(low, high)
    yield f"the {which} tool adds about {added} ({between}) to each call"


def _stated(one: Measured, other: Measured) -> Iterator[str]:
    """What the logs say that differs."""
    places = one.curve.place, other.curve.place
    if IN_PLACE in places and places[0] != places[1]:
        yield "one of them works in place, the other one not"
    if one.curve.dtype and other.curve.dtype and one.curve.dtype != other.curve.dtype:
        yield f"types: {one.curve.dtype} and {other.curve.dtype}"
    versions = one.subject.table.library_version, other.subject.table.library_version
    if all(versions) and versions[0] != versions[1]:
        yield f"library versions: {versions[0]} and {versions[1]}"
    elif not all(versions):
        yield "not both logs name the library's version"
