"""The summary of all tests of the method -> docs/method.md.

For: figures as they stand on the page; its words and tables are method.md.j2. Not for: computing anything that is not
in the summary (study.py).

The page starts with the hash of the summary, which names the hashes of the data: a test compares all three.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
from generated import MET

from method.counts import Share
from method.live import LIVE, VERDICTS

TEMPLATE = Path(__file__).with_name("method.md.j2")


def summary_text(summary: dict[str, Any]) -> str:
    """The summary as it is stored."""
    return json.dumps(summary, indent=1, ensure_ascii=False) + "\n"


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def page(text: str) -> str:
    """docs/method.md of a stored summary (`text`: the whole file)."""
    summary = json.loads(text)
    markdown = jinja2.Environment(
        undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )  # autoescape stays off: this is no HTML
    markdown.filters |= {"form": format, "share": share_text, "machine": _machine}
    template = markdown.from_string(TEMPLATE.read_text())
    figures = {"digest": digest(text), "verdicts": VERDICTS, "live_rows": _live_rows(summary["live"]), "met": MET}
    return template.render(summary, **figures).rstrip("\n") + "\n"


def share_text(hits_and_draws: list[int]) -> str:
    """ "3.0% of 1,000 (2.0%–4.3%)" of [30, 1000]."""
    return str(Share(*hits_and_draws))


def _live_rows(live: dict[str, Any]) -> list[list[str]]:
    """The cells of the table of live runs, by row."""
    rows: list[list[str]] = []
    for one in LIVE:
        stored, title = live[one.name], f"{one.name}: {one.what}"
        if stored is None:
            rows.append([title, "not measured yet | | | | | | | "])
            continue
        runs = stored["runs"]
        share = one.as_it_should_be(runs)
        counts = [str(sum(run[verdict] for run in runs)) for verdict in VERDICTS]
        seconds = [run["seconds"] for run in runs]
        command = " ".join(["ringtree", one.command, "--arms", stored["arms"], *stored["options"]])
        row = [title, f"`{command}`", f"{share.hits} of {share.draws}", *counts]
        claimed = [ratio for run in runs for ratio in run["claimed_ratios"]]
        ratios = f"{np.median(claimed):.2f} ({min(claimed):.2f}–{max(claimed):.2f})" if claimed else "none"
        rows.append([*row, ratios, f"{min(seconds):.0f}–{max(seconds):.0f} s"])
    return rows


def _machine(origin: dict[str, Any]) -> str:
    if "cpu" not in origin:
        return "made up"
    versions = ", ".join(f"{name} {version}" for name, version in sorted(origin["versions"].items()) if version)
    commit, plus, mark = (origin["commit"] or "unknown").partition("+")
    return (
        f"{origin['date']}, {origin['cpu']}, {origin['cores']} cores, Linux {origin['kernel']}, {versions}, "
        f"commit {commit[:12]}{plus}{mark}"
    )


def write_page(data: Path, target: Path) -> str:
    """Writes the page of the stored summary in `data`, and returns it."""
    written = page((data / "summary.json").read_text())
    target.write_text(written)
    return written
