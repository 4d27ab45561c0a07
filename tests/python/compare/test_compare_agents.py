"""Agents that die, do not come or do not fit: one line of one process, an exit code, and what was measured is kept.

For: processes of one job, started by RANK and WORLD_SIZE. Not for: launchers (test_compare_launchers.py).
"""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from forked_ringtree import ForkedRingtree, fork_by_hand
from hosts_support import Hosts, on_host, why_no_hosts
from lab_support import is_running, read_until, wait_until
from launchers_support import PATIENCE_S, free_ports, start_by_hand

from ringtree._core import UnixStore, missing_ranks
from ringtree.cli.agents import waiting_line
from ringtree.comm.communicator import init
from ringtree.comm.meeting import STORES, store_of
from ringtree.errors import DeadlineError
from ringtree.launchers import Identity, Surroundings, identify
from ringtree.measure.crew import MEETING, Crew, Hello, local_ranks, spread
from ringtree.measure.joining import differing_clocks, differing_versions
from ringtree.results import find_run, read_run

LONG = ["compare", "--arms", "ring,auto", "--sizes", "8", "--launches", "500", "--no-preflight"]
WAITING = "ringtree: waiting for "
Ended = list[tuple[int, str]]


def ends(processes: Sequence[subprocess.Popen[str] | ForkedRingtree]) -> Ended:
    """The exit codes, and what each said besides progress, and for whom it waits where the machine is busy."""
    ended = []
    for process in processes:
        said = process.communicate(timeout=PATIENCE_S)[1]
        lines = [line for line in said.splitlines() if not line.startswith(("launch ", WAITING))]
        ended.append((process.returncode, " ".join(" ".join(lines).split())))
    return ended


def started_by(pid: int) -> list[int]:
    """The processes that one has started, and those have started: of an agent, its ranks of this launch among them."""
    own = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return own + [one for child in own for one in started_by(child)]


@pytest.mark.parametrize("victim", [1, 2])
def test_an_agent_that_dies_ends_the_run_with_what_was_stored(victim: int, tmp_path: Path) -> None:
    agents = fork_by_hand(3, *LONG, "--runs", str(tmp_path))
    read_until(agents[0], "launch 2 of 500")
    agents[victim].kill()
    ended = ends(agents)
    assert ended[0][0] == 1, ended
    assert f"rank {victim}" in ended[0][1]
    assert "continue with: ringtree compare --resume" in ended[0][1]
    other = 3 - victim
    assert ended[other] == (1, ""), "the others say nothing"
    assert read_run(find_run(tmp_path, "last")).launches


def test_arms_with_variables_of_their_own_have_launches_of_their_own_under_agents(tmp_path: Path) -> None:
    """Agents have the ranks of one environment at a time, on one host, too."""
    factors = ["--factors", "OMP_NUM_THREADS=1,2", "--arms", "gloo", "--sizes", "8", "--launches", "1"]
    agents = fork_by_hand(2, "compare", *factors, "--no-preflight", "--runs", str(tmp_path))
    assert ends(agents)[0][0] == 0
    launches = read_run(find_run(tmp_path, "last")).launches
    assert [len(launch.arms) for launch in launches] == [1, 1]
    assert all(cell.error is None for launch in launches for cell in launch.cells)


def test_a_lab_that_dies_is_told_by_one_agent(tmp_path: Path) -> None:
    agents = fork_by_hand(3, *LONG, "--runs", str(tmp_path))
    read_until(agents[0], "launch 2 of 500")
    agents[0].kill()
    ended = ends(agents)
    assert ended[0][0] == -signal.SIGKILL
    assert ended[1][0] == 1
    assert "rank 0" in ended[1][1]
    assert ended[2] == (1, "")


