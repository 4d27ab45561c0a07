"""Tables of a page: sizes by arms, under one placement.

For: Markdown of what effects.py found. Not for: bars (bars.py), plots (plots.py), or what stands around (page.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from bench.bars import Bar
from bench.effects import Place, World, is_power_of_two
from ringtree.judge.comparison import MIXED
from ringtree.measure.worker_set import TOO_SLOW, WRONG
from ringtree.show.marks import MARKS
from ringtree.stats import Judged
from ringtree.units import format_factor, format_factor_range, format_size, format_time, format_time_range

MET = {True: "reached", False: "**missed**", None: "**no data**"}
LEGEND = (
    "The engine: median over launches (its interval). Other columns: time of the arm over the engine's, geometric mean "
    "over launches (95 % interval), above 1 the engine is faster: ▼ the arm is slower beyond ±{margin:g} %, ▲ faster, "
    "= equivalent, ? inconclusive, all comparisons of this part judged as one family. *n*: launches that count here."
)


def bars_table(bars: Sequence[Bar]) -> list[str]:
    """The bars, in their order."""
    lines = ["| bar | wanted | measured | |", "|---|---|---|---|"]
    return lines + [f"| {bar.question} | {bar.wanted} | {bar.measured or '–'} | {MET[bar.met]} |" for bar in bars]


def size_table(world: World, place: Place, odd: bool = False) -> list[str]:
    """A row a power of two, or an `odd` size that nobody tunes for, a column an arm; nothing if the engine has no time
    under this placement."""
    labels = sorted(world.labels, key=lambda label: label != world.engine)
    lines = []
    for size in world.sizes:
        time = world.time(size, world.engine, place) if is_power_of_two(size) != odd else None
        if time is not None:
            cells = [f"{format_time(time.median)} ({format_time_range(time.low, time.high)})"]
            cells += [cell_text(world, size, label, place) for label in labels[1:]]
            lines.append(f"| {size_text(size)} | {time.num_launches} | {' | '.join(cells)} |")
    head = [f"| size | *n* | {' | '.join(labels)} |", "|---:|---:|" + "---|" * len(labels)]
    return [*head, *lines] if lines else []


def mixed_table(world: World) -> list[str]:
    """Comparisons that neither placement alone could judge, near with near and far with far; no times, only ratios."""
    found = {(size, label): judged for size, label, place, judged in world.verdicts() if place == MIXED}
    columns = [label for label in world.labels if label != world.engine]
    lines = [f"| size | *n* | {' | '.join(columns)} |", "|---:|---:|" + "---|" * len(columns)]
    for size in world.sizes:
        cells = [found.get((size, label)) for label in columns]
        if any(cells):
            most = max(cell.num_launches for cell in cells if cell is not None)
            texts = ["" if cell is None else ratio_cell(cell) for cell in cells]
            lines.append(f"| {size_text(size)} | {most} | {' | '.join(texts)} |")
    return lines if found else []


def size_text(size_bytes: int) -> str:
    """Returns "64 KB", or all digits of an odd size."""
    return format_size(size_bytes) if is_power_of_two(size_bytes) else f"{size_bytes:,} B"


def cell_text(world: World, size_bytes: int, label: str, place: Place) -> str:
    """The ratio of an arm to the engine, or why there is none."""
    judged = world.judged(size_bytes, label, place)
    if judged is not None:
        return ratio_cell(judged)
    why = world.cells.why_disqualified(size_bytes, label)
    if why is None:
        return "–"
    return "wrong" if why.startswith(WRONG) else "too slow" if why.startswith(TOO_SLOW) else "failed"


def ratio_cell(judged: Judged) -> str:
    """Returns "▼ 1.85× (1.80–1.90)", bold where an arm is faster than the engine."""
    bounded = judged.low > 0 and math.isfinite(judged.high)
    interval = format_factor_range(judged.low, judged.high) if bounded else "1 launch"
    text = f"{MARKS[judged.verdict]} {format_factor(judged.ratio)}× ({interval})"
    return f"**{text}**" if judged.verdict == "faster" else text
