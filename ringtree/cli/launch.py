"""`ringtree launch`: a ready job file for a cluster's scheduler, printed, written or handed over.

For: options, and writing and submitting what was rendered. Not for: what stands in the files (ringtree.launchers.jobs),
or starting ranks by itself: that is the cluster's.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from dataclasses import field, make_dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from ringtree.cli.commands import loaded
from ringtree.cli.options import Env, asks, variables, written
from ringtree.cli.outcome import exit_codes
from ringtree.errors import UsageError, os_errors
from ringtree.launchers.host_lists import expand
from ringtree.launchers.jobs import KINDS, Job, JobFile, Kind
from ringtree.launchers.jobs.job import DEFAULT_PORT
from ringtree.units import parse_duration

# Commands that agents can serve -> parameter for the number of ranks, how it is written, and whether it counts those
# of one process.
RANKS = {
    "compare": ("ranks", "--ranks", False),
    "train": ("ranks", "--ranks", False),
    "tune": ("ranks", "--ranks", False),
    "bench": ("ngpus", "-g", True),
}
REACH_SECONDS = 60.0  # a client that loads much and asks a far cluster
OF_SOME_KINDS = ("port", "image", "claim", "wheel")
# After `--` comes another command's line, options and all.
CONTEXT = {"allow_interspersed_args": False}

_NONE: list[str] = []
_Which: Any = make_dataclass("_Which", [(name, bool, field(default=False)) for name in KINDS], frozen=True)
_OPTIONS = {name: typer.Option(f"--{name}", help=kind.summary) for name, kind in KINDS.items()}


@asks(_Which, _OPTIONS)
def launch(
    context: typer.Context,
    asked: Any,
    command: Annotated[
        list[str], typer.Argument(metavar="-- COMMAND...", help="compare, train, tune or bench, with its options.")
    ],
    hosts: Annotated[str, typer.Option(help="Number of hosts, or their names: 4, gpu[01-04], or a,b.")] = "2",
    ranks_per_host: Annotated[
        int, typer.Option(min=1, help="Ranks per host, started by one ringtree process on each host.")
    ] = 1,
    name: Annotated[str, typer.Option(help="Name of the job and its files.")] = "ringtree",
    time: Annotated[str, typer.Option(help="Time limit of the job.")] = "30m",
    python: Annotated[
        str | None,
        typer.Option(
            help="Python with ringtree on the hosts. Default: with Slurm, the path of this Python, else python3."
        ),
    ] = None,
    env: Env = _NONE,
    port: Annotated[
        int, typer.Option(min=1, max=65535, help="Port where ranks meet, unless it follows from the job's id.")
    ] = DEFAULT_PORT,
    image: Annotated[str | None, typer.Option(help="Container image that has ringtree.")] = None,
    claim: Annotated[str | None, typer.Option(help="PersistentVolumeClaim that keeps the runs.")] = None,
    wheel: Annotated[Path | None, typer.Option(help="Wheel of ringtree to install on the hosts first.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="DIR", help="Directory to write the files to.")
    ] = None,
    submit: Annotated[
        bool, typer.Option("--submit", help="Also submit the job with the cluster's own client.")
    ] = False,
) -> None:
    """Print a job file that runs a ringtree command on a cluster: for Slurm, Kubernetes, Ray or Ansible."""
    with exit_codes():
        chosen = _one_of(asked)
        idle = written(context, *(name for name in OF_SOME_KINDS if name not in KINDS[chosen].uses))
        if idle:
            raise UsageError(f"--{chosen} has no use for {', '.join(idle)}: leave it out")
        names = () if hosts.isdigit() else expand(hosts)
        num_hosts = int(hosts) if hosts.isdigit() else len(names)
        job = Job(
            words=with_ranks(command, num_hosts, ranks_per_host),
            num_hosts=num_hosts,
            name=name,
            host_names=names,
            ranks_per_host=ranks_per_host,
            seconds=round(parse_duration(time)),
            python=python,
            environment=variables(env),
            port=port,
            image=image,
            claim=claim,
            wheel=wheel,
        )
        if output is None and not submit:
            _print(chosen, job)
        else:
            _hand_over(chosen, job, Path(job.name) if output is None else output, submit)


def _print(chosen: str, job: Job) -> None:
    files = KINDS[chosen].render(job)
    if len(files) > 1:
        raise UsageError(f"--{chosen} makes several files: say where to write them, with -o DIR")
    typer.echo(files[0].text, nl=False)


def _hand_over(chosen: str, job: Job, folder: Path, submit: bool) -> None:
    """Writes the files, and becomes the cluster's client where that is asked for."""
    kind = KINDS[chosen]
    files = kind.render(job)
    paths = [folder / file.name for file in files]
    client = None if kind.submit is None else kind.submit(job, paths)
    if submit:
        _check_client(chosen, client)
        _check_cluster(kind)
    write_files(paths, files)
    typer.echo(f"written: {', '.join(map(str, paths))}", err=True)
    if client is not None and submit:
        os.execvp(client[0], client)  # which speaks for itself from here on
    if client is not None:
        typer.echo(f"submit it with: {shlex.join(client)}", err=True)