@pytest.mark.parametrize(("victims", "speaker"), [((0, 1), 2), ((1, 0, 2), 3), ((2, 0), 1), ((1, 2), 0)])
def test_of_agents_that_die_together_the_lowest_that_is_left_tells(
    victims: tuple[int, ...], speaker: int, tmp_path: Path
) -> None:
    agents = fork_by_hand(4, *LONG, "--runs", str(tmp_path))
    read_until(agents[0], "launch 2 of 500")
    started = [child for agent in agents for child in started_by(agent.pid)]
    for victim in victims:
        agents[victim].kill()
    ended = ends(agents)
    for rank, (code, said) in enumerate(ended):
        assert code == (-signal.SIGKILL if rank in victims else 1), ended
        assert bool(said) is (rank == speaker), ended
    named = re.search(r"ranks? ((?:\d+, )*\d+) ", ended[speaker][1])
    assert named is not None, ended
    assert set(range(speaker)) <= set(map(int, named[1].split(", "))) <= set(victims), ended
    assert wait_until(lambda: not any(map(is_running, started)), PATIENCE_S) is not None, "ranks end with their agents"


def test_ctrl_c_of_all_is_told_once(tmp_path: Path) -> None:
    """As a terminal sends it, and mpirun hands it on."""
    agents = fork_by_hand(2, *LONG, "--runs", str(tmp_path))
    read_until(agents[0], "launch 2 of 500")
    for agent in reversed(agents):
        agent.send_signal(signal.SIGINT)
    (code, said), other = ends(agents)
    assert code == 130, said
    assert "interrupted; all rank processes have ended; " in said
    assert "continue with: ringtree compare --resume" in said
    assert other[1] == ""


def test_ranks_that_disagree_on_the_world_size(tmp_path: Path) -> None:
    agents = fork_by_hand(2, *LONG, "--runs", str(tmp_path), of_last={"WORLD_SIZE": "3"})
    first, second = ends(agents)
    assert first[0] == 2, first
    assert re.fullmatch(r"ringtree: the ranks' world sizes differ: rank 0 .* has 2, rank 1 .* has 3: .*", first[1])
    assert second == (2, ""), "one process speaks"
    assert not list(tmp_path.iterdir())


OF_ANOTHER = {"PMI_RANK": "0", "PMI_SIZE": "7", "MPI_LOCALRANKID": "0"}
DISAGREE = r"two launchers disagree: the environment says rank {} of 2 .*, and MPICH says rank 0 of 7 .*"


def test_launchers_that_disagree_on_one_rank_are_told_by_rank_0(tmp_path: Path) -> None:
    asked, numbers = [*LONG, "--runs", str(tmp_path)], {"WORLD_SIZE": "2", "MASTER_PORT": str(free_ports(1)[0])}
    (agent,) = fork_by_hand(1, *asked, of_last=numbers)
    read_until(agent, f"{WAITING}rank 1")  # so there is a store
    first, second = ends([agent, *fork_by_hand(1, *asked, of_last=numbers | {"RANK": "1"} | OF_ANOTHER)])
    assert first[0] == 2, first
    assert re.fullmatch(rf"ringtree: rank 1, on \S+: {DISAGREE.format(1)}", first[1])
    assert second == (2, ""), "one process speaks"
    assert not list(tmp_path.iterdir())


def test_launchers_that_disagree_everywhere_are_told_once(tmp_path: Path) -> None:
    agents = fork_by_hand(2, *LONG, "--runs", str(tmp_path), **OF_ANOTHER)
    first, second = ends(agents)
    assert first[0] == 2, first
    assert re.fullmatch(rf"ringtree: {DISAGREE.format(0)}", first[1])
    # One process speaks, unless the other came when that had ended.
    assert second[0] == 2
    assert re.fullmatch(rf"|ringtree: {DISAGREE.format(1)}", second[1])


def test_a_secret_that_one_host_lacks_is_asked_for_there(tmp_path: Path) -> None:
    reason = why_no_hosts()
    if reason:
        pytest.skip(reason)
    with Hosts(2) as hosts:
        (port,) = free_ports(1)
        numbers = {
            "WORLD_SIZE": "2",
            "LOCAL_WORLD_SIZE": "1",
            "MASTER_ADDR": hosts.address(0),
            "MASTER_PORT": str(port),
            "RINGTREE_SECRET_FILE": str(hosts.secret_file),
        }
        (first,) = start_by_hand(1, *LONG, of_last=numbers, prefixes=[on_host(hosts, 0)])
        read_until(first, f"{WAITING}rank 1: the environment says rank 0 of 2")  # so it listens
        numbers |= {"RANK": "1", "RINGTREE_SECRET_FILE": ""}
        ((code, said),) = ends(start_by_hand(1, *LONG, of_last=numbers, prefixes=[on_host(hosts, 1)]))
        first.terminate()
        first.communicate(timeout=PATIENCE_S)
    assert code == 2
    assert re.fullmatch(r"ringtree: \S+: ranks on several hosts need a secret: .*", said)


