"""Prints what nccl-tests of each version prints, in the formats of its printf calls; and reads texts.

For: tests of ringtree.logs.nccltests that make their own logs. Not for: what real logs look like (the collected ones).
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any

from ringtree.logs import Imported, Table, read_stream

LEAD = ("redop", "root")


@dataclass(frozen=True)
class Style:
    """How a version prints: which columns, how wide, in which unit."""

    name: str
    lead: tuple[str, ...] = LEAD
    figures: tuple[str, ...] = ("time", "algbw", "busbw", "#wrong")
    places: tuple[str, ...] = ("out-of-place", "in-place")
    words: tuple[str, str] = ("size", "count")
    units: bool = True
    milliseconds: bool = False
    tail: str = ""


# One of each shape that a released version prints.
STYLES = (
    Style(
        "2.0 broadcast", ("root",), ("time", "algbw", "busbw", "res"), ("out-of-place",), ("bytes", "N"), False, True
    ),
    Style(
        "2.0 all_reduce",
        ("op",),
        ("time", "algbw", "busbw", "res"),
        words=("bytes", "N"),
        units=False,
        milliseconds=True,
    ),
    Style("2.4 all_gather", (), ("time", "algbw", "busbw", "error")),
    Style("2.4 all_reduce", ("redop",), ("time", "algbw", "busbw", "error")),
    Style("2.4 broadcast", ("root",), ("time", "algbw", "busbw", "error")),
    Style("2.4 reduce", ("redop", "root"), ("time", "algbw", "busbw", "error")),
    Style("2.13"),
    Style("2.13 -C", figures=("cputime", "algbw", "busbw", "#wrong")),
    Style("2.17 -S", tail="timestamp"),
    Style("2.19 -I", figures=("time", "algbw", "busbw", "#wrong", "i_min", "i_max", "i_p99", "i_cv%")),
    Style("rccl in place only", places=("in-place",)),
    Style("rccl hipevt", figures=("time", "hipevt", "algbw", "busbw", "#wrong")),
)


def heading(style: Style) -> list[str]:
    """Returns the lines above the rows."""
    names = [*style.words, "type", *style.lead, *style.figures * len(style.places)]
    units = {"time": "(us)", "cputime": "(us)", "hipevt": "(us)", "algbw": "(GB/s)", "busbw": "(GB/s)", "i_cv%": "(%)"}
    shown = ["(B)", "(elements)", "", *[""] * len(style.lead)]
    shown += [units.get(name, "(us)" if name.startswith("i_") else "") for name in style.figures * len(style.places)]
    lines = [
        "#",
        "# " + "".join(f"{place:>35s}" for place in style.places),
        "# " + "  ".join(f"{n:>8s}" for n in names),
    ]
    lines[-1] += f"{style.tail:>20s}" if style.tail else ""
    return [*lines, "# " + "  ".join(f"{unit:>8s}" for unit in shown)] if style.units else lines


def row(style: Style, size: int, count: int, values: dict[str, tuple[str, ...]], dtype: str = "float") -> str:
    """Returns a row. `values`: what stands in each column of the lead, and in those of the figures for each place."""
    line = f"{size:12d}  {count:12d}  {dtype:>8s}" + "".join(f"  {values[name][0]:>6s}" for name in style.lead)
    for index in range(len(style.places)):
        for name in style.figures:
            line += f"  {values[name][index]:>7s}"
    return line + (f"{values[style.tail][0]:>21s}" if style.tail else "")


def read_text(text: str, name: str = "log") -> Imported:
    """Reads a text as a file."""
    return read_stream(io.BytesIO(text.encode()), name)


def only_table(text: str, name: str = "log") -> Table:
    """Returns the one table that a text holds."""
    tables = read_text(text, name).tables
    assert len(tables) == 1, [(table.first_line, len(table.rows)) for table in tables]
    return tables[0]


def concluded(table: Table, what: str) -> str | None:
    """Returns the value of the first inference about `what`."""
    return next((each.value for each in table.inferences if each.what == what), None)


def printed(side: Any) -> tuple[str | None, ...]:
    """Returns the texts of a side's figures."""
    return tuple(
        figure.text if figure is not None else None for figure in (side.time, side.algbw, side.busbw, side.wrong)
    )


FOOTER = """\
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 12.5
#
# Collective test concluded: all_reduce_perf
#
"""
_SETTINGS = (
    "# nThread 1 nGpus {gpus} minBytes 1024 maxBytes 4096 step: 2(factor) warmup iters: 1 iters: 20 "
    "agg iters: 1 validation: 1 graph: 0"
)


def modern_header(num_ranks: int = 2, program: str = "all_reduce_perf", gpus: int = 0) -> str:
    """Returns the lines above the rows of a version of 2025, of one process; 4 of them before those of ranks."""
    lines = [
        "# nccl-tests version 2.17.8 nccl-headers=22403 nccl-library=22403",
        f"# Collective test starting: {program}",
        _SETTINGS.format(gpus=gpus or num_ranks),
        "#",
        "# Using devices",
    ]
    lines += [
        f"#  Rank {rank:2d} Group  0 Pid   1000 on     node-a device {rank:2d} [0000:18:00] NVIDIA H100 80GB HBM3"
        for rank in range(num_ranks)
    ]
    return "".join(f"{line} \n" for line in [*lines, *heading(Style("modern"))])


def modern_row(size: int, time: str = "10.00", algbw: str = "0.10", busbw: str = "0.10", wrong: str = "0") -> str:
    """Returns a row of an all_reduce of floats, both measurements alike."""
    side = f"  {time:>7s}  {algbw:>6s}  {busbw:>6s}  {wrong:>6s}"
    return f"{size:12d}  {size // 4:12d}     float     sum      -1{side}{side}\n"
