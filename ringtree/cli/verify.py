"""`ringtree verify`: prove schedules right for given numbers of ranks, or name the step that is wrong.

For: the built-in algorithms, or a schedule stored in a file. Not for: what is proved (core/verify).
"""

from __future__ import annotations

import json as json_format
import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from ringtree.cli.options import AsJson, OnHosts
from ringtree.cli.outcome import FAILED, exit_codes
from ringtree.errors import UsageError
from ringtree.schedules import algorithms
from ringtree.schedules.format import from_json
from ringtree.schedules.schedule import schedule as make_schedule
from ringtree.schedules.schedule import verify_report
from ringtree.traits import COLLECTIVES
from ringtree.units import count, parse_counts, parse_hosts

ALL = "all"


def verify(
    file: Annotated[Path | None, typer.Argument(help="A stored schedule (JSON) instead of the built-in ones.")] = None,
    algorithm: Annotated[str, typer.Option(help="An algorithm, or all.")] = ALL,
    collective: Annotated[str, typer.Option(help="A collective, or all.")] = ALL,
    ranks: Annotated[str, typer.Option(help="Rank counts, e.g. 4, 1-64 or 2,4,8.")] = "1-64",
    hosts: OnHosts = None,
    json: AsJson = False,
) -> None:
    """Prove schedules correct: every contribution counted exactly once, every send received in order, no deadlock."""
    with exit_codes():
        started = time.monotonic()
        if file is None:
            where: list[int | list[int]] = [*parse_counts(ranks, "ranks")] if hosts is None else [parse_hosts(hosts)]
            checks = verify_built_in(algorithm, collective, where, Console(stderr=True))
        else:
            checks = [verify_one(_load(file), file.name)]
        failures = [check for check in checks if not check["ok"]]
        seconds = time.monotonic() - started
        if json:
            record = {
                "format": "ringtree.verification/1",
                "num_checked": len(checks),
                "num_failed": len(failures),
                "seconds": seconds,
                "checks": checks,
            }
            typer.echo(json_format.dumps(record, indent=1))
        else:
            for check in failures:
                typer.echo(
                    f"FAILED {check['collective']} {check['algorithm']} n={check['num_ranks']}: {check['problem']}"
                )
            typer.echo(
                f"{count(len(checks) - len(failures), 'schedule')} verified, {len(failures)} failed in {seconds:.1f} s"
            )
        if failures:
            raise typer.Exit(FAILED)


def verify_built_in(
    algorithm: str, collective: str, where: list[int | list[int]], console: Console
) -> list[dict[str, Any]]:
    """Verifies each chosen algorithm of each chosen collective for each number of ranks, or list of their hosts."""
    several_hosts = any(isinstance(ranks, list) for ranks in where)
    checks = []
    with console.status("verifying") as status:
        for name, of in _chosen(algorithm, collective, several_hosts):
            for ranks in where:
                hosts = ranks if isinstance(ranks, list) else None
                num_ranks = len(ranks) if isinstance(ranks, list) else ranks
                status.update(f"verifying {of} {name} with {count(num_ranks, 'rank')}")
                checks.append(verify_one(make_schedule(of, name, ranks=num_ranks, hosts=hosts), name))
    return checks


def verify_one(schedule: Any, algorithm: str) -> dict[str, Any]:
    """Verifies one schedule; "problem" is empty if it is proved, else it names the step or link."""
    return {
        "collective": schedule.collective,
        "algorithm": algorithm,
        "num_ranks": schedule.num_ranks,
        **verify_report(schedule),
    }


def _chosen(algorithm: str, collective: str, several_hosts: bool) -> list[tuple[str, str]]:
    if collective != ALL and collective not in COLLECTIVES:
        raise UsageError(f"unknown collective {collective!r}; choose from: {', '.join(COLLECTIVES)}, {ALL}")
    chosen = COLLECTIVES if collective == ALL else (collective,)
    # One that is named is proved; "all" leaves out what one host has no use for.
    every = several_hosts or algorithm != ALL
    kind = None if algorithm != ALL else several_hosts
    pairs = [
        (name, of)
        for of in chosen
        for name in (
            *algorithms.names(of, several_hosts=every),
            *algorithms.switch_names(of, several_hosts=kind),
        )
    ]
    wanted = [(name, of) for name, of in pairs if algorithm in (ALL, name)]
    if algorithms.parts(algorithm) != [(algorithm, 1)]:  # a mix
        wanted = [(algorithm, of) for of in chosen if algorithms.is_known(algorithm, of)]
    if not wanted:
        names = ", ".join(dict.fromkeys(name for name, _ in pairs))
        raise UsageError(f"unknown algorithm {algorithm!r}; for {collective}, choose from: {names}, {ALL}")
    return wanted


def _load(file: Path) -> Any:
    try:
        text = file.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"can't read {file}: {getattr(error, 'strerror', None) or 'no text file'}") from error
    return from_json(text)
