"""Rules that were written are read by the library itself, and rules that are not are found out.

For: ringtree.tune.library.check and formats with a real Open MPI and MPICH. Not for: choices (test_tune_library.py).
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ringtree.arms import kind_named
from ringtree.errors import RingtreeError
from ringtree.tune.library.check import error_with, how_taken
from ringtree.tune.library.formats import Deployed, deployed
from ringtree.tune.library.rules import DEFAULT, SizeRange
from ringtree.tune.library.tuning import LibraryAsked, validation_plan

SIZES = {256: DEFAULT, 4096: "ring"}
RULES = [SizeRange(first=1025, last=4096, switch="ring")]
LIBRARIES = [name for name in ("openmpi", "openmpi5", "mpich", "mpich5") if kind_named(name).lacks() is None]
OPENMPI = [name for name in LIBRARIES if "openmpi" in name]

pytestmark = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores")
needs_open_mpi = pytest.mark.skipif(not OPENMPI, reason="needs Open MPI")


def rules_of(tmp_path: Path, num_ranks: int) -> Deployed:
    """Open MPI's rules, where they are to lie."""
    file = tmp_path / "rules.conf"
    made = deployed("openmpi", RULES, num_ranks, file)
    file.write_text(made.text)
    return made


def asked(arm: str) -> LibraryAsked:
    return LibraryAsked(arm=arm, num_ranks=2, sizes="256,4K", budget=1.0, seed=3)


@needs_open_mpi
@pytest.mark.parametrize("arm", OPENMPI)
def test_open_mpi_reads_its_rules_where_they_hold_and_nowhere_else(arm: str, tmp_path: Path) -> None:
    made = rules_of(tmp_path, num_ranks=2)
    plan = validation_plan(asked(arm), made)
    assert "with an algorithm that does not exist in it a call of 4 KB fails" in how_taken(
        "openmpi", arm, plan, SIZES, made
    )
    variable = "OMPI_MCA_coll_tuned_dynamic_rules_filename"
    broken = {**made.environment, variable: str(tmp_path / "rules.invalid")}
    assert error_with(plan, 256, broken) is None, "below the range of the rule Open MPI chooses itself"


@needs_open_mpi
def test_rules_that_count_for_nothing_are_found_out(tmp_path: Path) -> None:
    made = rules_of(tmp_path, num_ranks=3)
    with pytest.raises(RingtreeError, match="ignores its rules"):
        how_taken("openmpi", OPENMPI[0], validation_plan(asked(OPENMPI[0]), made), SIZES, made)


@pytest.mark.skipif(not any("mpich" in name for name in LIBRARIES), reason="needs MPICH")
def test_mpich_has_the_variables_or_is_named() -> None:
    arm = next(name for name in LIBRARIES if "mpich" in name)
    made = deployed("mpich", [SizeRange(first=8, last=4096, switch="recursive_doubling")], 2, Path("x"))
    plan = validation_plan(asked(arm), made)
    assert "MPI_T" in how_taken("mpich", arm, plan, SIZES, made)
    unknown = Deployed("", {**made.environment, "MPIR_CVAR_NO_SUCH_THING": "1"})
    with pytest.raises(RingtreeError, match="fails with its rules: this library has no MPIR_CVAR_NO_SUCH_THING"):
        how_taken("mpich", arm, plan, SIZES, unknown)
