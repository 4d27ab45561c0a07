"""Several programs that wrote into one stream without marks.

For: telling one program after the other from programs at once, and tables for the latter. Not for: lines.

Nothing in a row says which program wrote it. A program that never saw another one prints its sizes in order and its
totals once; where that does not hold, programs ran at once, and the k-th row of a size goes to the k-th of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from ringtree.logs.nccltests.run import ProgramRun
from ringtree.logs.records import Row
from ringtree.nccl.nccl_tests import DTYPE_BYTES


def is_one_program(run: ProgramRun) -> bool:
    """Says whether one program may have written all that stands between two lines of settings."""
    ranks = [line.rank for line in run.rank_lines]
    if len(run.out_of_bounds) > 1 or len(run.averages) > 1 or len(set(ranks)) < len(ranks):
        return False
    if run.num_cycles:
        return True
    last: dict[tuple[str | None, str | None, int | None], int] = {}
    for row in run.rows:
        key, size = (row.dtype, row.op, row.root), row.size_bytes or 0
        before = last.get(key, -1)
        # Sizes that are cut to whole blocks may come twice.
        if size < before or (size == before and size and not _cut_to_blocks(row)):
            return False
        last[key] = size
    return True


def split(runs: Sequence[ProgramRun]) -> list[ProgramRun]:
    """Returns as many runs as there were lines of settings, with rows, ranks and totals dealt out among them."""
    count = len(runs)
    layout = next((run.layout for run in runs if run.layout is not None), None)
    dealt = [
        replace(
            run,
            layout=run.layout or layout,
            rank_lines=[],
            rows=[],
            out_of_bounds=[],
            averages=[],
            num_programs=count,
            number=number,
            last_line=max(each.last_line for each in runs),
            environment=runs[-1].environment,
            library=runs[-1].library,
            library_line=runs[-1].library_line,
        )
        for number, run in enumerate(runs)
    ]
    seen: dict[object, int] = defaultdict(int)

    def turn(key: object) -> ProgramRun:
        number = seen[key]
        seen[key] = number + 1
        return dealt[number % count]

    for run in runs:
        for line in run.rank_lines:
            turn(("rank", line.rank)).rank_lines.append(line)
        for row in run.rows:
            turn((row.size_bytes, row.count, row.dtype, row.op, row.root)).rows.append(row)
        for total in run.out_of_bounds:
            turn("out of bounds").out_of_bounds.append(total)
        for average in run.averages:
            turn("average").averages.append(average)
    return dealt


def _cut_to_blocks(row: Row) -> bool:
    return row.size_bytes != (row.count or 0) * DTYPE_BYTES.get(row.dtype or "", 0)
