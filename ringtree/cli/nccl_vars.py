"""`ringtree nccl vars`: NCCL's environment variables in a release, and which of those that are set do nothing.

For: the list, one variable, the environment of this shell. Not for: the facts (ringtree/nccl/variables.toml).
"""

from __future__ import annotations

import json as json_format
import os
from typing import Annotated, Any

import typer
from rich.console import Console

from ringtree.cli.options import AsJson, NcclVersion
from ringtree.cli.outcome import exit_codes
from ringtree.errors import RingtreeError
from ringtree.gpu.libraries import NotHere
from ringtree.gpu.nccl import nccl_version
from ringtree.nccl.releases import Version
from ringtree.nccl.variables import (
    UNDOCUMENTED,
    NcclVariable,
    find,
    first_read,
    known,
    newest_read,
    release_to_show,
    without_effect,
)
from ringtree.show.cells import cell, console_for_tables, plain_table, say

FORMAT = "ringtree.nccl-vars/1"


def nccl_vars(
    name: Annotated[
        str | None, typer.Argument(help="Show everything about this variable; the prefix NCCL_ is optional.")
    ] = None,
    version: NcclVersion = None,
    every: Annotated[
        bool, typer.Option("--all", help="Include variables that NVIDIA's manual does not mention.")
    ] = False,
    json: AsJson = False,
) -> None:
    """Show what NCCL's environment variables do in a version, and which of those set here have no effect."""
    with exit_codes():
        text, origin = version_shown(version)
        at = release_to_show(text)
        shown = [find(name)] if name is not None else list(known().values())
        useless = without_effect(os.environ, at)
        if json:
            typer.echo(json_format.dumps(_record(text, shown, at, useless), indent=1, ensure_ascii=False))
            return
        console = console_for_tables()
        if name is not None:
            _one(console, shown[0], text, at)
        else:
            hidden = sum(variable.group == UNDOCUMENTED for variable in shown if variable.state(at) == "read")
            _list(console, [each for each in shown if every or each.group != UNDOCUMENTED], at)
            say(console, f"NCCL {text}{origin}" + ("" if every else f"; --all: {hidden} more, {UNDOCUMENTED}"))
        for one, reason in useless.items():
            say(console, f"{one}={os.environ[one]} does nothing: {reason}")


def version_shown(wanted: str | None) -> tuple[str, str]:
    """Returns the version to show and a note on why this one: the one asked for, else the one that is installed, else
    the newest that was read."""
    if wanted is not None:
        return wanted, ""
    try:
        return nccl_version(), ", which is installed here"
    except (NotHere, RingtreeError):
        return newest_read(), ", the newest whose sources were read (none is installed here)"


def _list(console: Console, shown: list[NcclVariable], at: Version) -> None:
    group = ""
    table = plain_table("variable", "default", "what it does")
    for variable in shown:
        if variable.state(at) != "read":
            continue
        if variable.group != group:
            group = variable.group
            table.add_section()
            table.add_row(cell(f"[{group}]"))
        mark = " (set)" if variable.name in os.environ else ""
        table.add_row(cell(variable.name + mark), cell(variable.default(at)), cell(variable.does))
    console.print(table)


def _one(console: Console, variable: NcclVariable, text: str, at: Version) -> None:
    state = {"read": "read", "not yet": "not read yet", "gone": "not read any more"}[variable.state(at)]
    since = "before 2.5" if variable.since is None else variable.since
    if variable.since == first_read():
        since = f"{since} or earlier"
    rows = [
        ("does", variable.does or f"not known: {UNDOCUMENTED}"),
        ("values", variable.values),
        ("since", since + (f", gone in {variable.gone}" if variable.gone else "")),
        ("defaults", ", ".join(f"{value} from {release}" for release, value in variable.defaults) or "NCCL decides"),
        (f"in {text}", state + (f", default {variable.default(at)}" if variable.default(at) is not None else "")),
        ("set here", os.environ.get(variable.name)),
        ("mind", variable.with_),
    ]
    say(console, variable.name)
    for heading, value in rows:
        if value:
            say(console, f"  {heading:9} {value}")


def _record(text: str, shown: list[NcclVariable], at: Version, useless: dict[str, str]) -> dict[str, Any]:
    variables = [
        {
            **variable.model_dump(mode="json", by_alias=True),
            "state": variable.state(at),
            "default": variable.default(at),
            "set": os.environ.get(variable.name),
        }
        for variable in shown
    ]
    return {"format": FORMAT, "version": text, "variables": variables, "without_effect": useless}
