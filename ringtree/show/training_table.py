"""A training's table for a terminal, with the verdicts before and what qualifies them around.

For: a row for each model, number of ranks and arm. Not for: computing anything, or plans (training_plan.py).

No disqualified cell is printed without its mark ✗.
"""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ringtree.judge.comparison import Interval
from ringtree.judge.training_records import TrainingCellSummary, TrainingSummary
from ringtree.judge.training_words import worth_line
from ringtree.results import TrainingPlan
from ringtree.show.marks import MARKS
from ringtree.show.printable import printable
from ringtree.units import (
    count,
    format_change,
    format_change_range,
    format_share,
    format_size,
    format_time,
    format_time_range,
)

_HEADINGS = ("ranks", "arm", "tokens/s\na rank", "step\ninterval", "exposed", "efficiency", "Δ tokens/s\ninterval")


def print_training(console: Console, summary: TrainingSummary, steps: int | None = None, verbose: bool = False) -> None:
    """Prints title, verdicts, caveats and the tables; `steps`: what a gain is worth over so many; `verbose`: where a
    step's time goes, memory, collectives, and notes."""
    console.print(_text(f"{described(summary.training)}, {count(summary.num_launches, 'launch')}", "bold"))
    for line in summary.verdicts:
        console.print(_text(line))
    for caveat in summary.caveats:
        console.print(_text(f"note: {caveat}"))
    for model in dict.fromkeys(cell.model for cell in summary.cells):
        cells = [cell for cell in summary.cells if cell.model == model]
        console.print()
        console.print(_text(model, "bold"))
        console.print(_table(cells, summary.training.strategy == "script", verbose))
        if verbose and any(cell.parts for cell in cells):
            console.print(_parts(cells))
        if verbose and any(cell.collectives for cell in cells):
            console.print(_collectives(cells))
    for cell in summary.cells if steps is not None else []:
        told = worth_line(summary, cell, steps or 0)
        if told is not None:
            console.print(_text(told))
    if verbose:
        for note in summary.notes:
            console.print(_text(f"note: {note}"))
    else:
        console.print(_text(f"all figures and notes: ringtree show {summary.run_path} -v"), soft_wrap=True)
    console.print(_text(f"raw samples: {summary.run_path}"), soft_wrap=True)


def described(training: TrainingPlan) -> str:
    """One line: how the models are trained."""
    if training.strategy == "script":
        return f"training: {' '.join(training.command)}"
    parts = [training.strategy if training.strategy == "ddp" else f"{training.strategy} {training.sharding}"]
    parts += [training.precision, f"{training.batch} × {training.sequence} tokens a rank"]
    parts += [f"{training.accumulate} batches a step"] if training.accumulate > 1 else []
    parts += ["experts spread over ranks"] if training.experts == "parallel" else []
    parts += ["activations checkpointed"] if training.checkpointing else []
    return f"training: {', '.join(parts)}"


def _table(cells: list[TrainingCellSummary], script: bool, verbose: bool) -> Table:
    # The box has a blank column between two: with that all fits into 80.
    table = Table(box=box.SIMPLE_HEAD, padding=0, pad_edge=False)
    for heading in _HEADINGS:
        table.add_column(heading, justify="left" if heading == "arm" else "right", overflow="fold")
    for cell in cells:
        table.add_row(str(cell.num_ranks), printable(cell.arm), *_figures(cell, script, verbose))
    return table


def _figures(cell: TrainingCellSummary, script: bool, verbose: bool) -> list[str]:
    """Two lines each, where there are two things to say. A script's steps are its own: its interval is of tokens/s."""
    if cell.disqualified is not None or cell.step is None:
        return ["✗" if cell.disqualified is not None else "–", *["–"] * 4]
    step, versus = cell.step, cell.versus_reference
    span = format_time_range(step.low, step.high) if step.num_launches > 1 else "1 launch"
    change = "" if versus is None else f"{MARKS[versus.verdict]} {format_change(1 / versus.ratio)}"
    if versus is not None and versus.low is not None and versus.high is not None:
        change += f"\n{format_change_range(1 / versus.high, 1 / versus.low)}"
    return [
        f"{cell.tokens_per_second or 0:,.0f}\n{cell.tokens_per_second_a_rank or 0:,.0f}",
        f"{format_time(step.median)}\n{span}" if not script else _rates(cell, step),
        "–" if cell.exposed is None else _exposed(cell.exposed, verbose),
        "–" if cell.efficiency is None else format_share(cell.efficiency),
        change,
    ]


def _exposed(exposed: Interval, verbose: bool) -> str:
    """A figure that can't be is known by its interval."""
    if not verbose or exposed.num_launches <= 1:
        return _signed_time(exposed.median)
    return f"{_signed_time(exposed.median)}\n{_signed_time(exposed.low)} to\n{_signed_time(exposed.high)}"


def _rates(cell: TrainingCellSummary, step: Interval) -> str:
    low, high = (f"{cell.num_ranks / seconds:,.0f}" for seconds in (step.high, step.low))
    return f"–\n{low}–{high}/s" if step.num_launches > 1 else "–\n1 launch"


def _parts(cells: list[TrainingCellSummary]) -> Table:
    """Where a mean step's time goes; the four add up to it."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for heading in ("ranks", "arm", "mean step", "compute", "exposed", "imbalance", "input", "peak memory"):
        table.add_column(heading, justify="left" if heading == "arm" else "right", overflow="fold")
    for cell in cells:
        if cell.parts is not None:
            parts = cell.parts
            times = (parts.step, parts.compute, parts.exposed, parts.imbalance, parts.input)
            peak = "–" if cell.peak_bytes is None else format_size(cell.peak_bytes >> 20 << 20)
            table.add_row(str(cell.num_ranks), printable(cell.arm), *map(_signed_time, times), peak)
    return table


def _collectives(cells: list[TrainingCellSummary]) -> Table:
    """What a rank calls in a step."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for heading in ("ranks", "arm", "collective", "calls a step", "bytes a step", "exposed"):
        table.add_column(heading, justify="left" if heading in ("arm", "collective") else "right", overflow="fold")
    for cell in cells:
        for called in cell.collectives:
            size = format_size(called.size_bytes)
            seconds = None if cell.parts is None else cell.parts.by_collective.get(called.collective)
            exposed = "–" if seconds is None else _signed_time(seconds)
            table.add_row(str(cell.num_ranks), printable(cell.arm), called.collective, str(called.calls), size, exposed)
    return table


def _signed_time(seconds: float) -> str:
    return f"-{format_time(-seconds)}" if seconds < 0 else format_time(seconds)


def _text(line: str, style: str = "") -> Text:
    return Text(printable(line), style=style)
