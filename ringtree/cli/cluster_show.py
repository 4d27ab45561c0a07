"""`ringtree cluster show NAME|FILE`: a cluster's drawing, and where each of its constants is from.

For: what a simulation rests on. Not for: simulating (simulate.py), making a description of a log (cluster_from.py).
"""

from __future__ import annotations

from typing import Annotated

import typer

from ringtree.cli.options import AsJson
from ringtree.cli.outcome import exit_codes
from ringtree.errors import UsageError
from ringtree.show.cells import console_for_tables, say
from ringtree.show.cluster_text import constants_table, drawing, summary_lines
from ringtree.simulate.cluster import cluster_text, load_cluster
from ringtree.simulate.cluster.what_if import degraded

Cluster = Annotated[
    str, typer.Argument(metavar="NAME|FILE", help="A name from `ringtree cluster list`, or a TOML file.")
]
WhatIf = Annotated[
    list[str] | None,
    typer.Option(
        "--what-if",
        metavar="WORDS",
        help='Degrade it: "rail 7 down", "rail 3 at 50%", "oversubscription 2"; repeatable.',
    ),
]


def cluster_show(
    cluster: Cluster,
    what_if: WhatIf = None,
    toml: Annotated[bool, typer.Option("--toml", help="Print the description as TOML only.")] = False,
    json: AsJson = False,
) -> None:
    """Draw a cluster and list its constants with their sources."""
    with exit_codes():
        if toml and json:
            raise UsageError("the description is printed once: choose --toml or --json")
        described = degraded(load_cluster(cluster), what_if or ())
        if toml:
            typer.echo(cluster_text(described), nl=False)
            return
        if json:
            typer.echo(described.model_dump_json(indent=1, exclude_none=True))
            return
        console = console_for_tables()
        for line in drawing(described):
            say(console, line)
        console.print()
        console.print(constants_table(described))
        for line in summary_lines(described):
            say(console, line)
