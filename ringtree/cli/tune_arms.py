"""`ringtree tune --arms openmpi`: which of a library's own switches is fastest at which size, and what to deploy.

For: the options of such a tuning. Not for: the engine's profile (tune.py), or measuring and
choosing (ringtree.tune.library).
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import typer
from rich.console import Console

from ringtree.comm.meeting import refuse_launched
from ringtree.errors import UsageError, os_errors
from ringtree.measure.plan import fresh_seed
from ringtree.measure.progress import LiveProgress
from ringtree.show.cells import console_for_tables
from ringtree.show.library_tuning import print_library_rules
from ringtree.tune.library.switches import COLLECTIVE, library_of
from ringtree.tune.library.tuning import LibraryAsked, tune_library
from ringtree.tune.request import DEFAULT_BUDGET, Asked
from ringtree.units import parse_counts, parse_duration

DEFAULT_SIZES = "8:8M:4"


def tune_arms(arms: str, asked: Asked, output: Path | None, runs: Path, json: bool) -> None:
    """Tunes one library after the other, each with its part of the time. Raises UsageError."""
    refuse_launched("ringtree tune --arms")
    names = list(dict.fromkeys(name.strip() for name in arms.split(",")))
    for name in names:
        library_of(name)
    if asked.collectives not in (None, COLLECTIVE):
        raise UsageError(f"--arms tunes {COLLECTIVE}: leave --collectives {asked.collectives} out")
    if output is not None and len(names) > 1:
        raise UsageError("-o names the file of one library: leave it out, or tune one after the other")
    asked_of_each = [
        LibraryAsked(
            arm=name,
            num_ranks=_num_ranks(asked.ranks),
            sizes=asked.sizes or DEFAULT_SIZES,
            budget=parse_duration(asked.budget or DEFAULT_BUDGET) / len(names),
            seed=fresh_seed() if asked.seed is None else asked.seed,
            file=output,
        )
        for name in names
    ]
    for one in asked_of_each:
        with os_errors(f"can't write {one.place}"):
            found = tune_library(one, runs, partial(LiveProgress, Console(stderr=True)))
        if json:
            typer.echo(found.model_dump_json())
        else:
            print_library_rules(console_for_tables(), found)


def _num_ranks(text: str | None) -> int:
    if text is None:
        return max(2, len(os.sched_getaffinity(0)))
    counts = parse_counts(text, "ranks")
    if len(counts) != 1 or counts[0] < 2:
        raise UsageError(f"--arms tunes one number of ranks at a time, 2 or more, not {text}")
    return counts[0]
