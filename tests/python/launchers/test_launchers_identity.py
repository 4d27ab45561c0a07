"""Who a process is, launcher by launcher, and which launcher counts where several have left variables.

For: readers and precedence, on variables as the launchers set them (shortened to what matters; those of torchrun, srun,
mpirun and mpiexec as they were seen, the others by their documentation). Not for: real launchers
(tests/python/compare).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ringtree.errors import UsageError
from ringtree.launchers import (
    Identity,
    LaunchersDisagree,
    Surroundings,
    Unidentified,
    address_of,
    identify,
    job_key,
    port_of,
)
from ringtree.launchers.meeting_point import FIRST_PORT, NUM_PORTS

TORCHRUN = {
    "RANK": "5",
    "WORLD_SIZE": "8",
    "LOCAL_RANK": "1",
    "LOCAL_WORLD_SIZE": "4",
    "GROUP_RANK": "1",
    "GROUP_WORLD_SIZE": "2",
    "MASTER_ADDR": "10.77.0.10",
    "MASTER_PORT": "29500",
    "TORCHELASTIC_RUN_ID": "none",
    "TORCHELASTIC_RESTART_COUNT": "0",
    "TORCHELASTIC_USE_AGENT_STORE": "True",
}
JOB = {"SLURM_JOB_ID": "71", "SLURM_JOB_NODELIST": "n[08-09]", "SLURM_NTASKS": "4", "SLURM_PROCID": "0"}
SRUN = JOB | {
    "SLURM_PROCID": "3",
    "SLURM_STEP_ID": "2",
    "SLURM_STEP_NUM_TASKS": "4",
    "SLURM_STEP_NUM_NODES": "2",
    "SLURM_STEP_NODELIST": "n[08-09]",
    "SLURM_STEP_TASKS_PER_NODE": "2(x2)",
    "SLURM_LOCALID": "1",
    "SLURM_NODEID": "1",
}
OPEN_MPI_4 = {
    "OMPI_COMM_WORLD_RANK": "3",
    "OMPI_COMM_WORLD_SIZE": "4",
    "OMPI_COMM_WORLD_LOCAL_RANK": "1",
    "OMPI_COMM_WORLD_LOCAL_SIZE": "2",
    "OMPI_COMM_WORLD_NODE_RANK": "1",
    "OMPI_MCA_orte_hnp_uri": "606273536.0;tcp://192.0.2.2,10.0.0.2:51103;tcp6://[fd00::2]:35869",
    "PMIX_NAMESPACE": "606273537",
    "PMIX_RANK": "3",
}
OPEN_MPI_5 = {name: value for name, value in OPEN_MPI_4.items() if name != "OMPI_MCA_orte_hnp_uri"} | {
    "PMIX_NAMESPACE": "prterun-login-3-22272@1"
}
MPICH = {"PMI_RANK": "1", "PMI_SIZE": "2", "MPI_LOCALRANKID": "1", "MPI_LOCALNRANKS": "2", "PMI_FD": "8"}
INTEL_MPI = MPICH | {"I_MPI_HYDRA_UUID": "17570000-3dfe-18a1-0561-0600564d2a5e"}
PROXY = ["/usr/bin/hydra_pmi_proxy", "--control-port", "login1:39525", "--rmk", "user", "--proxy-id", "0"]
PALS = {"PALS_RANKID": "2", "PALS_LOCAL_RANKID": "0", "PALS_NODEID": "1", "PALS_APID": "ab-12", "PBS_JOBID": "9.pbs"}
FLUX = {"FLUX_TASK_RANK": "1", "FLUX_JOB_SIZE": "2", "FLUX_TASK_LOCAL_ID": "1", "FLUX_JOB_NNODES": "1"}
JSM = {
    "JSM_NAMESPACE_RANK": "1",
    "JSM_NAMESPACE_SIZE": "2",
    "JSM_NAMESPACE_LOCAL_RANK": "0",
    "JSM_NAMESPACE_LOCAL_SIZE": "1",
    "LSB_JOBID": "77",
    "LSB_MCPU_HOSTS": "batch5 1 h35n08 42 h35n09 42",
}
POD = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "JOB_COMPLETION_INDEX": "1", "HOSTNAME": "bench-1"}


def who(*environments: dict[str, str], above: list[list[str]] | None = None) -> Identity | None:
    """Who a process with these variables is."""
    merged = {name: value for environment in environments for name, value in environment.items()}
    return identify(Surroundings(merged, lambda: above or []))


def found(*environments: dict[str, str], above: list[list[str]] | None = None) -> Identity:
    """The same, of one that a launcher has started."""
    identity = who(*environments, above=above)
    assert identity is not None
    return identity


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        (TORCHRUN, ("torchrun", 5, 8, 1, 4, True)),
        (SRUN, ("Slurm", 3, 4, 1, 2, True)),
        (OPEN_MPI_4, ("Open MPI", 3, 4, 1, 2, True)),
        (OPEN_MPI_5, ("Open MPI", 3, 4, 1, 2, True)),
        (MPICH, ("MPICH", 1, 2, 1, 2, False)),
        (INTEL_MPI, ("Intel MPI", 1, 2, 1, 2, False)),
        (PALS | {"PMI_RANK": "2", "PMI_SIZE": "4", "PMI_LOCAL_SIZE": "2"}, ("PALS", 2, 4, 0, 2, True)),
        (FLUX | {"FLUX_JOB_ID": "f23"}, ("Flux", 1, 2, 1, 2, False)),
        (JSM, ("JSM", 1, 2, 0, 1, True)),
        (POD | {"WORLD_SIZE": "3"}, ("Kubernetes", 1, 3, 0, 1, True)),
        (
            POD | {"RANK": "1", "WORLD_SIZE": "3", "MASTER_ADDR": "bench-0", "MASTER_PORT": "23456"},
            ("Kubeflow", 1, 3, 0, 1, True),
        ),
        (
            {"RANK": "1", "WORLD_SIZE": "2", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1", "RAY_JOB_ID": "01000000"},
            ("Ray", 1, 2, 0, 1, True),
        ),
        (
            {"RANK": "1", "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "1", "RINGTREE_LAUNCHER": "Ansible"},
            ("Ansible", 1, 2, None, 1, True),
        ),
        ({"PMI_RANK": "0", "PMI_SIZE": "2"}, ("PMI", 0, 2, None, None, False)),
        ({"RANK": "0", "WORLD_SIZE": "2"}, ("the environment", 0, 2, None, None, False)),
    ],
)
def test_each_launcher_is_read(environment: dict[str, str], expected: tuple[object, ...]) -> None:
    one = found(environment)
    assert (one.launcher, one.rank, one.world_size, one.local_rank, one.local_size, one.several_hosts) == expected


def test_a_job_file_names_its_launcher_and_its_job() -> None:
    one = found({"RANK": "0", "WORLD_SIZE": "2", "RINGTREE_LAUNCHER": "Ansible", "RINGTREE_JOB": "two-1"})
    assert (one.launcher, one.job, one.sources["job"]) == ("Ansible", "two-1", "RINGTREE_JOB")


@pytest.mark.parametrize(
    "environment",
    [
        {},
        JOB,  # a batch script or a shell of salloc: SLURM_PROCID is set, and nobody has started ranks
        {"RANK": "3"},
        {"WORLD_SIZE": "3"},
        POD,  # pods that are numbered, and know nothing of each other
        {"PALS_RANKID": "1"},
    ],
)
def test_who_is_not_a_rank(environment: dict[str, str]) -> None:
    assert who(environment) is None


def test_a_step_of_fewer_tasks_than_the_job() -> None:
    one = found(SRUN, {"SLURM_NTASKS": "64", "SLURM_STEP_NUM_TASKS": "4", "SLURM_NNODES": "16"})
    assert (one.world_size, one.num_hosts) == (4, 2)


def test_hosts_job_and_meeting_point_of_a_slurm_step() -> None:
    one = found(SRUN)
    assert one.hosts == ("n08", "n09")
    assert one.job == "71.2"
    assert address_of(one) == ("n08", "the first of SLURM_STEP_NODELIST")
    port, said = port_of(one)
    assert FIRST_PORT <= port < FIRST_PORT + NUM_PORTS
    assert "SLURM_JOB_ID" in said
    other_rank = found(SRUN, {"SLURM_PROCID": "0", "SLURM_LOCALID": "0", "SLURM_NODEID": "0"})
    assert port_of(other_rank) == port_of(one), "all ranks derive the same"
    assert job_key(other_rank) == job_key(one)
    assert port_of(found(SRUN, {"SLURM_STEP_ID": "3"})) != port_of(one), "two steps want two ports"


def test_master_addr_and_port_count_for_every_launcher() -> None:
    one = found(SRUN, {"MASTER_ADDR": "10.0.0.9", "MASTER_PORT": "29501"})
    assert (address_of(one), port_of(one)) == (("10.0.0.9", "MASTER_ADDR"), (29501, "MASTER_PORT"))
    with pytest.raises(UsageError, match="MASTER_PORT=70000 is not a port"):
        port_of(found(SRUN, {"MASTER_PORT": "70000"}))


def test_mpirun_inside_a_scheduler_takes_its_hosts() -> None:
    assert found(OPEN_MPI_4, JOB).hosts == ("n08", "n09")
    assert address_of(found(OPEN_MPI_4, JOB))[0] == "n08"
    assert address_of(found(OPEN_MPI_4))[0] == "192.0.2.2", "else it is mpirun's own host"
    assert address_of(found(OPEN_MPI_5))[0] == "login-3"
    assert found(OPEN_MPI_4, {"LSB_HOSTS": "h1 h1 h2"}).hosts == ("h1", "h2")


def test_pbs_shows_its_node_file_to_the_first_host_only(tmp_path: Path) -> None:
    file = tmp_path / "nodes"
    file.write_text("h1\nh1\nh2\n")
    first, other = ({"PBS_NODEFILE": str(path)} for path in (file, tmp_path / "absent"))
    assert found(OPEN_MPI_4, first).hosts == ("h1", "h2")
    assert found(OPEN_MPI_4, other).hosts == ()
    assert address_of(found(OPEN_MPI_4, first)) == address_of(found(OPEN_MPI_4, other)), "so mpirun's host it is"
    assert address_of(found(PALS | {"PMI_SIZE": "4", "PMI_LOCAL_SIZE": "2"}, first))[0] == "h1"


def test_mpichs_job_is_where_its_mpiexec_listens() -> None:
    one = found(MPICH, above=[["sh", "-c", "x"], PROXY, ["mpiexec"]])
    assert (one.job, one.address) == ("login1:39525", "login1")
    assert found(INTEL_MPI, above=[PROXY]).job == INTEL_MPI["I_MPI_HYDRA_UUID"]
    with pytest.raises(UsageError, match="MPICH gives the job no id: set MASTER_PORT"):
        job_key(found(MPICH, above=[["sh"]]))


def test_jsruns_first_host_runs_no_rank() -> None:
    assert address_of(found(JSM))[0] == "h35n08"


def test_who_says_too_little_is_told_what_to_set() -> None:
    several = found(FLUX, {"FLUX_JOB_NNODES": "2", "FLUX_JOB_ID": "f23"})
    with pytest.raises(UsageError, match="Flux does not say on which host rank 0 runs: set MASTER_ADDR"):
        address_of(several)
    by_hand = found({"RANK": "0", "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "1", "MASTER_ADDR": "a"})
    with pytest.raises(UsageError, match="set MASTER_PORT"):
        port_of(by_hand)


@pytest.mark.parametrize(
    ("port", "shown"),
    [
        ("0", "0"),
        ("65536", "65536"),
        ("9" * 5000, f"'{'9' * 40}'… (5000 characters)"),
        ("abc", "'abc'"),
        ("-1", "'-1'"),
        ("٣", "'٣'"),
    ],
)
def test_a_port_that_is_none_is_refused_on_one_host_too(port: str, shown: str) -> None:
    """Not before somebody asks for it: who the process is does not depend on it."""
    identity = found({"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "a", "MASTER_PORT": port})
    for ask in (port_of, job_key):
        with pytest.raises(UsageError) as refused:
            ask(identity)
        assert str(refused.value) == f"MASTER_PORT={shown} is not a port: use 1 to 65535"


def test_the_inner_launcher_counts() -> None:
    srun_of_agents = {"SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "2", "SLURM_STEP_TASKS_PER_NODE": "1(x2)"}
    inner = found(SRUN, srun_of_agents, TORCHRUN)
    assert (inner.launcher, inner.rank, inner.world_size) == ("torchrun", 5, 8)
    assert inner.inside == ("Slurm says rank 1 of 2 (SLURM_PROCID)",)
    assert inner.hosts == (), "the outer one's hosts are of other processes"
    # Open MPI's daemons on further nodes are a step of srun's with other numbers.
    daemons = {"SLURM_STEP_ID": "0", "SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "3"}
    assert found(JOB, daemons, OPEN_MPI_4).launcher == "Open MPI"
    assert found(SRUN, FLUX).launcher == "Flux"
    # One task of srun's that starts all ranks itself, as an interactive shell does.
    alone = SRUN | {"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "1", "SLURM_STEP_TASKS_PER_NODE": "1"}
    assert found(alone, {"RANK": "2", "WORLD_SIZE": "4"}).rank == 2


def test_who_agrees_fills_in_what_the_other_lacks() -> None:
    mapped = found(SRUN, {"RANK": "3", "WORLD_SIZE": "4", "MASTER_ADDR": "n08", "MASTER_PORT": "29500"})
    assert (mapped.launcher, mapped.local_size, mapped.job) == ("the environment", 2, "71.2")
    assert mapped.sources["job"] == "SLURM_JOB_ID, SLURM_STEP_ID"
    pmi2 = found(SRUN, {"PMI_RANK": "3", "PMI_SIZE": "4", "PMI_JOBID": "71.2"})
    assert pmi2.launcher == "Slurm"


def test_scripts_that_start_ranks_in_each_task() -> None:
    """DeepSpeed and Accelerate number ranks themselves in a process a host."""
    task = {"SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "2", "SLURM_STEP_TASKS_PER_NODE": "1(x2)"}
    numbered = {"RANK": "6", "WORLD_SIZE": "8", "LOCAL_WORLD_SIZE": "4"}
    assert found(SRUN, task, numbered).rank == 6
    with pytest.raises(LaunchersDisagree):  # rank 2 would be of task 0
        found(SRUN, task, numbered | {"RANK": "2"})


@pytest.mark.parametrize(
    "environments",
    [
        (OPEN_MPI_4, MPICH),
        (SRUN, {"RANK": "1", "WORLD_SIZE": "4"}),
        (OPEN_MPI_4, {"RANK": "0", "WORLD_SIZE": "2"}),
        (SRUN, PALS | {"PMI_SIZE": "9"}),
    ],
)
def test_launchers_that_disagree_are_refused_with_both_names(environments: tuple[dict[str, str], ...]) -> None:
    with pytest.raises(LaunchersDisagree) as refused:
        found(*environments)
    said = str(refused.value)
    assert said.startswith("two launchers disagree: ")
    assert said.count(" says rank ") == 2
    assert "\n" not in said
    assert [identity.words in said for identity in refused.value.identities] == [True, True]


def test_who_is_the_first_of_its_host() -> None:
    def first(**said: Any) -> bool:
        return Identity("x", rank=4, world_size=8, **said).is_first_on_host

    assert [first(local_rank=0), first(local_rank=1)] == [True, False]
    assert [first(local_size=2), first(local_size=3), first(local_size=1)] == [True, False, True]
    assert first(local_rank=1, local_size=4) is False, "what is said counts, not what follows"
    assert first(), "nothing tells"


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"RANK": "x", "WORLD_SIZE": "2"}, "RANK='x' is not a number"),
        ({"RANK": "-1", "WORLD_SIZE": "2"}, "RANK='-1' is not a number"),
        ({"RANK": "7" * 5000, "WORLD_SIZE": "2"}, f"RANK='{'7' * 40}'… (5000 characters) is not a number"),
        ({"RANK": "2", "WORLD_SIZE": "2"}, "RANK=2 is not within WORLD_SIZE=2"),
        (SRUN | {"SLURM_STEP_NODELIST": "n[1-"}, "brackets do not match"),
    ],
)
def test_what_cannot_be_read_is_named(environment: dict[str, str], said: str) -> None:
    with pytest.raises(UsageError) as refused:
        found(environment)
    assert said in str(refused.value)


def test_a_launcher_that_can_be_read_still_says_who_this_is() -> None:
    """So that one process of the job speaks of RANK=x, and not each."""
    with pytest.raises(Unidentified) as refused:
        found(OPEN_MPI_4, {"RANK": "x", "WORLD_SIZE": "4"})
    assert "RANK='x' is not a number" in str(refused.value)
    assert [(one.launcher, one.rank) for one in refused.value.identities] == [("Open MPI", 3)]
    with pytest.raises(Unidentified) as refused:
        found({"RANK": "x", "WORLD_SIZE": "4"})
    assert refused.value.identities == ()


def test_restarts_and_other_jobs_meet_elsewhere() -> None:
    one = found(TORCHRUN)
    assert one.serves_store
    assert job_key(one) == job_key(replace(one, rank=0))
    assert job_key(one) != job_key(found(TORCHRUN, {"TORCHELASTIC_RESTART_COUNT": "1"}))
    assert job_key(one) != job_key(found(TORCHRUN, {"MASTER_PORT": "29501"}))
