"""`ringtree ray`: start a command of ringtree as agents on a Ray cluster, and bring what comes of it home.

For: what the driver prints, stores and ends with. Not for: Ray (ringtree.launchers.ray), or what the command does: each
agent is a process that was told its rank, as under any launcher.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from types import FrameType
from typing import Annotated

import typer

from ringtree.cli.options import RUNS, Env, variables, with_default
from ringtree.cli.outcome import FAILED, exit_codes
from ringtree.errors import RingtreeError, UsageError, os_errors
from ringtree.launchers.ray.job import STRATEGIES, Placement, RayJob
from ringtree.launchers.ray.mirror import Mirror, Piece, put
from ringtree.results import find_run
from ringtree.show.printable import printable

CONTEXT = {"ignore_unknown_options": True, "allow_interspersed_args": False}
_NONE: list[str] = []
_NAMES_A_RUN = ("--resume", "--fail-if-slower-than")


def ray(
    command: Annotated[
        list[str],
        typer.Argument(metavar="COMMAND...", help="A ringtree command with its options, as you would pass it to srun."),
    ],
    agents: Annotated[
        int | None,
        typer.Option(
            min=1,
            help=with_default(
                "Number of agents: the processes that start the ranks.", "one on each node that has the CPUs"
            ),
        ),
    ] = None,
    place: Annotated[
        str, typer.Option(help=f"Ray's placement strategy: {', '.join(STRATEGIES)}. STRICT_SPREAD: one agent per node.")
    ] = STRATEGIES[0],
    cpus: Annotated[float, typer.Option(min=0, help="CPUs that Ray reserves for each agent and its ranks.")] = 1,
    gpus: Annotated[float, typer.Option(min=0, help="GPUs that Ray reserves for each agent.")] = 0,
    address: Annotated[
        str | None,
        typer.Option(
            help=with_default("Address of the cluster; local: start one on this machine.", "as in ray.init()")
        ),
    ] = None,
    env: Env = _NONE,
    wait: Annotated[float, typer.Option(min=0, help="Seconds to wait for Ray to place all agents.")] = 60,
    home: Annotated[Path, typer.Option(help="Where to copy rank 0's files after each launch.")] = Path(),
) -> None:
    """Run a ringtree command on a Ray cluster, with one agent (a Ray actor) per node or as many as you ask for."""
    with exit_codes():
        files, given = files_for(command, home), variables(env)
        with RayJob(Placement(agents, place, cpus, gpus, address, wait)) as job, _signals() as come:
            _attend(job, command, given, files, home, come)
        for said in job.lost.values():
            typer.echo(f"ringtree: {printable(said)}", err=True)
        if job.code is None and 0 not in job.lost:
            raise RingtreeError("the agent of rank 0 did not end in time and was killed")
        code = FAILED if job.code is None else job.code
        if code:
            raise typer.Exit(code if code > 0 else 128 - code)


def files_for(command: Sequence[str], home: Path) -> list[Piece]:
    """Returns the files of the runs that the command names, which rank 0 must find. Raises UsageError, also for a
    --runs that is not below `home`."""
    options = dict(_options(command))
    runs = PurePosixPath(options.get("--runs", str(RUNS)))
    if runs.is_absolute() or ".." in runs.parts:
        raise UsageError(f"--runs {runs} is a folder of another machine: give one below --home")
    pieces: list[Piece] = []
    for name in _NAMES_A_RUN:
        if name in options:
            path = find_run(home / runs, options[name])
            pieces += [
                Piece(str(runs / path.name / piece.path), piece.offset, piece.content)
                for piece in Mirror(path).changes()
            ]
    return pieces


def _options(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    for word, following in zip(words, [*words[1:], ""], strict=True):
        name, equals, value = word.partition("=")
        if name.startswith("--"):
            yield name, value if equals else following


def _attend(
    job: RayJob, command: Sequence[str], given: Mapping[str, str], files: Sequence[Piece], home: Path, come: list[int]
) -> None:
    """Prints and stores what comes; hands on the first signal."""
    told = False
    others = bytearray()  # what agents other than rank 0's say: the same of all of them, if it is the user's mistake
    said = bytearray()
    width = shutil.get_terminal_size().columns
    mine = {n: v for n, v in os.environ.items() if n == "RINGTREE_PROFILE"}
    environment = {"COLUMNS": str(width), **mine, **given}
    with os_errors("can't print"):
        for batch in job.events(command, environment, files):
            for rank, event in batch:
                match event:
                    case ("out", content):
                        _write(1, content)
                    case ("err", content) if rank == 0:
                        said += content
                        _write(2, content)
                    case ("err", content):
                        others += content
                    case ("file", piece):
                        put(piece, home)
            if come and not told:
                told = True
                job.tell(come[0])
    known = set(bytes(said).splitlines())
    for line in dict.fromkeys(bytes(others).splitlines()):
        if line not in known:
            _write(2, line + b"\n")


def _write(descriptor: int, content: bytes) -> None:
    """As it came: a piece may end in the middle of a letter."""
    stream = (sys.stdout if descriptor == 1 else sys.stderr).buffer
    stream.write(content)
    stream.flush()


@contextlib.contextmanager
def _signals() -> Iterator[list[int]]:
    """Inside, SIGINT and SIGTERM are written down; the second one raises KeyboardInterrupt."""
    come: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        come.append(number)
        if len(come) > 1:
            raise KeyboardInterrupt

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield come
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
