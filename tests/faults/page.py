"""The generated part of docs/reliability.md: the tables, with where they come from.

For: writing between the markers of that page. Not for: what stands around them.
"""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
from collections.abc import Sequence
from pathlib import Path

from faults.table import Result, markdown
from ringtree.comm.cpuinfo import cpu_model

BEGIN, END = "<!-- faults: begin (make faults) -->", "<!-- faults: end -->"


def origin(command: str, minutes: float) -> str:
    """When, where and how, in a sentence."""
    versions = ", ".join(
        f"{name} {importlib.metadata.version(name)}" for name in ("ringtree", "torch") if _installed(name)
    )
    return (
        f"Measured on {datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d} by `{command}` in {minutes:.0f} minutes: "
        f"{cpu_model()}, {os.cpu_count()} cores shared with other work, Linux {platform.release().partition('-')[0]}, "
        f"Python {platform.python_version()}, {versions}."
    )


def write(page: Path, results: Sequence[Result], said: str) -> None:
    """Replaces what stands between the markers. Raises ValueError if the page has none."""
    text = page.read_text()
    if BEGIN not in text or END not in text:
        raise ValueError(f"{page} has no place for the table: {BEGIN}")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    body = "\n".join([BEGIN, said, "", *markdown(results), END])
    page.write_text(before + body + after)


def _installed(name: str) -> bool:
    try:
        importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True
