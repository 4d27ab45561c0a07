"""The text of a bench: the layout of nccl-tests 2.19, so that what reads its logs reads these.

For: lines from figures. Not for: printing them (ringtree.cli), or JSON. What differs from nccl-tests stands in lines
that begin with #, and in docs/bench.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from ringtree.arms import common_boundary
from ringtree.bench.figures import BenchSide, MeasuredRow, Summary
from ringtree.bench.machine import device_of
from ringtree.bench.options import Options, is_through_torch
from ringtree.measure.collective_data import shape_of
from ringtree.nccl.nccl_tests import COLLECTIVES
from ringtree.units import format_size
from ringtree.version import __version__

LAYOUT = "2.19"
_LEAD = (12, 12, 8, 6, 6)
_FIGURES = (7, 6, 6, 6)
_PER_ITERATION = (7, 7, 7, 7)
_TIMESTAMP = "%Y-%m-%d %H:%M:%S"
_BLOCKING = {
    1: "all ranks meet after each call (-m), in the time",
    2: "each call waits for its result, without a barrier",
    3: "all ranks meet after each iteration (-n), outside of the time",
}


def program_name(options: Options) -> str:
    """Returns the name of nccl-tests' program, in which alone its logs tell the collective."""
    return f"{options.asked.collective}_perf"


def opening_lines(options: Options, pids: Sequence[int], copied: bool) -> list[str]:
    """Returns everything before the table. `pids`: by rank. `copied`: out of place is a copy and a call in place."""
    by_factor = options.asked.stepfactor > 1
    step = f"{options.asked.stepfactor}(factor)" if by_factor else f"{options.step_bytes}(bytes)"
    lines = [
        f"# ringtree version {__version__} nccl-tests-layout={LAYOUT}",
        f"# Collective test starting: {program_name(options)}",
        f"# nThread {options.num_threads} nGpus {options.num_gpus} minBytes {options.min_bytes} "
        f"maxBytes {options.max_bytes} step: {step} warmup iters: {options.asked.warmup_iters} "
        f"iters: {options.asked.iters} agg iters: {options.asked.agg_iters} validation: {options.asked.check} "
        f"graph: 0 unalign: {options.asked.unalign}",
        f"# Arm: {options.arm}, called from {_caller(options.arm)} on {'GPU' if options.on_gpu else 'CPU'} memory"
        f"{', shared' if options.shared_buffers else ''}{', through PyTorch' if is_through_torch(options) else ''}",
    ]
    if copied:
        lines.append("# Out of place: a copy and a call in place; this arm has no other")
    if not shape_of(COLLECTIVES[options.asked.collective]).can_be_in_place:
        lines.append("# In place: a copy and a call out of place; there is no other")
    if options.asked.blocking:
        lines.append(f"# Blocking Enabled: {_BLOCKING[options.asked.blocking]}")
    if options.asked.per_iter_timing:
        skipped = (
            f"; summary skips first {options.asked.per_iter_skip} iterations" if options.asked.per_iter_skip else ""
        )
        lines.append(f"# Per-Iteration Report: host clock; i_* uses max over process rows{skipped}")
    lines += ["#", "# Using devices"]
    for rank, pid in enumerate(pids):
        device = device_of(rank, options.on_gpu)
        where = f"{options.host_of(rank):>10s} device {device.number:2d} [{device.kind}] {device.name}"
        lines.append(f"#  Rank {rank:2d} Group  0 Pid {pid:6d} on {where}")
    return [*lines, "#", *_heading(options)]


def _caller(arm: str) -> str:
    return "C" if common_boundary([arm]) in ("native", "cuda_native") else "Python"


def row_line(options: Options, measured: MeasuredRow, now: datetime) -> str:
    """Returns one line of the table; `now`: the timestamp, if one was asked for."""
    row = measured.row
    lead = (row.size_bytes, row.elements.count, row.combination.dtype, row.combination.op, row.combination.root)
    line = _columns(_LEAD, lead) + "".join("  " + _side(side) for side in measured.sides)
    return line + (f"{now.strftime(_TIMESTAMP):>21s}" if options.asked.report_timestamps else "")


