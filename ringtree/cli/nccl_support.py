"""`ringtree nccl support`: what NCCL has for each collective, by version, and what forcing others does.

For: the matrix of a release. Not for: its facts (ringtree/nccl/support.toml), the engine's matrix (ringtree support).
"""

from __future__ import annotations

import json as json_format

import typer

from ringtree.cli.nccl_vars import version_shown
from ringtree.cli.options import AsJson, NcclVersion
from ringtree.cli.outcome import exit_codes
from ringtree.errors import UsageError
from ringtree.nccl.names import ALGORITHMS, COLLECTIVES, PROTOCOLS, TUNED, algorithms_of
from ringtree.nccl.releases import release
from ringtree.nccl.support import Support, conditions, library_support
from ringtree.show.cells import cell, console_for_tables, plain_table, say

FORMAT = "ringtree.nccl-support/1"
FIRST = (2, 5)
OUTCOMES = {"falls_back": "{} runs", "error": "fails"}


def nccl_support(
    version: NcclVersion = None,
    json: AsJson = False,
) -> None:
    """Show NCCL's algorithms and protocols for each collective, what they need, and what forcing any other does."""
    with exit_codes():
        text, origin = version_shown(version)
        at = release(text)
        if at is None:
            raise UsageError(f"invalid version of NCCL {text!r}; write it as 2.21.5")
        if at < FIRST:
            raise UsageError("algorithms are known from NCCL 2.5 on")
        names = [name for name in algorithms_of(at) if name in ALGORITHMS]  # CollNet was one algorithm before 2.14
        answers = [
            library_support(COLLECTIVES[function], algorithm, protocol, text)
            for function in TUNED
            for algorithm in names
            for protocol in PROTOCOLS
        ]
        needs = {name: needed for name, needed in conditions().items() if name in (*names, *PROTOCOLS)}
        if json:
            cells = [answer.model_dump(mode="json") for answer in answers]
            record = {"format": FORMAT, "version": text, "cells": cells, "conditions": needs}
            typer.echo(json_format.dumps(record, indent=1, ensure_ascii=False))
            return
        console = console_for_tables()
        reasons = list(dict.fromkeys(_reason(answer) for answer in answers if answer.outcome != "runs"))
        table = plain_table("collective", *names)
        for function in TUNED:
            row = [answer for answer in answers if answer.collective == COLLECTIVES[function]]
            table.add_row(
                cell(COLLECTIVES[function]),
                *(cell(_said([one for one in row if one.algorithm == name], reasons)) for name in names),
            )
        console.print(table)
        for number, reason in enumerate(reasons, 1):
            say(console, f"({number}) {reason}")
        for name, needed in needs.items():
            say(console, f"{name} needs {needed}")
        say(
            console,
            f"NCCL {text}{origin}. all_to_all, gather, scatter, send and recv go point to point: nothing to choose",
        )


def _reason(answer: Support) -> str:
    """Why, without the names of the cell."""
    return answer.explanation.partition(": ")[2] or answer.explanation


def _said(answers: list[Support], reasons: list[str]) -> str:
    """One cell: the protocols that there are, or what happens; the number of the note on the others."""
    words = [str(answer.protocol) for answer in answers if answer.outcome == "runs"]
    others = [answer for answer in answers if answer.outcome != "runs"]
    if not words:
        words = list(dict.fromkeys(OUTCOMES.get(one.outcome, "?").format(one.executed) for one in others))
    marks = dict.fromkeys(f"({reasons.index(_reason(one)) + 1})" for one in others)
    return " ".join([*words, *marks])
