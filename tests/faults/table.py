"""The matrix as a table, for the terminal and for docs/reliability.md.

For: turning trials into rows of text. Not for: judging them (bars.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from faults.bars import Bar, misses
from faults.trial import Trial

HEADINGS = ("fault", "over", "trials", "told", "error after (median, max)", "warned after", "named", "left", "bar", "")


@dataclass(frozen=True)
class Result:
    """A row of the matrix that was run."""

    fault: str
    over: str
    engine: str
    bar: Bar
    trials: list[Trial]
    crashed: list[str]  # trials that ended by an error of the test's own

    @property
    def missed(self) -> list[str]:
        return self.crashed + misses(self.bar, self.trials)


def seconds_text(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def _median_and_max(seconds: Sequence[float]) -> str:
    ordered = sorted(seconds)
    return f"{seconds_text(ordered[len(ordered) // 2])}, {seconds_text(ordered[-1])}" if ordered else "–"


def cells_of(result: Result, judged: bool = True) -> tuple[str, ...]:
    """The cells of a row, as HEADINGS name them."""
    survivors = [survivor for trial in result.trials for survivor in trial.survivors]
    errors = [survivor for survivor in survivors if survivor.seconds is not None]
    warned = [survivor.warned_s for survivor in survivors if survivor.warned_s is not None]
    left = sum(len(trial.left) for trial in result.trials)
    return (
        result.fault,
        result.over,
        str(len(result.trials) + len(result.crashed)),
        f"{len(errors)} of {len(survivors)}",
        _median_and_max([survivor.seconds for survivor in errors if survivor.seconds is not None]),
        _median_and_max(warned),
        f"{sum(survivor.named for survivor in errors)} of {len(errors)}" if errors else "–",
        str(left),
        result.bar.text() if judged else "",
        ("missed" if result.missed else "reached") if judged else "",
    )


def show(results: Sequence[Result], console: Console) -> None:
    """Prints the table, and below it what was missed."""
    table = Table(title="faults")
    for heading in HEADINGS:
        table.add_column(heading)
    for result in results:
        table.add_row(*cells_of(result), style="red" if result.missed else None)
    console.print(table)
    for result in results:
        for line in result.missed:
            console.print(f"[red]{result.fault}, {result.over}:[/red] {line}", highlight=False)


def markdown(results: Sequence[Result]) -> list[str]:
    lines = ["| " + " | ".join(HEADINGS) + " |", "|" + "---|" * len(HEADINGS)]
    return lines + ["| " + " | ".join(cells_of(result)) + " |" for result in results]
