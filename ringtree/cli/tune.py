"""`ringtree tune`: measure which configuration is fastest here, and write it down for `auto`.

For: the options of a tuning and of its check. Not for: measuring or choosing (ringtree.tune).

The result goes to standard output, everything else to standard error. Started by a launcher, as `ringtree
compare` can be, it tunes for the ranks that it started; the process of rank 0 is the one that speaks and writes.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ringtree.cli.agents import as_lab_or_agent
from ringtree.cli.options import RUNS, AsJson, Runs, asks, with_default
from ringtree.cli.outcome import exit_codes
from ringtree.cli.tune_arms import tune_arms
from ringtree.comm.profile import default_path
from ringtree.comm.profile_format import Profile, read_profile, this_machine, why_not_here, with_tables_kept
from ringtree.errors import RingtreeError, UsageError, os_errors
from ringtree.measure.crew import Crew
from ringtree.results.files import make_directory, write_whole
from ringtree.show.cells import console_for_tables, say
from ringtree.show.tuning import left_out, print_profile, print_regrets, regret_report
from ringtree.tune.build import build_profile
from ringtree.tune.history import History
from ringtree.tune.hosts import hosts_of
from ringtree.tune.launch import measure_launch
from ringtree.tune.measured import CHECK, TUNE, Header, TuneRequest
from ringtree.tune.progress import TuneProgress
from ringtree.tune.regret import regrets
from ringtree.tune.request import (
    DEFAULT_BUDGET,
    DEFAULT_COLLECTIVES,
    DEFAULT_SIZES,
    Asked,
    check_request,
    make_request,
)
from ringtree.tune.state import state_of
from ringtree.tune.tuning import begin_or_resume, run

OPTIONS = {
    "arms": None,
    "ranks": with_default("Rank counts to tune for, e.g. 2,4.", "2, 4 and the number of cores"),
    "collectives": with_default("Comma-separated collectives.", DEFAULT_COLLECTIVES),
    "sizes": with_default("Sizes in bytes: a list, first:last (×2) or first:last:factor.", DEFAULT_SIZES),
    "buffers": with_default(
        "private, shared (ringtree.empty) or private,shared.", "private; also shared if every rank has a core"
    ),
    "budget": with_default("Target duration.", DEFAULT_BUDGET),
    "seed": with_default("Seed for order and data.", "random, recorded"),
}


@asks(Asked, OPTIONS)
def tune(
    asked: Asked,
    arms: Annotated[
        str | None,
        typer.Option(help="Tune openmpi, mpich, impi or oneccl instead of ringtree, and write rules for that library."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help=with_default(
                "Profile to write, or to check with --check; with --arms, the library's rules file.",
                "where auto looks for it",
            ),
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue an interrupted tuning with its original options.")
    ] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Discard an interrupted tuning and start over.")] = False,
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Measure how much slower auto is than the best choice, at sizes that were not tuned."
        ),
    ] = False,
    runs: Runs = RUNS,
    json: AsJson = False,
) -> None:
    """Measure this machine (takes minutes, can be resumed) and write the profile that auto uses."""
    with exit_codes():
        if arms is not None:
            others = {"buffers": asked.buffers, "resume": resume, "fresh": fresh, "check": check}
            unfit = [name for name, value in others.items() if value]
            if unfit:
                raise UsageError(f"--{unfit[0]} applies only to ringtree's own profile: leave it or --arms out")
            tune_arms(arms, asked, output, runs, json)
            return
        place = (default_path() if output is None else output).absolute()
        given = [name for name, value in vars(asked).items() if value is not None]
        if resume and fresh:
            raise UsageError("choose one of --resume and --fresh")
        if resume and given:
            raise UsageError(f"--resume continues with the original options: leave --{given[0]} out")
        if check and (asked.collectives is not None or asked.sizes is not None):
            raise UsageError(
                "--check takes collectives and sizes from the profile: leave --collectives and --sizes out"
            )

        def measure(crew: Crew | None) -> None:
            request = None if resume else _request(place, check, asked, crew)
            with os_errors(f"can't make {place.parent}"):
                if not place.parent.exists():
                    make_directory(place.parent)
            header, history = _measure(state_of(place, CHECK if check else TUNE), request, fresh, crew)
            if check:
                _finish_check(header.request, history, json)
            else:
                _finish_tune(place, header, history, json)

        as_lab_or_agent(measure)


def _request(place: Path, check: bool, asked: Asked, crew: Crew | None) -> TuneRequest:
    hosts = None if crew is None else hosts_of(crew, asked.ranks)
    if check:
        profile = read_profile(place)
        reason = why_not_here(profile.machine, this_machine())
        if reason is not None:
            raise UsageError(f"{place} is not used here: {reason}")
        return check_request(profile, str(place), asked, hosts)
    return make_request(asked, hosts)


def _measure(state: Path, request: TuneRequest | None, fresh: bool, crew: Crew | None) -> tuple[Header, History]:
    stderr = Console(stderr=True)
    header, stored = begin_or_resume(state, request, fresh)
    _check_crew(header.request, crew)
    if stored is not None:
        say(stderr, f"continuing the tuning of {header.created_utc} in {state}")
    with TuneProgress(stderr, header.request) as progress:
        history = run(state, header, stored, progress.on_progress, partial(measure_launch, crew=crew))
    for line in left_out(history):
        say(stderr, line)
    return header, history


def _check_crew(request: TuneRequest, crew: Crew | None) -> None:
    """One that was interrupted may have been begun on other hosts."""
    begun = (request.worlds[0].num_hosts, request.worlds[0].num_ranks)
    hosts = None if crew is None else hosts_of(crew, str(begun[1]))
    if begun[0] > 1 if hosts is None else begun != (hosts.num_hosts, hosts.num_ranks):
        raise UsageError(f"the interrupted tuning ran on {request.worlds[0].words}: start as many, or pass --fresh")


def _finish_tune(place: Path, header: Header, history: History, json: bool) -> None:
    profile = build_profile(header, history)
    if place.exists():
        profile = _with_tables_kept(profile, place)
    text = profile.model_dump_json(indent=1) + "\n"
    with os_errors(f"can't write {place}"):
        write_whole(place, text.encode())
    if json:
        typer.echo(text, nl=False)
    else:
        print_profile(console_for_tables(), profile)
    say(Console(stderr=True), f"{history.num_rounds} rounds in {history.wall_seconds:.0f} s; profile: {place}")


def _with_tables_kept(profile: Profile, place: Path) -> Profile:
    """What the profile there says about other collectives and numbers of ranks still holds."""
    try:
        before = read_profile(place)
    except UsageError as problem:
        say(Console(stderr=True), f"replaced as a whole: {problem}")
        return profile
    together = with_tables_kept(profile, before)
    for table in together.tables:
        if table.measured_utc is not None:
            say(Console(stderr=True), f"kept of {table.measured_utc[:10]}: {table.title}")
    return together


def _finish_check(request: TuneRequest, history: History, json: bool) -> None:
    found = regrets(request, history)
    if not found:
        raise RingtreeError("too few rounds to say how far auto is behind the best choice: raise --budget")
    report = regret_report(request.profile, found)
    if json:
        typer.echo(report.model_dump_json(indent=1))
    else:
        print_regrets(console_for_tables(), report)