def test_who_does_not_come_is_named_while_the_others_wait() -> None:
    """Rank 0 opens the store and stays, as long as this process does; ranks 1 and 3 never come."""
    store = f"unix:never-complete-{os.getpid()}"
    for rank in (0, 2):
        with pytest.raises(DeadlineError):
            init(rank, 4, store, name=MEETING, profile="", timeout=0.5)
    assert STORES.missing(store, 0, 4, MEETING, most=9) == [1, 3]
    assert STORES.missing(store, 0, 4, MEETING, most=1) == [1]
    assert STORES.missing(store, 0, 4, "another meeting", most=9) == []


@pytest.mark.parametrize(
    ("missing", "whom"),
    [
        ([], "the other processes"),
        ([3], "rank 3"),
        ([1, 3], "ranks 1, 3"),
        (range(1, 10), "ranks 1, 2, 3, 4, 5, 6, 7, 8, …"),
    ],
)
def test_the_line_of_who_waits(missing: Sequence[int], whom: str) -> None:
    said = waiting_line(Identity("Slurm", 0, 4, sources={"rank": "SLURM_PROCID"}), missing)
    assert said.startswith(f"{WAITING}{whom}: Slurm says rank 0 of 4 (SLURM_PROCID); ")


def test_variables_that_are_left_over_and_disagree_are_told_without_a_job() -> None:
    """The process is not the first of its host to one of the launchers, and nobody serves a store."""
    variables = OF_ANOTHER | {"PMI_RANK": "3", "RANK": "1", "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2"}
    ((code, said),) = ends(fork_by_hand(1, *LONG, of_last=variables))
    assert code == 2
    assert re.fullmatch(r"ringtree: two launchers disagree: the environment says rank 1 of 2 .*", said)


@pytest.mark.parametrize(("port", "shown"), [("70000", "70000"), ("abc", "'abc'")])
def test_a_port_that_is_none_on_one_host_is_told_there(port: str, shown: str) -> None:
    """Nobody can be told, as only MASTER_PORT says where rank 0 is."""
    ((code, said),) = ends(fork_by_hand(1, *LONG, RANK="1", WORLD_SIZE="2", LOCAL_WORLD_SIZE="1", MASTER_PORT=port))
    assert code == 2
    assert re.fullmatch(rf"ringtree: \S+: MASTER_PORT={shown} is not a port: use 1 to 65535", said)


@pytest.mark.parametrize("of_hosts", [{}, {"LOCAL_WORLD_SIZE": "3"}])
def test_a_port_that_is_none_everywhere_is_told_by_rank_0(of_hosts: dict[str, str]) -> None:
    first, *others = ends(fork_by_hand(3, *LONG, **of_hosts, MASTER_PORT="abc"))
    assert first == (2, "ringtree: MASTER_PORT='abc' is not a port: use 1 to 65535")
    assert others == [(2, "")] * 2, "one process speaks"


def test_a_rank_that_is_none_is_told_once_where_another_launcher_knows_it(tmp_path: Path) -> None:
    numbers = {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_LOCAL_SIZE": "2"}
    first, second = ends(
        fork_by_hand(
            2,
            *LONG,
            "--runs",
            str(tmp_path),
            **numbers,
            OMPI_COMM_WORLD_LOCAL_RANK="0",
            RANK="x",
            of_last={"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_LOCAL_RANK": "1"},
        )
    )
    assert first == (2, "ringtree: RANK='x' is not a number")
    assert second == (2, ""), "one process speaks"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("rank", "shown"), [("x", "'x'"), ("1" * 5000, f"'{'1' * 40}'… (5000 characters)")])
