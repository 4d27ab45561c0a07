"""`ringtree which`: what auto would run at a size, and why.

For: the options of the question. Not for: answering it (ringtree.tune.explain). No rank is started.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from ringtree.cli.outcome import exit_codes
from ringtree.cli.text import cell, console_for_tables
from ringtree.errors import UsageError
from ringtree.lab.printable import printable
from ringtree.lab.units import format_change, format_size, format_time, parse_hosts, parse_size
from ringtree.profile import load
from ringtree.profile_format import describe_world
from ringtree.tune.explain import Explanation, explain

MAX_RANKS = 1024


def which(
    size: Annotated[str, typer.Option(help="Bytes of a rank's larger buffer, e.g. 8, 4K or 1M.")],
    ranks: Annotated[int | None, typer.Option(help="Number of ranks.")] = None,
    hosts: Annotated[
        str | None, typer.Option(help="Ranks on several hosts instead: 2x4, or 3,2,1 for unequal ones.")
    ] = None,
    collective: Annotated[str, typer.Option(help="The collective.")] = "all_reduce",
    shared_buffers: Annotated[
        bool, typer.Option("--shared-buffers", help="Of a communicator that was made with shared_buffers=True.")
    ] = False,
    profile: Annotated[Path | None, typer.Option(help="A profile other than the one that auto looks for.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the choice as JSON and nothing else.")] = False,
) -> None:
    """Say which algorithm and protocol auto would run, and why: by the measured profile, or by the model."""
    with exit_codes():
        where = None if hosts is None else parse_hosts(hosts)
        if (ranks is None) == (where is None):
            raise UsageError("say --ranks, or --hosts (hosts x ranks of each)")
        ranks = ranks or len(where or ())
        if not 1 <= ranks <= MAX_RANKS:
            raise UsageError(f"--ranks must lie in 1..{MAX_RANKS}, not {ranks}")
        size_bytes = parse_size(size)
        if size_bytes < 1:
            raise UsageError("--size must be at least one byte: nothing is chosen for nothing")
        found = explain(load(profile), collective, ranks, size_bytes, shared_buffers, where)
        if json:
            typer.echo(found.model_dump_json(indent=1))
        else:
            _print(console_for_tables(), found)


def _print(console: Console, found: Explanation) -> None:
    label = found.algorithm if found.configuration is None else found.configuration.label
    num_hosts = 1 if found.hosts is None else max(found.hosts) + 1
    world = describe_world(found.num_ranks, found.own_cores, found.shared_buffers, num_hosts)
    console.print(
        f"{found.collective} of {format_size(found.size_bytes)} on {world}: {label}",
        style="bold",
        highlight=False,
    )
    console.print(printable(found.reason), markup=False, highlight=False, soft_wrap=True)
    for note in found.notes:
        console.print(printable(note), markup=False, highlight=False, soft_wrap=True)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("measured" if found.source == "profile" else "estimated", no_wrap=True)
    for heading in ("time", "against the choice"):
        table.add_column(heading, justify="right", no_wrap=True)
    for one in found.alternatives:
        against = "the choice" if one.chosen else format_change(one.ratio)
        table.add_row(cell(one.label), format_time(one.seconds), against)
    if found.alternatives:
        console.print(table)
