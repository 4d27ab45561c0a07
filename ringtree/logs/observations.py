"""A log's tables as observations.

For: whoever takes stored runs and logs alike. Not for: what is wrong with a log (ringtree.audit), beyond what its own
rows say.
"""

from __future__ import annotations

from collections.abc import Iterator

from ringtree.logs.records import Row, Side, SizeMeans, Table
from ringtree.results import Observation, Origin

_MAX_INFERENCES = 6
_COMPARED = ("tool", "library", "devices", "hosts", "algorithm", "protocol", "sizes")


def observations_of_table(table: Table, origin: Origin) -> Iterator[Observation]:
    """Yields an observation for each measurement, by rows and sides."""
    for row in table.rows:
        for side in row.sides:
            yield Observation(
                origin,
                row.size_bytes,
                side.place,
                row.dtype,
                row.op,
                side.time,
                side.algbw,
                side.busbw,
                side.wrong,
                side.samples,
                wrong=_why_wrong(row, side, table),
                line=row.line,
            )


def origin_of(table: Table, file: str) -> Origin:
    """Returns what all measurements of a table share."""
    failed = table.out_of_bounds_okay is False
    return Origin(
        file,
        f"table from line {table.first_line}" + (f" ({table.title})" if table.title else ""),
        table.collective,
        table.num_ranks,
        table.num_hosts,
        "/".join(part for part in (table.algorithm, table.protocol) if part),
        table.first_line,
        table.size_means,
        _facts(table, file),
        (*_COMPARED, *(name for name in sorted(table.environment) if name.startswith(("NCCL_", "RCCL_")))),
        "the run ended with FAILED: some of its results were wrong" if failed else None,
    )


def _why_wrong(row: Row, side: Side, table: Table) -> str | None:
    """Returns that the row itself counts wrong elements, None if it does not.

    Old versions print the largest error of floating-point sums under "error": that is not a count of elements.
    """
    counts = table.columns.get("wrong", "#wrong").startswith("#")
    if side.wrong is not None and side.wrong.value > 0 and counts:
        return f"{side.wrong.text} wrong elements in line {row.line}"
    return None


def _facts(table: Table, file: str) -> dict[str, str]:
    """What the log says of itself, and what its reader concluded."""
    devices = {name: table.devices.count(name) for name in table.devices}
    facts = {
        "file": file,
        "format": table.format,
        "lines": f"{table.first_line}–{table.last_line}" if table.last_line else "",
        "table": table.title,
        "job": table.job,
        "tool": " ".join(part for part in (table.tool, table.tool_version) if part),
        "library": " ".join(part for part in (table.library, table.library_version) if part),
        "devices": ", ".join(f"{count} × {name}" for name, count in devices.items()),
        "hosts": str(table.num_hosts or ""),
        "algorithm": table.algorithm or "",
        "protocol": table.protocol or "",
        "ended": {True: "as it should", False: "cut off", None: ""}[table.complete],
        "sizes": "" if table.size_means is SizeMeans.TOTAL else table.size_means.value,
        **table.settings,
        **dict(sorted(table.environment.items())),
        **{f"concluded: {one.what}": f"{one.value}: {one.because}" for one in table.inferences[:_MAX_INFERENCES]},
    }
    return {name: value for name, value in facts.items() if value}
