"""Writes a stored ladder into docs/explain.md, between its two marks, and its picture beside it.

    python tools/ladder_page.py docs/explain.md runs/<id>

For: `make bench-explain`, which measures. Not for: what people write around it.
"""

from __future__ import annotations

import sys
from pathlib import Path

from generated import between_marks, machine_and_versions

from ringtree.explain.ladder import ladder_of
from ringtree.explain.ladder_record import Effect, Ladder, PanelRecord, RungRecord, TakingRecord
from ringtree.explain.ladder_run import read_again
from ringtree.show.ladder.picture import write_picture
from ringtree.show.ladder.table import DIFFER
from ringtree.show.ladder.words import called, headline, in_words, place, story
from ringtree.show.marks import MARKS
from ringtree.units import format_time, format_time_range

BEGIN, END = "<!-- measured: written by tools/ladder_page.py -->", "<!-- end of measured -->"
PICTURE = "explain.svg"


def write_page(page: Path, run: Path) -> None:
    """Replaces what stands between the marks of `page`. Raises UsageError if a mark or the run is missing."""
    ladder = ladder_of(*read_again(run.parent, str(run)))
    text = between_marks(page, BEGIN, measured(ladder), END)
    write_picture(ladder, page.parent / "drawings" / PICTURE)
    page.write_text(text)


def measured(ladder: Ladder) -> str:
    """What was measured, in Markdown: where it comes from, the picture, sentences and a table a panel."""
    lines = [*provenance(ladder), "", f"![Waterfall of each size](drawings/{PICTURE})", ""]
    for panel in ladder.panels:
        lines += [f"### {place(panel)}", "", f"**{headline(panel)}**", ""]
        lines += [f"- {line}" for line in story(panel)]
        lines += ["", *table(panel), ""]
        reasons = dict.fromkeys(one.why for one in panel.entries() if one.why is not None)
        lines += [f"Not measured: {'; '.join(reasons)}.", ""]
    return "\n".join(lines)


def provenance(ladder: Ladder) -> list[str]:
    """Date, command, machine and versions; no host name, no path."""
    origin = ladder.provenance
    return [
        f"- date: {ladder.created_utc}; command: `ringtree {' '.join(origin.command[1:])}`",
        *machine_and_versions(origin),
        f"- {ladder.collective}, {ladder.op}, {ladder.dtype}, {ladder.num_ranks} ranks, {called(ladder)}; "
        f"{ladder.num_launches} launches, seed {ladder.seed}; every element verified on every rank",
        f"- floor: {ladder.floor_formula}",
        *(f"- {caveat}" for caveat in ladder.caveats),
    ]


def table(panel: PanelRecord) -> list[str]:
    """A row a rung; what is taken away from the top stands in the row of its rung."""
    rows = [
        "| changed | runs | time | faster than below | worth at the top | rung over top |",
        "|---|---|---:|---:|---:|---:|",
    ]
    of_key = {taking.key: taking for taking in panel.takings}
    for rung in panel.rungs:
        rows.append(_row(rung.title, rung, rung.step, of_key.pop(rung.key, None)))
    rows += [_row(f"(at the top) {taking.title}", taking, None, taking) for taking in of_key.values()]
    return rows


def _row(title: str, what: RungRecord | TakingRecord, step: Effect | None, taking: TakingRecord | None) -> str:
    told = "–" if what.arm is None else f"`{what.arm}`"
    if what.arm is not None and what.executed is not None and what.executed not in what.arm:
        told += f" ran {what.executed}"
    time = "–"
    if what.time is not None:
        time = f"{format_time(what.time.median)} ({format_time_range(what.time.low, what.time.high)})"
    both = None if taking is None else taking.interaction
    differs = (
        "" if both is None else f"{DIFFER if both.verdict in ('faster', 'slower') else ''} {in_words(both)}".strip()
    )
    worth = "" if taking is None or taking.worth is None else f"{MARKS[taking.worth.verdict]} {in_words(taking.worth)}"
    faster = "" if step is None else f"{MARKS[step.verdict]} {in_words(step)}"
    return f"| {title} | {told} | {time} | {faster} | {worth} | {differs} |"


if __name__ == "__main__":
    write_page(Path(sys.argv[1]), Path(sys.argv[2]))