def closing_lines(options: Options, rows: Sequence[MeasuredRow], summary: Summary) -> list[str]:
    """Returns everything after the table."""
    judged = "" if summary.required is None else "OK" if summary.is_fast_enough else "FAILED"
    executed = describe_executed(rows)
    return [
        _total("Out of bounds values", f"{summary.num_failed} {'FAILED' if summary.num_failed else 'OK'}"),
        _total("Avg bus bandwidth", f"{summary.busbw / 1e9:g} {judged}"),
        *([_total("Executed", executed)] if executed else []),
        "#",
        f"# Collective test concluded: {program_name(options)}",
        "#",
        "",
    ]


def describe_executed(rows: Iterable[MeasuredRow]) -> str:
    """Returns which algorithm and protocol ran at which sizes; empty if the arm does not tell."""
    sizes: dict[str, list[int]] = {}
    for measured in rows:
        for side in measured.sides:
            if side.executed:
                sizes.setdefault(side.executed, []).append(measured.row.size_bytes)
    return ", ".join(f"{name} ({_range(of)})" for name, of in sizes.items())


def format_number(value: float, width: int) -> str:
    """Returns a number with as many decimals as its column has room for, two at most; else with an exponent."""
    for decimals in (2, 1, 0):
        text = f"{value:.{decimals}f}"
        if len(text) <= width:
            return text
    return f"{value:.{1 if width >= 7 else 0}e}"


def _heading(options: Options) -> list[str]:
    figures = (*_FIGURES, *_PER_ITERATION) if options.asked.per_iter_timing else _FIGURES
    widths = (_LEAD[0] - 2, *_LEAD[1:], *figures, *figures)
    more = " (+ per-iteration)" if options.asked.per_iter_timing else ""
    names, units = ["time", "algbw", "busbw", "#wrong"], ["(us)", "(GB/s)", "(GB/s)", ""]
    if options.asked.per_iter_timing:
        names += ["i_min", "i_max", "i_p99", "i_cv%"]
        units += ["(us)", "(us)", "(us)", "(%)"]
    span = sum(figures) + 2 * len(figures)
    # A space at the end of the line is nccl-tests', too.
    label, pattern = (f"{'timestamp':>21s}", f"{_TIMESTAMP:>21s}") if options.asked.report_timestamps else (" ", " ")
    return [
        "# " + _columns(widths[:5], ("",) * 5) + f"{'out-of-place' + more:^{span}}{'in-place' + more:^{span}}",
        "# " + _columns(widths, ("size", "count", "type", "redop", "root", *names, *names)) + label,
        "# " + _columns(widths, ("(B)", "(elements)", "", "", "", *units, *units)) + pattern,
    ]


def _side(side: BenchSide) -> str:
    wrong = "N/A" if side.num_wrong is None else f"{side.num_wrong:g}"
    figures = [side.seconds * 1e6, side.algbw / 1e9, side.busbw / 1e9]
    cells = [*(format_number(value, width) for value, width in zip(figures, _FIGURES, strict=False)), wrong]
    if side.iterations is None:
        return _columns(_FIGURES, cells)
    each = side.iterations
    summary = [each.min * 1e6, each.max * 1e6, each.p99 * 1e6, 100 * each.variation]
    return _columns((*_FIGURES, *_PER_ITERATION), [*cells, *(format_number(value, 7) for value in summary)])


def _columns(widths: Sequence[int], cells: Sequence[object]) -> str:
    return "  ".join(f"{cell!s:>{width}s}" for cell, width in zip(cells, widths, strict=True))


def _total(what: str, value: str) -> str:
    return f"# {what:<20s} : {value}"


def _range(sizes: list[int]) -> str:
    first, last = format_size(min(sizes)), format_size(max(sizes))
    return first if first == last else f"{first}–{last}"
