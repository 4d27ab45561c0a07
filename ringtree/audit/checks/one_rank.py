"""Runs of one rank, which send nothing.

For: a busbw of 0 beside a large algbw, above all where several processes were started. Not for: a wrong number of
ranks among several (bus_column.py).

What betrays a launch gone wrong: a benchmark that was built without MPI and started with mpirun runs n times alone. All
its processes print the same header and rank 0, and their lines mix.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ringtree.audit.findings import Finding
from ringtree.audit.material import Material, Subject
from ringtree.audit.rule import error, info, of_file
from ringtree.audit.words import figure, quoted_rate, size

SEVERAL_ALONE = error(
    "ranks-ran-alone",
    "several processes ran, and each measured itself alone",
    "the benchmark built with MPI=1; its header must list all ranks, and busbw must not be 0",
)
ALONE = info("one-rank", "a run of one rank: nothing was sent", "two ranks or more")
_TASKS = ("SLURM_NTASKS", "SLURM_NPROCS", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "WORLD_SIZE", "NUM_GPUS")
_NUMBER_OF_PROCESSES = re.compile(r"\b(?:mpirun|mpiexec|srun)\b.*?\s-{1,2}(?:np|n|ntasks)[ =](\d+)")


@of_file(SEVERAL_ALONE, ALONE)
def check(material: Material) -> Iterator[Finding]:
    """Yields one finding for all one-rank tables of a file that belong to one launch, else one each."""
    alone = [subject for subject in material.subjects if subject.is_one_rank and subject.table.rows]
    together = [subject for subject in alone if _why_not_alone(subject, alone)]
    for subject in alone:
        if subject not in together:
            yield ALONE.found(subject, _shown(subject), subject.table.rows)
    if together:
        first = together[0]
        rows = [row for subject in together for row in subject.table.rows]
        yield SEVERAL_ALONE.found(first, f"{_why_not_alone(first, alone)}; {_shown(first)}", rows)


def _shown(subject: Subject) -> str:
    """Returns the row of the largest rate."""
    rated = [(rate.value, one, rate) for one in subject.points if (rate := one.side.algbw) is not None]
    if not rated:
        return "n = 1"
    _, one, rate = max(rated, key=lambda pair: pair[0])
    busbw = one.side.busbw
    none = f", busbw {busbw.text} = algbw × 2(n-1)/n with n = 1" if busbw is not None and busbw.value == 0 else ""
    return f"{size(one.row)}: algbw {quoted_rate(rate)}{none}"


def _why_not_alone(subject: Subject, alone: list[Subject]) -> str:
    """Returns how it is known that more processes belonged to the run, empty if nothing says so."""
    table = subject.table
    stated = subject.setup.num_ranks or (table.num_ranks if subject.inferred("num_ranks") is None else None) or 1
    if stated > 1:
        return f"{stated} ranks are stated"
    if (per_process := (subject.setting("nThread") or 1) * (subject.setting("nGpus") or 1)) > 1:
        return f"nThread × nGpus = {per_process}"
    for name in _TASKS:
        if (text := table.environment.get(name, "")).isdecimal() and int(text) > 1:
            return f"{name}={text}"
    found = _NUMBER_OF_PROCESSES.search(table.settings.get("command", ""))
    if found is not None and int(found.group(1)) > 1:
        return f"started as {found.group(1)} processes"
    first, last = table.first_line, table.last_line
    near = [one.table for one in alone if one is not subject]
    if mixed := [one for one in near if one.first_line <= last and first <= one.last_line]:
        return f"{len(mixed) + 1} runs of one rank each write between each other's lines"
    sizes = [row.size_bytes for row in table.rows if row.size_bytes]
    if len(sizes) > len(set(sizes)) and len(table.devices) > 1:
        repeated = figure(len(sizes) / len(set(sizes)))
        return f"{len(table.devices)} rank lines, and each size appears {repeated} times"
    return ""
