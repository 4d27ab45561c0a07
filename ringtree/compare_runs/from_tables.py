"""The series of tables that were read from logs.

For: one value a size and table; tables of one configuration are launches of it. Not for: what is wrong with them
(ringtree.audit), beyond what must not be compared: wrong results, one rank, sides that measure nothing.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from ringtree.compare_runs.series import Cell, Key, Series
from ringtree.logs import Row, Side, Table


def add_tables(found: list[Series], tables: Sequence[Table], notes: list[str]) -> None:
    """Appends the series of `tables`, one for each table, side and element type; says in `notes` what is left out."""
    for table in tables:
        if table.num_ranks == 1:
            notes.append(f"{_name(table)}: one rank communicates with nobody; its times are left out")
            continue
        series: dict[Key, Series] = {}
        times: dict[tuple[Key, int], list[float]] = {}
        for row in table.rows:
            for side in row.sides:
                if row.size_bytes is None or side.time is None or not side.time.value > 0:
                    continue
                key = Key(table.collective, table.num_ranks, row.dtype, row.op, side.place)
                one = series.setdefault(key, Series(key, label_of(table), facts=_facts(table)))
                _take(one.cell(row.size_bytes), row, side, table, times.setdefault((key, row.size_bytes), []))
        repeated = sum(len(values) > 1 for values in times.values())
        for (key, size_bytes), values in times.items():
            series[key].cells[size_bytes].launches = [statistics.median(values)]
        if repeated:
            notes.append(f"{_name(table)}: {repeated} sizes stand there more than once; their medians are compared")
        found.extend(one for one in series.values() if one.cells)


def merged(series: Sequence[Series]) -> list[Series]:
    """Returns the series with those of one key and label joined: each is a launch, or several, of one configuration."""
    joined: dict[tuple[Key, str], Series] = {}
    for one in series:
        known = joined.get((one.key, one.label))
        if known is None:
            joined[one.key, one.label] = one
            continue
        known.num_runs += one.num_runs
        for size_bytes, cell in one.cells.items():
            mine = known.cell(size_bytes)
            mine.launches += cell.launches
            mine.iterations = ()  # iterations of several launches are no sample of anything
            mine.wrong = mine.wrong or cell.wrong
        for name, value in one.facts.items():
            known.facts[name] = value if known.facts.get(name, value) == value else "various"
    return list(joined.values())


def label_of(table: Table) -> str:
    """Returns what tells a table from others: the algorithm and protocol that were forced, if any."""
    return "/".join(part for part in (table.algorithm, table.protocol) if part)


def _take(cell: Cell, row: Row, side: Side, table: Table, times: list[float]) -> None:
    wrong = wrong_elements(row, side, table)
    if wrong is not None:
        cell.wrong = wrong
    elif table.out_of_bounds_okay is False:
        cell.wrong = "the run ended with FAILED: some of its results were wrong"
    times.append(side.time.value if side.time is not None else 0.0)
    cell.iterations = side.samples


def wrong_elements(row: Row, side: Side, table: Table) -> str | None:
    """Returns that the row itself counts wrong elements, None if it does not."""
    if side.wrong is not None and side.wrong.value > 0 and _counts_wrong(table):
        return f"{side.wrong.text} wrong elements in line {row.line}"
    return None


def _counts_wrong(table: Table) -> bool:
    """Old versions print the largest error of floating-point sums under "error": that is no count of elements."""
    return table.columns.get("wrong", "#wrong").startswith("#")


def _facts(table: Table) -> dict[str, str]:
    facts = {
        "tool": " ".join(part for part in (table.tool, table.tool_version) if part),
        "library": " ".join(part for part in (table.library, table.library_version) if part),
        "devices": ", ".join(dict.fromkeys(table.devices)),
        "hosts": str(table.num_hosts) if table.num_hosts is not None else "",
        "algorithm": table.algorithm or "",
        "protocol": table.protocol or "",
        **{name: table.environment[name] for name in sorted(table.environment) if name.startswith(("NCCL_", "RCCL_"))},
    }
    return {name: value for name, value in facts.items() if value}


def _name(table: Table) -> str:
    return f"table from line {table.first_line}" + (f" ({table.title})" if table.title else "")
