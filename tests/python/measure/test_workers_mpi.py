"""The workers of real libraries, compiled as users' are: every collective is measured and checked, switches are taken.

For: workers/ with ringtree.measure.worker_set and the engine's native worker, where Open MPI or MPICH is installed. Not
for: what can go wrong otherwise (test_worker_set.py, test_compare_native.py).
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
from collections.abc import Iterator
from dataclasses import replace

import pytest
from cli_support import invoke_quickly

from ringtree.arms import kind_named, native_of
from ringtree.arms.native_engine import lacks
from ringtree.measure.launch import patient, run_launch, run_sets, worker_sets
from ringtree.measure.plan import label_arms, planned_launches
from ringtree.measure.process_set import CellKey, SetFailed
from ringtree.measure.request import Request, make_plan
from ringtree.measure.worker_set import WorkerSet
from ringtree.results import Cell

COLLECTIVES = ("all_reduce", "reduce_scatter", "all_gather", "broadcast", "all_to_all", "reduce", "gather", "scatter")
HERE = [name for name in ("openmpi", "mpich") if kind_named(name).lacks() is None]
OURS = [] if lacks() else ["auto", "native:ring/ll"]
CORES = sorted(os.sched_getaffinity(0))[:2]
SMALL = CellKey(4096, "openmpi", 1)

pytestmark = pytest.mark.skipif(not HERE or len(CORES) < 2, reason="needs Open MPI or MPICH, and two cores")
needs_open_mpi = pytest.mark.skipif("openmpi" not in HERE, reason="needs Open MPI")


def sets_of(arms: list[str], collective: str, dtype: str = "float32") -> tuple[list[WorkerSet], list[Cell]]:
    """Process sets of one launch, and what they measured."""
    asked = Request(arms=",".join(arms), sizes="64,100K", ranks=2, launches=1, seed=5)
    request = replace(asked, collective=collective, dtype=dtype)
    plan = make_plan(request).model_copy(update={"cell_budget": 0.05})
    (launch,) = planned_launches(plan)
    sets = worker_sets(plan, launch, launch.arms, CORES, patient(30.0))
    return sets, run_sets(plan, launch, sets, lambda _: None, {})[1]


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_every_collective_is_measured_and_every_element_checked(collective: str) -> None:
    algorithm = ["native:ring/ll"] if collective in ("all_reduce", "reduce_scatter", "all_gather") else []
    arms = [*HERE, *(arm for arm in OURS if arm == "auto" or algorithm)]
    sets, cells = sets_of(arms, collective)
    assert len(cells) == 2 * len(arms)
    for cell in cells:
        assert cell.verified, f"{cell.arm}: {cell.error}"
        assert len(cell.times) == 2
        assert (cell.executed or {})["through"] == "native"
        if cell.arm in OURS:
            told = cell.executed or {}
            assert told["algorithm"] not in ("", "auto")
            # Not the barrier's behind each batch.
            assert cell.arm != "native:ring/ll" or (told["algorithm"], told["protocol"]) == ("ring", "ll")
    assert len(sets) == len({native_of(arm, collective).program for arm in label_arms(arms)})


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint32", "int64", "uint64", "float64"])
def test_every_dtype_is_exact(dtype: str) -> None:
    for cell in sets_of([*HERE, *OURS[:1]], "all_reduce", dtype)[1]:
        assert cell.verified, f"{cell.arm}: {cell.error}"


@needs_open_mpi
def test_a_launcher_of_ones_own_starts_the_ranks_of_the_library() -> None:
    """With an option that ringtree does not give, and beside the engine's workers, which it starts itself."""
    launcher = "mpirun.openmpi --allow-run-as-root --oversubscribe --bind-to none --mca coll_tuned_priority 97"
    if shutil.which("mpirun.openmpi") is None:
        pytest.skip("needs Open MPI under Debian's name")
    asked = Request(arms=",".join(["openmpi", *OURS[:1]]), sizes="64", ranks=2, launches=1, seed=5, launcher=launcher)
    plan = make_plan(asked).model_copy(update={"cell_budget": 0.05})
    assert plan.native_launcher == shlex.split(launcher)
    (launch,) = planned_launches(plan)
    pids, cells = run_launch(plan, launch, lambda _: None)
    assert len(set(pids)) == len(pids) == 2 * len(plan.arms)
    for cell in cells:
        assert cell.verified, f"{cell.arm}: {cell.error}"


@needs_open_mpi
def test_a_switch_is_taken_or_the_arm_is_named() -> None:
    arms = ["openmpi", "openmpi:ring", "openmpi:4", "openmpi@OMPI_MCA_coll_tuned_no_such_thing=1"]
    _, cells = sets_of(arms, "all_reduce")
    found = {cell.arm: cell for cell in cells if cell.size_bytes == 64}
    assert found["openmpi"].verified
    for label in arms[1:3]:
        assert found[label].verified, found[label].error
        assert (found[label].executed or {})["coll_tuned_allreduce_algorithm"] == "4 ring"
    assert found[arms[3]].error == "this library has no coll_tuned_no_such_thing"


@needs_open_mpi
def test_an_algorithm_that_does_not_exist_ends_its_arm_alone() -> None:
    _, cells = sets_of(["openmpi", "openmpi:no_such_algorithm"], "all_reduce")
    found = {cell.arm: cell for cell in cells if cell.size_bytes == 64}
    assert found["openmpi"].verified
    assert found["openmpi:no_such_algorithm"].error


@pytest.fixture
def workers() -> Iterator[WorkerSet]:
    plan = make_plan(Request(arms="openmpi", sizes="4K", ranks=2, launches=1, seed=5))
    (launch,) = planned_launches(plan)
    (made,) = worker_sets(plan, launch, launch.arms, CORES, patient(30.0))
    yield made
    made.kill()


@needs_open_mpi
def test_a_killed_rank_is_named_and_others_can_take_its_place(workers: WorkerSet) -> None:
    workers.start()
    assert workers.ready() == {}
    assert workers.warm_up(SMALL, 1.0).error is None
    os.kill(workers.pids[1], signal.SIGKILL)
    with pytest.raises(SetFailed, match=r"rank [01] (left|is gone)"):
        workers.visit(SMALL, 1, 1)
    workers.kill()
    workers.start()
    assert workers.ready() == {}
    assert len(workers.visit(SMALL, 1, 3).times[1]) == 3


def test_compare_judges_libraries_and_says_how_they_were_called(tmp_path: object) -> None:
    arms = [*OURS[:1], *HERE, "impi"]
    options = ["--arms", ",".join(arms), "--sizes", "1K", "--ranks", "2", "--launches", "1", "--no-preflight"]
    result = invoke_quickly("compare", *options, "--runs", f"{tmp_path}/runs")
    assert result.exit_code == 0, result.stderr
    out = result.stdout
    assert "2 ranks, called from C, out of place" in out
    assert all(arm in out for arm in arms)
    if kind_named("impi").lacks() is not None:
        assert "impi was left out: impi not found" in " ".join(out.split())
