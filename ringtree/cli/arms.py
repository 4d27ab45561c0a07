"""`ringtree arms`: what can run a collective, and what each needs that is not here.

For: the kinds of arms with their state on this machine. Not for: running any (compare, bench), or algorithms
(`ringtree algorithms`).
"""

from __future__ import annotations

import json as json_module
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from ringtree.arms.registry import KINDS

HERE = "ready"


def arms(
    json: Annotated[bool, typer.Option("--json", help="Print JSON only.")] = False,
) -> None:
    """List the arms that compare and bench can run, and what each is missing on this machine."""
    rows = [(kind, kind.lacks()) for kind in KINDS if kind.written]
    if json:
        found = {
            kind.name: {"written": kind.written, "called_by": kind.boundaries, "lacks": lacks} for kind, lacks in rows
        }
        typer.echo(json_module.dumps(found, indent=1))
        return
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for heading in ("arm", "called by", "here"):
        table.add_column(heading)
    for kind, lacks in rows:
        table.add_row(", ".join(kind.written), ", ".join(kind.boundaries), lacks or HERE)
    Console().print(table)
