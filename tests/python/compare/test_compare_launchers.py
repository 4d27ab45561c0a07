"""`ringtree compare` under real launchers on one machine: mpirun of two makes, srun, torchrun.

For: agents, one a rank or one a host; what is stored of the launcher; SIGTERM and what goes on after it. Not for: what
variables mean (test_launchers_identity.py), or torchrun on hosts with a network between them
(test_compare_hosts.py).
"""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hosts_support import Hosts, why_no_hosts
from launchers_support import (
    QUICK_RINGTREE,
    RINGTREE,
    Slurm,
    free_ports,
    mpirun,
    plain_environment,
    run,
    slurm,
    torchrun,
    why_no_slurm,
)

from ringtree.measure.recording import launcher_of_one
from ringtree.results import Launcher, find_run, read_run

SMALL = ["compare", "--arms", "ring,auto", "--sizes", "8,64K", "--no-preflight"]


def at_home() -> dict[str, str]:
    """Where ranks meet: n0 and n1 are names of this machine that nothing resolves, and another Slurm of a test on it
    has jobs of the same ids, from which the same ports would follow."""
    return {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_ports(1)[0])}


@pytest.fixture(scope="module")
def a_slurm() -> Iterator[Slurm]:
    reason = why_no_slurm()
    if reason:
        pytest.skip(reason)
    with slurm() as started:
        yield started


def command_of(launcher: str, count: int) -> list[str]:
    found = torchrun() if launcher == "torchrun" else mpirun(launcher)
    if found is None:
        pytest.skip(f"{launcher} is not installed")
    return [*found, str(count), *QUICK_RINGTREE]


def check_stored(runs: Path, launcher: str, num_processes: int, num_ranks: int) -> None:
    stored = read_run(find_run(runs, "last"))
    said = stored.run.provenance.launcher
    assert said is not None
    assert (said.name, said.num_processes, len(said.hosts)) == (launcher, num_processes, 1)
    assert said.job, "the job has an id"
    assert stored.run.plan.num_ranks == num_ranks
    assert stored.run.plan.hosts is None, "they share a kernel"
    pids = [launch.pids for launch in stored.launches]
    assert all(len(set(of_launch)) == num_ranks for of_launch in pids)
    assert not set(pids[0]) & set(pids[1]), "each launch has processes of its own"
    assert all(cell.verified for launch in stored.launches for cell in launch.cells)


@pytest.mark.parametrize(("launcher", "name"), [("openmpi", "Open MPI"), ("mpich", "MPICH"), ("torchrun", "torchrun")])
def test_an_agent_a_rank(launcher: str, name: str, tmp_path: Path) -> None:
    done = run([*command_of(launcher, 2), *SMALL, "--launches", "2", "--json", "--runs", str(tmp_path)])
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["num_ranks"] == 2, "one process speaks"
    check_stored(tmp_path, name, 2, 2)


