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

OURS = "ringtree"
BESIDE = (
    "The same faults beside other libraries. Gloo's calls had a deadline of 10 s (its default is 30 minutes), Open MPI "
    "has none and was watched for 10 s; theirs is all_reduce among 4 ranks, on two hosts where it is TCP (Gloo on one "
    "host uses TCP as well)."
)
HEADINGS = ("fault", "over", "trials", "told", "error after (median, max)", "warned after", "named", "left", "bar", "")


BESIDE_HEADINGS = (HEADINGS[0], "library", *HEADINGS[1:-3])  # what others leave behind is not looked for


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
        ours = result.engine == OURS
        name = result.fault if ours else f"{result.fault} ({result.engine})"
        table.add_row(name, *cells_of(result, ours)[1:], style="red" if ours and result.missed else None)
    console.print(table)
    for result in results:
        for line in result.missed if result.engine == OURS else result.crashed:
            console.print(f"[red]{result.fault}, {result.over}:[/red] {line}", highlight=False)


def markdown(results: Sequence[Result]) -> list[str]:
    """Ours with their bars, then the others', which have none, beside the same faults of ours."""
    ours = [result for result in results if result.engine == OURS]
    others = [result for result in results if result.engine != OURS]
    lines = _lines(HEADINGS, [cells_of(result) for result in ours])
    if not others:
        return lines
    faults = {result.fault for result in others}
    beside = sorted([*(each for each in ours if each.fault in faults), *others], key=lambda each: each.fault)
    rows = [(each.fault, each.engine, *cells_of(each)[1:-3]) for each in beside]
    return [*lines, "", BESIDE, "", *_lines(BESIDE_HEADINGS, rows)]


def _lines(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = ["| " + " | ".join(headings) + " |", "|" + "---|" * len(headings)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]
