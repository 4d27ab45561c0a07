"""Pages of docs/ that tools write: what they share.

For: rewriting a page or, with --check, comparing it; a part between two marks; the machine of what was measured; bars
that were to be reached. Not for: what stands on a page.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ringtree.results import Provenance

MET = {True: "reached", False: "**missed**", None: "**no data**"}


@dataclass(frozen=True)
class Bar:
    """met: None where there is no data, which counts as not reached."""

    question: str
    wanted: str
    measured: str
    met: bool | None


def bars_table(bars: Sequence[Bar]) -> list[str]:
    """The bars, in their order."""
    lines = ["| bar | wanted | measured | |", "|---|---|---|---|"]
    return lines + [f"| {bar.question} | {bar.wanted} | {bar.measured or '–'} | {MET[bar.met]} |" for bar in bars]


def write_or_check(arguments: Sequence[str], texts: Mapping[Path, str], command: str) -> int:
    """Writes the files that differ, or with --check names them; returns the exit code. `command` rewrites them."""
    if list(arguments) not in ([], ["--check"]):
        print(f"{command} takes no arguments, or --check, which writes nothing", file=sys.stderr)
        return 2
    stale = [file for file, text in texts.items() if not file.exists() or file.read_text(encoding="utf-8") != text]
    if arguments and stale:
        print(f"stale: {', '.join(file.name for file in stale)}; run {command}", file=sys.stderr)
        return 1
    for file in stale:
        file.write_text(texts[file], encoding="utf-8")
    return 0


def machine_and_versions(origin: Provenance) -> list[str]:
    """Returns items of a list; no host name, no path."""
    versions = ", ".join(f"{name} {version}" for name, version in origin.versions.items() if version is not None)
    load = ", ".join(f"{value:.1f}" for value in origin.load_average)
    gpus = ", ".join(f"{number} × {name}" for name, number in Counter(origin.gpus).items())
    return [
        f"- machine: {gpus + ', ' if gpus else ''}{origin.cpu_model}, {len(origin.affinity)} cores"
        f"{' (virtual)' if origin.virtual else ''}, "
        f"{origin.memory_bytes >> 30} GiB, Linux {origin.kernel}; load average at the start {load}",
        f"- versions: {versions}; commit {origin.git_commit or 'unknown'}",
    ]


def between_marks(file: Path, begin: str, text: str, end: str) -> str:
    """Returns the file's text with `text` between its two marks. Raises ValueError if a mark is missing."""
    before, found, rest = file.read_text(encoding="utf-8").partition(begin)
    _, found_end, after = rest.partition(end)
    if not found or not found_end:
        raise ValueError(f"{file} has no place for what is written there: write {begin} and {end}")
    return f"{before}{begin}\n\n{text}\n{end}{after}"
