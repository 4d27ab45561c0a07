"""Is what was deployed taken? Asked of the library itself, where it answers.

For: one run with the rules, read back, and one that must fail. Not for: what they gain (tuning.py).

Open MPI says by MPI_T that it has a file's name, and says nothing of what it made of the file: one that it cannot read
it passes over. So the same file with an algorithm that there is not must make a call fail; if it does not, nobody reads
the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ringtree.arms.mpi_libraries import IMPI, MPICH, ONECCL, OPENMPI
from ringtree.errors import RingtreeError
from ringtree.measure.launch import run_launch
from ringtree.measure.plan import planned_launches
from ringtree.results import Plan
from ringtree.results.files import write_whole
from ringtree.tune.library.formats import Deployed, invalid
from ringtree.tune.library.rules import DEFAULT
from ringtree.units import format_size

_SECONDS = 0.05  # of a cell
NOT_TOLD = "it does not report its variables"
_TOLD = {
    MPICH: "its tool interface (MPI_T) has the variables as they were set",
    IMPI: NOT_TOLD,
    ONECCL: NOT_TOLD,
}


def how_taken(library: str, arm: str, plan: Plan, kept: Mapping[int, str], rules: Deployed) -> str:
    """Returns how it was seen that the library goes by its rules. `plan`: a validation's. Raises RingtreeError."""
    size = next(size for size, switch in sorted(kept.items()) if switch != DEFAULT)
    wrong = error_with(plan, size, rules.environment)
    if wrong is not None:
        raise RingtreeError(f"{arm} fails with its rules: {wrong}")
    if library != OPENMPI:
        return _TOLD[library]
    name, file = next((name, Path(value)) for name, value in rules.environment.items() if "filename" in name)
    broken = file.with_suffix(".invalid")
    write_whole(broken, invalid(rules.text).encode())
    if error_with(plan, size, {**rules.environment, name: str(broken)}) is None:
        raise RingtreeError(f"{arm} ignores its rules: naming an algorithm that does not exist changed nothing")
    return (
        f"MPI_T has the file, and it is read: with an algorithm that does not exist in it a call of "
        f"{format_size(size)} fails"
    )


def error_with(plan: Plan, size_bytes: int, environment: Mapping[str, str]) -> str | None:
    """Returns what went wrong in one short launch of a plan's library with these variables; None: nothing."""
    arm = plan.arms[0].model_copy(update={"environment": dict(environment)})
    size = next(size for size in plan.sizes if size.size_bytes == size_bytes)
    alone = {"arms": [arm], "reference": arm.label, "sizes": [size], "num_launches": 1, "cell_budget": _SECONDS}
    once = plan.model_copy(update=alone)
    (launch,) = planned_launches(once)
    _, (cell,) = run_launch(once, launch, lambda _: None)
    return cell.error or (None if cell.verified else "a wrong result")
