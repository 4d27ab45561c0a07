"""What a tuning and a check print: the rules with their times, what was left out, regrets.

For: text for people and records for `--json`. Not for: computing any of it.
"""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from ringtree.comm.profile_format import MeasuredSize, Profile, ProfileTable
from ringtree.results import Record
from ringtree.show.cells import plain_table
from ringtree.show.printable import printable
from ringtree.tune.history import History
from ringtree.tune.regret import CellRegret, mean_regret, worst_regret
from ringtree.tune.world import PRIVATE, SHARED
from ringtree.units import count, format_change, format_size, format_time

REGRET_FORMAT = "ringtree.regret/1"
MEAN_BAR, WORST_BAR = 0.03, 0.10


class RegretReport(Record):
    """All cells of a check."""

    format: str = REGRET_FORMAT
    profile: str
    mean: float
    worst: float
    rows: list[CellRegret]


def regret_report(profile: str, found: list[CellRegret]) -> RegretReport:
    """Returns the record of a check; `found` has at least one cell."""
    return RegretReport(profile=profile, mean=mean_regret(found), worst=worst_regret(found), rows=found)


def print_regrets(console: Console, report: RegretReport) -> None:
    """Prints a check."""
    table = plain_table(
        "collective", "ranks", "buffers", "size", "cores", "auto ran", "best forced", "auto", "regret", "rounds"
    )
    for one in report.rows:
        table.add_row(
            one.collective,
            str(one.num_ranks),
            SHARED if one.shared_buffers else PRIVATE,
            format_size(one.size_bytes),
            one.placement,
            one.auto,
            one.best,
            format_time(one.auto_seconds),
            format_change(1 + one.regret),
            str(one.num_rounds),
        )
    console.print(table)
    for what, value, bar in (("mean", report.mean, MEAN_BAR), ("worst", report.worst, WORST_BAR)):
        reached = "within" if value <= bar else "above"
        console.print(f"{what} regret {format_change(1 + value)}, {reached} {100 * bar:.0f} %", highlight=False)


def print_profile(console: Console, profile: Profile) -> None:
    """Prints the rules of every new table, each with the times at the largest measured size that it holds for."""
    for table in profile.tables:
        if table.measured_utc is not None:
            continue  # of an earlier tuning
        console.print(Text(table.title, style="bold"))
        text = plain_table("sizes up to", "runs", "time", "at", "next best")
        for rule in table.rules:
            measured = _largest_within(table, rule.until_bytes)
            label = rule.configuration.label
            mine = next((one for one in measured.candidates if one.configuration.label == label), None)
            other = next((one for one in measured.candidates if one is not mine), None)
            text.add_row(
                "any" if rule.until_bytes is None else format_size(rule.until_bytes),
                label,
                "" if mine is None else format_time(max(mine.seconds.values())),
                format_size(measured.size_bytes),
                f"{other.configuration.label} {format_change(other.ratio / mine.ratio)}" if other and mine else "",
            )
        console.print(text)


def left_out(history: History) -> list[str]:
    """Returns one line for each reason, other than being slow, for which candidates were not measured."""
    where: dict[tuple[str, str], set[int]] = {}
    for launch in history.launches:
        for cell in launch.cells:
            for label, reason in history.dropped(launch, (cell.collective, cell.size_bytes)).items():
                if "times as long as the best" not in reason:
                    where.setdefault((label, reason), set()).add(cell.size_bytes)
    return [
        printable(f"left out: {label} at {count(len(sizes), 'size')}: {reason}")
        for (label, reason), sizes in sorted(where.items())
    ]


def _largest_within(table: ProfileTable, until: int | None) -> MeasuredSize:
    within = [one for one in table.sizes if until is None or one.size_bytes <= until]
    return (within or table.sizes)[-1]