def test_a_rank_that_is_none_is_told_by_each_where_nobody_knows_it(rank: str, shown: str) -> None:
    ended = ends(fork_by_hand(2, *LONG, RANK=rank))
    assert ended == [(2, f"ringtree: RANK={shown} is not a number")] * 2


def test_a_rank_0_that_never_comes_is_told_by_the_lowest_that_does() -> None:
    """Two jobs side by side: each waits all of its budget, in which neither computes."""
    # Enough for both ranks to come: one that starts after the other has spoken can't know it.
    numbers = {"WORLD_SIZE": "4", "RINGTREE_JOIN_SECONDS": "20"}
    jobs = [
        [fork_by_hand(1, *LONG, **numbers, MASTER_PORT=str(port), RANK=rank)[0] for rank in ranks]
        for port, ranks in zip(free_ports(2), [("1", "2"), ("2", "3")], strict=True)
    ]
    for first, second in map(ends, jobs):
        assert first[0] == 1
        assert re.fullmatch(r"ringtree: rank 0 did not open .* raise RINGTREE_JOIN_SECONDS \(now 20\)", first[1])
        assert second == (1, ""), "one process speaks"


def test_a_rank_0_that_never_comes_to_torchruns_store_is_told_by_the_lowest_that_does() -> None:
    distributed = pytest.importorskip("torch.distributed")
    served = distributed.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    numbers = {
        "WORLD_SIZE": "4",
        "LOCAL_WORLD_SIZE": "1",
        "TORCHELASTIC_RUN_ID": "none",
        "TORCHELASTIC_USE_AGENT_STORE": "True",
        "MASTER_PORT": str(served.port),
        "RINGTREE_JOIN_SECONDS": "20",  # enough for both to come
        "TORCH_CPP_LOG_LEVEL": "ERROR",  # PyTorch warns of each wait that ends without a value
    }
    ended = ends([start_by_hand(1, *LONG, **numbers, RANK=rank)[0] for rank in ("2", "3")])
    assert ended[0][0] == 1
    assert re.fullmatch(r"ringtree: \S+: rank \d waited \S+ s for ranks 0, 1 of 4, which did not .*", ended[0][1])
    assert ended[1] == (1, ""), "one process speaks"


def test_a_rank_0_that_is_killed_while_the_others_join_is_told_once() -> None:
    variables = {"WORLD_SIZE": "4", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_ports(1)[0])}
    agents = fork_by_hand(3, *LONG, **variables)
    identity = identify(Surroundings(variables | {"RANK": "1"}))
    assert identity is not None
    observer = UnixStore(store_of(identity).removeprefix("unix:"), 1, PATIENCE_S)
    # They have come, and wait for rank 3.
    assert wait_until(lambda: missing_ranks(observer, f"{MEETING}/0", 4, 9) == [3], PATIENCE_S) is not None
    agents[0].kill()
    ended = ends(agents)
    assert ended[0][0] == -signal.SIGKILL
    assert [code for code, _ in ended[1:]] == [1, 1]
    # Most often rank 1; rank 2 where that one finds it out much later.
    (said,) = [text for _, text in ended[1:] if text]
    assert re.fullmatch(r"ringtree: .*rank 0, which serves the store .*, ended or closed it .*", said)