def with_ranks(command: list[str], num_hosts: int, ranks_per_host: int) -> tuple[str, ...]:
    """Returns the words of a command that is known and whose options are, with its number of ranks unless it says one.
    Raises UsageError."""
    name, *rest = command
    if name not in RANKS:
        raise UsageError(f"{name!r} does not run on several hosts: after -- comes {', '.join(RANKS)}")
    # Ends here for a mistake, not after hours in a queue.
    context = loaded(name).make_context(f"ringtree {name}", list(rest))
    if context.args:
        raise UsageError(f"{name} does not know {context.args[0]!r}: see ringtree {name} --help")
    if context.params.get("script"):
        raise UsageError("a script of your own is started on one host, without a launcher: run ringtree train there")
    parameter, option, of_one = RANKS[name]
    source = context.get_parameter_source(parameter)
    if (source is not None and source.name == "COMMANDLINE") or context.params.get("resume_run") is not None:
        return tuple(command)
    return (name, option, str(ranks_per_host if of_one else num_hosts * ranks_per_host), *rest)


def write_files(paths: list[Path], files: list[JobFile]) -> None:
    """Writes files that are not there yet, secrets for their owner only. Raises UsageError."""
    for path in paths:
        if path.exists():
            raise UsageError(f"{path} exists already: choose another folder (-o) or name (--name)")
    for path, file in zip(paths, files, strict=True):
        with os_errors(f"can't write {path}"):
            path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if file.is_secret else 0o644)
            with open(handle, "w", encoding="utf-8") as writer:
                writer.write(file.text)


def _one_of(asked: Any) -> str:
    chosen = [name for name in KINDS if getattr(asked, name)]
    if len(chosen) != 1:
        raise UsageError(f"choose one of {', '.join(f'--{name}' for name in KINDS)}")
    return chosen[0]


def _check_client(chosen: str, client: list[str] | None) -> None:
    if client is None:
        raise UsageError(f"--{chosen} has no client to submit to: write the files with -o and start them yourself")
    if shutil.which(client[0]) is None:
        raise UsageError(f"{client[0]} is not installed here: write the files with -o and submit them where it is")


def _check_cluster(kind: Kind) -> None:
    """Before anything is written, so that the same command works once the cluster is there. Raises UsageError."""
    if kind.reach is None:
        return
    command, then = kind.reach
    words = shlex.join(command)
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=REACH_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise UsageError(f"`{words}` has not answered in {REACH_SECONDS:g} s: {then}") from None
    if done.returncode:
        last = next((line for line in reversed((done.stdout + done.stderr).splitlines()) if line.strip()), "no reason")
        raise UsageError(f"`{words}` reaches no cluster ({last.strip()}): {then}")