ALONE = {"SLURM_JOB_ID": "71", "SLURM_STEP_ID": "2", "SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "1"}


@pytest.mark.parametrize(
    ("variables", "name"),
    [(ALONE, "Slurm"), ({}, None), (ALONE | {"RANK": "1", "WORLD_SIZE": "2"}, None), ({"RANK": "x"}, None)],
)
def test_a_job_of_one_process_names_its_launcher(
    variables: dict[str, str], name: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None without one, and where several disagree or none can be read."""
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    said = launcher_of_one()
    assert said == (name and Launcher(name=name, job="71.2", num_processes=1, hosts=[platform.node()]))


def test_a_run_of_one_process_stores_its_launcher(tmp_path: Path) -> None:
    asked = [*SMALL, "--ranks", "2", "--launches", "2", "--json", "--runs", str(tmp_path)]
    done = run([*QUICK_RINGTREE, *asked], plain_environment() | ALONE)
    assert done.returncode == 0, done.stderr
    check_stored(tmp_path, "Slurm", 1, 2)


def test_agents_of_several_ranks_each(tmp_path: Path) -> None:
    command = [*command_of("mpich", 2), *SMALL, "--ranks", "4", "--launches", "2", "--json", "--runs", str(tmp_path)]
    done = run(command)
    assert done.returncode == 0, done.stderr
    check_stored(tmp_path, "MPICH", 2, 4)


def test_srun_with_an_agent_a_node(a_slurm: Slurm, tmp_path: Path) -> None:
    asked = [*SMALL, "--ranks", "4", "--launches", "2", "--json", "--runs", str(tmp_path)]
    done = a_slurm.run("srun", "-N2", "--ntasks-per-node=1", *QUICK_RINGTREE, *asked, **at_home())
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["num_ranks"] == 4
    check_stored(tmp_path, "Slurm", 2, 4)


def test_srun_on_two_hosts_needs_a_secret_and_no_variable(tmp_path: Path) -> None:
    reason = why_no_slurm() or why_no_hosts()
    if reason:
        pytest.skip(reason)
    asked = [*SMALL, "--ranks", "4", "--launches", "2", "--json", "--runs", str(tmp_path)]
    with Hosts(2) as hosts, slurm(hosts) as started:
        srun = ["srun", "-N2", "--ntasks-per-node=1", *QUICK_RINGTREE]
        refused = started.run(*srun, *asked)
        assert refused.returncode == 2
        assert refused.stderr.count("ranks on several hosts need a secret") == 1, "one process speaks"
        assert re.search(r"^ringtree: \S+: ranks on several hosts need a secret", refused.stderr, re.MULTILINE)
        done = started.run(*srun, *asked, RINGTREE_SECRET_FILE=str(hosts.secret_file))
        assert done.returncode == 0, done.stderr
    stored = read_run(find_run(tmp_path, "last"))
    said = stored.run.provenance.launcher
    assert said is not None
    assert (said.name, said.num_processes, len(said.hosts)) == ("Slurm", 2, 2)
    assert stored.run.plan.hosts == [0, 0, 1, 1]
    assert all(cell.verified for launch in stored.launches for cell in launch.cells)


def test_srun_says_who_is_who(a_slurm: Slurm) -> None:
    done = a_slurm.run("srun", "-N2", "--ntasks-per-node=2", *QUICK_RINGTREE, "launchers", "--json")
    assert done.returncode == 0, done.stderr
    decoder, said, rest = json.JSONDecoder(), [], done.stdout.strip()
    while rest:  # each task writes a document of its own
        document, end = decoder.raw_decode(rest)
        said.append({what: value for what, value, _ in document["rows"]})
        rest = rest[end:].strip()
    said.sort(key=lambda rows: int(rows["rank"]))
    assert [rows["rank"] for rows in said] == ["0", "1", "2", "3"]
    assert [(rows["number of its host"], rows["rank on its host"]) for rows in said] == [
        ("0", "0"),
        ("0", "1"),
        ("1", "0"),
        ("1", "1"),
    ]
    assert {rows["names of hosts"] for rows in said} == {"n0, n1"}
    assert len({rows["ranks meet"] for rows in said}) == 1


def test_a_schedulers_sigterm_leaves_what_was_measured(a_slurm: Slurm, tmp_path: Path) -> None:
    srun = ["srun", "-N2", "--ntasks-per-node=1", *RINGTREE]  # whose launches last long enough to be ended
    with a_slurm.start(*srun, *SMALL, "--launches", "3", "--runs", str(tmp_path), **at_home()) as running:
        assert running.stderr is not None
        said = []
        for line in running.stderr:
            said.append(line)
            if "launch 2 of 3" in line:  # so the first one is stored
                step = a_slurm.run("squeue", "-h", "-s", "-o", "%i").stdout.split()[0]
                assert a_slurm.run("scancel", "--signal=TERM", step).returncode == 0
        running.wait(timeout=120)
    text = " ".join("".join(said).split())
    assert "ringtree: terminated; all rank processes have ended; 1 launch stored in" in text, text
    assert "continue with: ringtree compare --resume" in text
    assert text.count("ringtree:") == 1, "one process speaks"
    gone_on = a_slurm.run(*srun, "compare", "--resume", "last", "--runs", str(tmp_path), "--json", **at_home())
    assert gone_on.returncode == 0, gone_on.stderr
    assert len(read_run(find_run(tmp_path, "last")).launches) == 3


def test_two_launchers_at_once_are_one_line(tmp_path: Path) -> None:
    environment = plain_environment() | {"PMI_RANK": "0", "PMI_SIZE": "7", "MPI_LOCALRANKID": "0"}
    done = run([*command_of("openmpi", 2), *SMALL, "--runs", str(tmp_path)], environment)
    assert done.returncode == 2
    # Both call themselves 0; mpirun ends the other one when the first is over, perhaps before it has spoken.
    assert done.stderr.count("ringtree: two launchers disagree: Open MPI says rank ") in (1, 2), done.stderr
    assert not list(tmp_path.iterdir())
