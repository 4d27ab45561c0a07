"""`ringtree algorithms`: what exists, with the steps and bytes of each.

For: the table of built-in algorithms for a given number of ranks. Not for: how fast they are (ringtree compare).
"""

from __future__ import annotations

import json as json_format
from typing import Annotated, Any

import typer
from rich.console import Console

from ringtree.cli.options import AsJson, OnHosts
from ringtree.cli.outcome import exit_codes
from ringtree.errors import UsageError
from ringtree.schedules import algorithms as builtin
from ringtree.show.cells import plain_table
from ringtree.units import count, parse_hosts

MAX_RANKS = 1024


def algorithms(
    ranks: Annotated[int, typer.Option(help="Number of ranks to count steps and bytes for.")] = 8,
    hosts: OnHosts = None,
    json: AsJson = False,
) -> None:
    """List the built-in algorithms with the steps, hops and bytes of the busiest rank."""
    with exit_codes():
        where = None if hosts is None else parse_hosts(hosts)
        ranks = ranks if where is None else len(where)
        if not 1 <= ranks <= MAX_RANKS:
            raise UsageError(f"--ranks must lie in 1..{MAX_RANKS}, not {ranks}")
        rows = list_algorithms(ranks, where)
        if json:
            typer.echo(json_format.dumps({"format": "ringtree.algorithms/1", "algorithms": rows}, indent=1))
            return
        table = plain_table("collective", "algorithm", right=("steps", "hops", "sent", "read"))
        table.add_column("what it is")
        for row in rows:
            counts = [str(row["steps"]), str(row["hops"]), f"{row['sent']:.2f}", f"{row['read']:.2f}"]
            table.add_row(row["collective"], row["algorithm"], *counts, row["title"])
        console = Console()
        console.print(table)
        console.print(
            f"{count(ranks, 'rank')}{'' if hosts is None else f' on hosts {hosts}'}; steps, and bytes sent and read as "
            "shares of the whole vector, are those of the busiest rank (a multicast is sent once, read by each "
            "receiver); hops: messages on the longest chain"
        )
        console.print(
            f"{' and '.join(row.name for row in builtin.switch_table())} are not listed: they need a switch that "
            "reduces, which the engine does not have. `ringtree simulate`, `play --cluster` and `verify` accept them"
        )


def list_algorithms(num_ranks: int, hosts: list[int] | None = None) -> list[dict[str, Any]]:
    """Every built-in algorithm of every collective with its cost for `num_ranks` ranks; those that pay only on several
    hosts where `hosts` are given."""
    rows = []
    for algorithm in builtin.table():
        if algorithm.for_several_hosts and hosts is None:
            continue
        for collective in algorithm.collectives:
            cost = algorithm.cost(collective, num_ranks, hosts)
            rows.append(
                {
                    "collective": collective,
                    "algorithm": algorithm.name,
                    "title": algorithm.title,
                    "source": algorithm.source,
                    "num_ranks": num_ranks,
                    "steps": cost.steps,
                    "hops": cost.hops,
                    "sent": cost.sent,
                    "written": cost.written,
                    "read": cost.read,
                }
            )
    return sorted(rows, key=lambda row: str(row["collective"]))