def test_a_host_without_the_secret_speaks_where_rank_0_does_not_come_in_time() -> None:
    numbers = {"RANK": "1", "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "1", "RINGTREE_SECRET_FILE": ""}
    ((code, said),) = ends(fork_by_hand(1, *LONG, **numbers, MASTER_ADDR="192.0.2.1", RINGTREE_JOIN_SECONDS="0.5"))
    assert code == 2
    assert re.fullmatch(r"ringtree: \S+: ranks on several hosts need a secret: .*", said)


def test_a_secret_that_is_missing_is_asked_for_once(tmp_path: Path) -> None:
    agents = fork_by_hand(
        2, *LONG, "--runs", str(tmp_path), LOCAL_WORLD_SIZE="1", MASTER_ADDR="192.0.2.1", RINGTREE_SECRET_FILE=""
    )
    first, second = ends(agents)
    assert first[0] == 2
    assert re.fullmatch(r"ringtree: \S+: ranks on several hosts need a secret: .*", first[1])
    assert second == (2, "")


def test_a_port_in_use_is_named(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        agents = fork_by_hand(1, *LONG, LOCAL_WORLD_SIZE="1", WORLD_SIZE="2", MASTER_PORT=port)
        ((code, said),) = ends(agents)
    assert code == 2
    assert f"the store at 127.0.0.1:{port} cannot listen, as another process has the port" in said


def test_a_host_name_that_does_not_resolve(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("x" * 32)
    secret.chmod(0o600)
    agents = fork_by_hand(
        1,
        *LONG,
        LOCAL_WORLD_SIZE="1",
        WORLD_SIZE="2",
        MASTER_ADDR="no-such-host.invalid",
        RINGTREE_SECRET_FILE=str(secret),
    )
    ((code, said),) = ends(agents)
    assert code == 2
    assert "cannot resolve host 'no-such-host.invalid'" in said


def test_other_versions_are_named_host_by_host() -> None:
    same = {"ringtree": "0.1.0", "numpy": "2.0", "torch": None}
    older = same | {"ringtree": "0.0.9", "torch": "2.13"}
    crew = [
        Hello(host_name="n0", cores=[0], versions=same, clock=(0, 1)),
        Hello(host_name="n1", cores=[0], versions=older, clock=(0, 1)),
        Hello(host_name="n1", cores=[1], versions=older, clock=(0, 1)),
    ]
    assert differing_versions(crew[:1]) is None
    said = differing_versions(crew)
    assert said is not None
    assert "ringtree is 0.0.9 on n1, 0.1.0 on rank 0's host" in said
    assert "torch is 2.13 on n1, missing on rank 0's host" in said
    assert said.count("on n1") == 2, "once a host"


def test_clocks_that_differ_are_named_with_the_amount() -> None:
    """A moment that one agent saw between 100.0 and 100.2 was between 96.1 and 140.1 at most for a slow one."""

    def crew(*clocks: tuple[float, float]) -> list[Hello]:
        return [Hello(host_name=f"n{n}", cores=[0], versions={}, clock=clock) for n, clock in enumerate(clocks)]

    first = (100.0, 100.2)
    assert differing_clocks(crew(first, (101.0, 101.2), (96.1, 140.1))) is None, "small, or not certain"
    assert differing_clocks(crew(first, (140.0, 140.2), first, (60.0, 60.2))) == (
        "clocks differ from that of rank 0's host: n1 is 40.0 s ahead, n3 is 40.0 s behind: "
        "synchronise them, e.g. with NTP"
    )
    twice = crew(first, (140.0, 140.2))
    said = differing_clocks([*twice, twice[1]])
    assert said is not None
    assert said.count("n1") == 1, "once a host"


def test_a_clock_that_is_off_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import time\nreal = time.time\ntime.time = lambda: real() - 40\n")
    agents = start_by_hand(2, *LONG, "--runs", str(tmp_path / "runs"), of_last={"PYTHONPATH": str(tmp_path)})
    first, second = ends(agents)
    assert first[0] == 2, first
    assert re.fullmatch(
        r"ringtree: clocks differ .*: \S+ is (39\.\d|40\.\d) s behind: synchronise them, e.g. with NTP", first[1]
    )
    assert second == (2, ""), "one process speaks"
    assert not (tmp_path / "runs").exists()


def test_an_agent_that_never_comes_is_named() -> None:
    alone = Identity("Slurm", 0, 2, local_size=2, job=f"no-such-job-{os.getpid()}", sources={"job": "SLURM_JOB_ID"})
    with pytest.raises(DeadlineError, match="rank 1") as late:
        Crew(alone, join_limit=0.5)
    assert late.value.ranks == (1,)


def test_agents_share_ranks_evenly() -> None:
    assert spread([0, 0, 1], 6) == [0, 0, 0, 0, 1, 1]
    assert local_ranks([0, 0, 1, 0, 1]) == [0, 1, 0, 2, 1]
