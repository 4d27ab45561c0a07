"""Parts of `ringtree ray` that need no Ray: which agent is which, files that come home, a process that is held.

For: ringtree.launchers.ray but job.py. Not for: agents on a Ray cluster (tests/python/compare/test_compare_ray.py).
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ringtree.errors import RingtreeError, UsageError
from ringtree.launchers import Surroundings, identify
from ringtree.launchers.jobs import KINDS, Job
from ringtree.launchers.ray.actor import AgentActor
from ringtree.launchers.ray.held_agent import HeldAgent
from ringtree.launchers.ray.job import Placement, RayJob
from ringtree.launchers.ray.mirror import PIECE_BYTES, Mirror, Piece, put
from ringtree.launchers.ray.seats import Found, seated

A, B = Found("id-a", "10.0.0.1", "a"), Found("id-b", "10.0.0.2", "b")


def test_ranks_of_a_node_are_neighbours() -> None:
    seats = seated([B, A, B, A, B])
    assert [seat.bundle for seat in seats] == [0, 2, 4, 1, 3]
    assert [(seat.rank, seat.node_rank, seat.local_rank, seat.local_size) for seat in seats] == [
        (0, 0, 0, 3),
        (1, 0, 1, 3),
        (2, 0, 2, 3),
        (3, 1, 0, 2),
        (4, 1, 1, 2),
    ]
    assert seats[3].found == A


def test_an_agent_knows_its_launcher() -> None:
    """Through the one place that reads launchers' variables."""
    variables = seated([B, A])[1].variables("02000000", "10.0.0.2", 4000)
    identity = identify(Surroundings({"RAY_JOB_ID": "ffffffff"} | variables))
    assert identity is not None
    assert (identity.launcher, identity.rank, identity.world_size, identity.job) == ("Ray", 1, 2, "02000000")
    assert (identity.address, identity.port, identity.several_hosts) == ("10.0.0.2", "4000", True)


def brought(mirror: Mirror, home: Path) -> list[str]:
    """Brings home what is new; returns the names of the files, once a piece."""
    pieces = list(mirror.changes())
    for piece in pieces:
        put(piece, home)
    return [piece.path for piece in pieces]


def test_files_come_home_as_they_grow(tmp_path: Path) -> None:
    there, home = tmp_path / "there", tmp_path / "home"
    run = there / "runs" / "r"
    run.mkdir(parents=True)
    (run / "launches.jsonl").write_bytes(b"")
    (run / "writer.lock").write_bytes(b"77")
    mirror = Mirror(there)
    assert brought(mirror, home) == ["runs/r/launches.jsonl"], "an empty file is one, too; the writer's lock stays"
    with (run / "launches.jsonl").open("ab") as file:
        file.write(b"one\n")
        file.flush()
        assert brought(mirror, home) == ["runs/r/launches.jsonl"]
        file.write(b"x" * (PIECE_BYTES + 1))
        file.flush()
        assert len(brought(mirror, home)) == 2
    assert brought(mirror, home) == []
    assert (home / "runs/r/launches.jsonl").read_bytes() == b"one\n" + b"x" * (PIECE_BYTES + 1)
    (run / "new").write_bytes(b"another file")
    (run / "new").replace(run / "launches.jsonl")
    brought(mirror, home)
    assert (home / "runs/r/launches.jsonl").read_bytes() == b"another file"
    assert not (home / "runs/r/writer.lock").exists()


@pytest.mark.parametrize("path", ["/etc/passwd", "../up", "runs/../../up", ""])
def test_files_stay_below_home(path: str, tmp_path: Path) -> None:
    with pytest.raises(RingtreeError, match="not below its folder"):
        put(Piece(path, 0, b""), tmp_path)
    assert not list(tmp_path.iterdir())


def test_what_ray_is_asked_for_is_checked_first() -> None:
    with pytest.raises(UsageError, match="invalid strategy 'NEAR': choose one of STRICT_SPREAD"):
        RayJob(Placement(strategy="NEAR"))
    with pytest.raises(UsageError, match="ray job submit"):
        RayJob(Placement(address="ray://head:10001"))


def test_a_missing_ray_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UsageError, match=r"pip install 'ringtree\[ray\]'"), RayJob(Placement()):
        pass


