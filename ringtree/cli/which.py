"""`ringtree which`: what auto would run at a size, and why.

For: the options of the question. Not for: answering it (ringtree.tune.which). No rank is started.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ringtree.cli.options import AsJson, OnHosts
from ringtree.cli.outcome import exit_codes
from ringtree.comm.profile import load
from ringtree.comm.profile_format import describe_world
from ringtree.errors import UsageError
from ringtree.show.cells import cell, console_for_tables, plain_table, say
from ringtree.tune.which import Explanation, explain
from ringtree.units import (
    format_change,
    format_size,
    format_time,
    parse_duration,
    parse_hosts,
    parse_rate,
    parse_size,
)

MAX_RANKS = 1024


def which(
    size: Annotated[str, typer.Option(help="Bytes of a rank's input or output, whichever is larger: 8, 4K, 1M.")],
    ranks: Annotated[int | None, typer.Option(help="Number of ranks.")] = None,
    hosts: OnHosts = None,
    alpha: Annotated[
        str | None, typer.Option(help="With --hosts and --bandwidth: latency between hosts, e.g. 10us.")
    ] = None,
    bandwidth: Annotated[
        str | None, typer.Option(help="With --hosts and --alpha: bandwidth out of a host, e.g. 25Gbit/s or 3GB/s.")
    ] = None,
    collective: Annotated[str, typer.Option(help="Collective.")] = "all_reduce",
    shared_buffers: Annotated[
        bool, typer.Option("--shared-buffers", help="Assume a communicator created with shared_buffers=True.")
    ] = False,
    profile: Annotated[Path | None, typer.Option(help="Profile to use instead of the one that auto finds.")] = None,
    json: AsJson = False,
) -> None:
    """Show which algorithm and protocol auto would run, and whether the measured profile or the model chose it.

    The model uses built-in constants; with RINGTREE_PROBE=1 it probes this machine for them, as the ranks of a job do.
    Ranks on several hosts also probe the links between hosts; this command can't: describe them with --alpha and
    --bandwidth.
    """
    with exit_codes():
        where = None if hosts is None else parse_hosts(hosts)
        if (ranks is None) == (where is None):
            raise UsageError("give --ranks, or --hosts (hosts x ranks per host)")
        if (alpha is None) != (bandwidth is None):
            raise UsageError("--alpha and --bandwidth go together")
        if alpha is not None and (where is None or max(where) == 0):
            raise UsageError("--alpha and --bandwidth describe links between hosts: give --hosts with several")
        links = None if alpha is None or bandwidth is None else (parse_duration(alpha), parse_rate(bandwidth))
        ranks = ranks or len(where or ())
        if not 1 <= ranks <= MAX_RANKS:
            raise UsageError(f"--ranks must lie in 1..{MAX_RANKS}, not {ranks}")
        size_bytes = parse_size(size)
        if size_bytes < 1:
            raise UsageError("--size must be at least one byte: there is nothing to choose for 0 bytes")
        found = explain(load(profile), collective, ranks, size_bytes, shared_buffers, where, links)
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
    say(console, found.reason)
    for note in found.notes:
        say(console, note)
    first = "measured" if found.source == "profile" else "estimated"
    table = plain_table(first, right=("time", "against the choice"))
    for one in found.alternatives:
        against = "the choice" if one.chosen else format_change(one.ratio)
        table.add_row(cell(one.label), format_time(one.seconds), against)
    if found.alternatives:
        console.print(table)
