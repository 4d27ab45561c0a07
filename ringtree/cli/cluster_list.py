"""`ringtree cluster list`: the clusters that can be simulated by name.

For: names, and what each is. Not for: one of them (cluster_show.py), hardware (`ringtree hardware`).
"""

from __future__ import annotations

import json as json_format

import typer

from ringtree.cli.options import AsJson
from ringtree.cli.outcome import exit_codes
from ringtree.show.cells import console_for_tables, say
from ringtree.show.cluster_text import list_table
from ringtree.simulate.cluster import presets


def cluster_list(json: AsJson = False) -> None:
    """List the clusters that `ringtree simulate --cluster` knows by name."""
    with exit_codes():
        known = presets()
        if json:
            rows = [{"name": one.name, "title": one.title, "also": list(one.also)} for one in known]
            typer.echo(json_format.dumps({"format": "ringtree.clusters/1", "clusters": rows}, indent=1))
            return
        console = console_for_tables()
        console.print(list_table(known))
        say(console, "`ringtree cluster show NAME` draws one; with --toml it prints a file to edit")