def test_the_script_for_ray_job_submit_keeps_every_word() -> None:
    words = ("compare", "--arms", "ring,auto", "--sizes", "it's mine")
    job = Job(words, 4, name="nightly", ranks_per_host=2, seconds=600, environment={"A": "b c"})
    (file,) = KINDS["ray"].render(job)
    said = shlex.split(file.text.split("exec ")[1].replace("\\\n", ""))
    assert tuple(said[said.index("--") + 1 :]) == words
    assert said[:4] == ["timeout", "--signal=TERM", "--kill-after=60", "600"]
    for option, value in (("--agents", "4"), ("--cpus", "2"), ("--env", "A=b c"), ("--home", "$HOME/nightly")):
        assert said[said.index(option) + 1] == value


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"host_names": ("a", "b")}, "Ray chooses the nodes"),
        ({"environment": {"RINGTREE_SECRET_FILE": "/home/me/job.secret"}}, "leave it out"),
        ({"words": ("compare", "--runs", "x")}, "leave --runs out"),
    ],
)
def test_what_a_script_for_ray_refuses(changed: dict[str, Any], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        KINDS["ray"].render(Job(**dict[str, Any](words=("compare",), num_hosts=2) | changed))


def held(script: str, folder: Path) -> HeldAgent:
    """A shell in place of an agent."""
    return HeldAgent(["/bin/sh", "-c", script], {"WORD": "said"}, folder, folder / "place")


def said_by(agent: HeldAgent) -> dict[str, bytes]:
    said = {"out": b"", "err": b""}
    for come in agent.output(0.1):
        for which, content in come:
            said[which] += content
    return said


def test_output_and_exit_code_of_a_held_agent(tmp_path: Path) -> None:
    agent = held("echo $WORD; pwd; echo wrong >&2; exit 7", tmp_path)
    said = said_by(agent)
    assert said == {"out": b"said\n" + os.fsencode(tmp_path) + b"\n", "err": b"wrong\n"}
    assert agent.close() == 7


def test_a_signal_reaches_an_agent_whose_holder_blocks_it(tmp_path: Path) -> None:
    """As Ray's workers do."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        agent = held("trap 'echo caught; exit 3' INT; echo ready; while :; do sleep 0.05; done", tmp_path)
        told = False
        said = b""
        for come in agent.output(0.1):
            said += b"".join(content for _, content in come)
            if b"ready" in said and not told:
                told = True
                agent.signal(signal.SIGINT)
        assert said == b"ready\ncaught\n"
        assert agent.close() == 3
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def test_an_agent_ends_with_its_holder(tmp_path: Path) -> None:
    """The end of the pipe is what a holder that was killed leaves; the files, with the secret, go as well."""
    place = tmp_path / "place"
    place.mkdir()
    (place / "secret").write_text("x")
    agent = held("trap 'echo ended; exit 4' TERM; echo ready; while :; do sleep 0.05; done", tmp_path)
    said = b""
    for come in agent.output(0.1):
        said += b"".join(content for _, content in come)
        if said == b"ready\n":
            os.dup2(os.open(os.devnull, os.O_WRONLY), agent._hold)
    assert said == b"ready\nended\n"
    gone = 'while [ -e "$0" ]; do sleep 0.1; done'  # the guard is no child of this process that could be waited for
    subprocess.run(["/bin/sh", "-c", gone, str(place)], timeout=60, check=True)
    assert agent.close() == 4


def test_an_actor_brings_home_what_its_agent_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Ray, whose actors are such objects; `ringtree launchers` stands for a command that measures."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    variables = seated([A, A])[0].variables("03000000", "127.0.0.1", 4000)
    events = [
        event
        for batch in AgentActor().run(["launchers"], variables, "s" * 64, [Piece("runs/x", 0, b"there")], True)
        for event in batch
    ]
    assert events[-1] == ("ended", 0)
    out = b"".join(event[1] for event in events if event[0] == "out").decode()
    assert out.startswith("launcher: Ray\n")
    assert "03000000" in out
    assert not [event for event in events if event[0] == "file"], "home has it"
    assert not list(tmp_path.iterdir()), "nothing is left"


def test_an_actor_that_was_told_to_end_starts_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    actor = AgentActor()
    actor.signal(signal.SIGINT)
    with pytest.raises(UsageError, match="before it began"):
        list(actor.run(["launchers"], {}, "s" * 64, [], True))
    assert not list(tmp_path.iterdir())
