"""A table that is named after an algorithm, and a log that says that another one ran.

For: NCCL_ALGO against NCCL's own lines in the same file. Not for: what can't run (unsupported_algorithm.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from ringtree.audit.executed import executed_of
from ringtree.audit.findings import Finding
from ringtree.audit.material import Material
from ringtree.audit.rule import of_file, warning
from ringtree.audit.words import listed, size
from ringtree.nccl.names import algorithm_name

OTHER = warning(
    "other-algorithm-ran",
    "a different algorithm ran than was forced",
    "the log itself; compare the table under the name of the algorithm that ran",
)


@of_file(OTHER)
def check(material: Material) -> Iterator[Finding]:
    """Yields a finding for each table of whose forced algorithm no call of a row's size was."""
    executed = executed_of(material.documents)
    for subject in material.subjects:
        table = subject.table
        forced = {algorithm_name(name.strip()) for name in (table.algorithm or "").split(",")}
        if None in forced or "executed" in table.settings:
            continue
        calls = ((row, executed.get((table.collective or "", row.size_bytes or 0), ())) for row in table.rows)
        ran = [(row, {algorithm for algorithm, _ in of_row}) for row, of_row in calls if of_row]
        if others := [(row, names) for row, names in ran if not names & forced]:
            row, names = others[-1]
            said = f"forced: {table.algorithm}; NCCL's lines say {listed(sorted(names), 3)}"
            yield OTHER.found(subject, f"{size(row)}: {said}", [row for row, _ in others])
