"""Tables as benchmarks print them, made by the arithmetic that benchmarks do.

For: tests of ringtree.audit that need a table of their own. Not for: real logs (logs_support.py).

Figures are written like nccl-tests writes them (util.cu, getFloatStr): as many decimals, two at most, as fit into a
column.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ringtree.audit import AuditRun, FileReport, Finding, Setup
from ringtree.logs import IN_PLACE, OUT_OF_PLACE, Imported, Item, Printed, Row, Side, Skipped, Table
from ringtree.logs.nccltests.conclude import FORMAT as NCCL_TESTS
from ringtree.stats.bandwidth import bus_factor

MICROSECOND, GIGABYTE = 1e-6, 1e9
SIZES = tuple(1 << power for power in range(10, 31))
COLUMNS = {"time": "time", "algbw": "algbw", "busbw": "busbw", "wrong": "#wrong"}
SIDE = "    time   algbw   busbw #wrong"
HEADING = f"#       size         count      type   redop    root {SIDE} {SIDE}"
BLOCKS = ("all_gather", "reduce_scatter", "all_to_all")


def column(value: float, width: int) -> str:
    """Returns a figure as nccl-tests prints it in a column of `width` letters."""
    for decimals in (2, 1, 0):
        text = f"{value:.{decimals}f}"
        if len(text) <= width:
            return text
    return f"{value:.1e}" if width >= 7 else f"{value:.0e}"


def usual_time(size_bytes: int) -> float:
    """Returns seconds with 20 µs of latency and 100 GB/s."""
    return 20e-6 + size_bytes / 100e9


def side(
    collective: str,
    num_ranks: int,
    size_bytes: int,
    seconds: float,
    place: str = OUT_OF_PLACE,
    *,
    wrong: str | None = "0",
    text: Callable[[float, int], str] = column,
    algbw_times: float = 1.0,
    busbw_times: float = 1.0,
) -> Side:
    """Returns one side of a row by the benchmark's own arithmetic, or with rates that are multiples of that."""
    rate = size_bytes / seconds / GIGABYTE
    return Side(
        place,
        Printed(text(seconds / MICROSECOND, 7), MICROSECOND),
        Printed(text(rate * algbw_times, 6), GIGABYTE),
        Printed(text(rate * bus_factor(collective, num_ranks) * busbw_times, 6), GIGABYTE),
        None if wrong is None else Printed(wrong),
    )


def make_table(
    collective: str = "all_reduce",
    num_ranks: int = 8,
    sizes: Sequence[int] = SIZES,
    time: Callable[[int], float] = usual_time,
    in_place: Callable[[int], float] | None = None,
    **fields: object,
) -> Table:
    """Returns a whole table of nccl-tests with float elements, whose footer is the mean of its rows."""
    inner = in_place or (lambda size_bytes: 0.99 * time(size_bytes))
    blocks = num_ranks if collective in BLOCKS else 1
    reduces = "reduce" in collective or collective == "send_recv"
    rows = []
    for number, asked in enumerate(sizes):
        count = asked // 4 // blocks
        size_bytes = 4 * count * blocks
        sides = (
            side(collective, num_ranks, size_bytes, time(size_bytes)),
            side(collective, num_ranks, size_bytes, inner(size_bytes), IN_PLACE),
        )
        rows.append(Row(10 + number, size_bytes, sides, count, "float", "sum" if reduces else "none", -1))
    table = Table(NCCL_TESTS, 5, collective=collective, num_ranks=num_ranks, num_hosts=1, rows=rows)
    table.tool, table.library, table.library_version = "nccl-tests", "nccl", "2.28.3"
    table.columns = dict(COLUMNS)
    table.settings = {
        "nThread": "1",
        "nGpus": "1",
        "minBytes": str(min(sizes)),
        "maxBytes": str(max(sizes)),
        "step": "2(factor)",
        "warmup iters": "5",
        "iters": "20",
        "validation": "1",
    }
    table.devices = ["NVIDIA H100 80GB HBM3"] * num_ranks
    table.num_out_of_bounds, table.out_of_bounds_okay = 0, True
    table.average_busbw = average(table)
    table.complete, table.last_line = True, 10 + len(rows)
    for name, value in fields.items():
        setattr(table, name, value)
    return table


def as_text(table: Table) -> str:
    """Returns a table as nccl-tests prints it."""
    lines = [
        "# Collective test starting: all_reduce_perf",
        f"# nThread 1 nGpus {table.num_ranks} minBytes {table.settings['minBytes']} maxBytes "
        f"{table.settings['maxBytes']} step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0",
        "# Using devices",
        *(
            f"#  Rank {rank:2} Group  0 Pid {1000 + rank} on node-1 device {rank:2} [0x0{rank}] NVIDIA H100 80GB HBM3"
            for rank in range(table.num_ranks or 0)
        ),
        "#                                                              out-of-place                       in-place",
        HEADING,
        "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)",
    ]
    for row in table.rows:
        figures = [
            f"{part.text:>7}" if part is not None else "N/A"
            for side in row.sides
            for part in (side.time, side.algbw, side.busbw, side.wrong)
        ]
        lines.append(f"{row.size_bytes:12} {row.count:13} {row.dtype:>9} {row.op:>7} {row.root:7} {' '.join(figures)}")
    lines += ["# Out of bounds values : 0 OK", f"# Avg bus bandwidth    : {(table.average_busbw or Printed('0')).text}"]
    return "\n".join(lines) + "\n"


def average(table: Table) -> Printed:
    """Returns the footer's mean of all busbw, six digits as the program prints it."""
    figures = [float(side.busbw.text) for row in table.rows for side in row.sides if side.busbw is not None]
    return Printed(f"{sum(figures) / len(figures):.6g}", GIGABYTE)


def with_sides(table: Table, change: Callable[[Row, Side], Side], where: Callable[[Row], bool] | None = None) -> Table:
    """Changes the sides of the rows that `where` says, and returns the table."""
    table.rows = [
        row._replace(sides=tuple(change(row, side) for side in row.sides)) if where is None or where(row) else row
        for row in table.rows
    ]
    return table


def audited(
    *items: Item, setup: Setup | None = None, name: str = "a.log", skipped: Sequence[Skipped] = ()
) -> FileReport:
    """Audits items as one file, of which no reader took the lines of `skipped`."""
    session = AuditRun(setup or Setup())

    def read(take: Callable[[Item], None]) -> Imported:
        for item in items:
            take(item)
        return Imported(name, skipped=list(skipped))

    session.add_reading(name, read)
    (report,) = session.finish().files
    return report


def findings(*items: Item, setup: Setup | None = None) -> list[Finding]:
    """Returns what is found in items of one file."""
    return audited(*items, setup=setup).findings


def codes(*items: Item, setup: Setup | None = None) -> set[str]:
    """Returns the codes of what is found in items of one file."""
    return {finding.code for finding in findings(*items, setup=setup)}
