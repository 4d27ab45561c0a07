"""Tables of a page: sizes by arms, under one placement.

For: Markdown of what effects.py found. Not for: bars (bars.py), plots (plots.py), or what stands around (page.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from bench.bars import Bar
from bench.cases import (
    ODD_SIZES,
    ORDINARY,
    SECOND_SEED,
    UNALIGNED,
    Variant,
    group_of,
    is_power_of_two,
    label_of,
    split_label,
)
from bench.effects import Place, World
from bench.tracks import TOO_SLOW, WRONG
from ringtree.lab.comparison import MIXED
from ringtree.lab.table import MARKS
from ringtree.lab.units import format_factor, format_factor_range, format_size, format_time, format_time_range
from ringtree.stats import Judged

_VARIANTS = {UNALIGNED.name: f"+{UNALIGNED.offset} B off alignment", SECOND_SEED.name: "second seed"}
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


def size_table(world: World, place: Place) -> list[str]:
    """A row a power of two, a column an arm; nothing if the engine has no time under this placement."""
    sizes = [size for size in world.sizes if not world.is_native or is_power_of_two(size)]
    beside = [label for label in world.labels if not world.is_native or not group_of(label)]
    labels = sorted(beside, key=lambda label: label != world.engine)
    rows = [(format_size(size), size, labels) for size in sizes]
    return _table(world, place, "size", rows, labels)


def odd_table(world: World, place: Place) -> list[str]:
    """Sizes and calls that nobody tunes for: one row each, arms as in `size_table`, each against its own kind."""
    arms = [world.engine, *world.peers]
    rows = [(call_text(size), size, arms) for size in ODD_SIZES if size in world.sizes]
    for variant in (UNALIGNED, SECOND_SEED):
        labels = [label_of(arm, variant) for arm in arms]
        if set(labels) & set(world.labels):
            rows += [(call_text(size, variant), size, labels) for size in variant.sizes or () if size in world.sizes]
    return _table(world, place, "call", rows, arms)


def mixed_table(world: World) -> list[str]:
    """Comparisons that neither placement alone could judge, near with near and far with far; no times, only ratios."""
    found = {(size, label): judged for size, label, place, judged in world.verdicts() if place == MIXED}
    columns = [label for label in world.labels if label != world.engine and not group_of(label)]
    lines = [f"| call | *n* | {' | '.join(columns)} |", "|---:|---:|" + "---|" * len(columns)]
    for variant in (ORDINARY, UNALIGNED, SECOND_SEED):
        labels = [label if variant == ORDINARY else f"{label}/{variant.name}" for label in columns]
        for size in world.sizes:
            cells = [found.get((size, label)) for label in labels]
            if any(cells):
                most = max(cell.num_launches for cell in cells if cell is not None)
                texts = ["" if cell is None else ratio_cell(cell) for cell in cells]
                lines.append(f"| {call_text(size, variant)} | {most} | {' | '.join(texts)} |")
    return lines if found else []


def call_text(size_bytes: int, variant: Variant = ORDINARY) -> str:
    """Returns "64 KB", all digits of an odd size, and the name of a variant."""
    size = format_size(size_bytes) if is_power_of_two(size_bytes) else f"{size_bytes:,} B"
    return f"{size}, {_VARIANTS[variant.name]}" if variant.name in _VARIANTS else size


def _table(
    world: World, place: Place, first: str, rows: Sequence[tuple[str, int, Sequence[str]]], columns: Sequence[str]
) -> list[str]:
    lines = []
    for name, size, labels in rows:
        reference = world.reference(labels[0])
        time = world.time(size, reference, place)
        if time is None:
            continue
        cells = [f"{format_time(time.median)} ({format_time_range(time.low, time.high)})"]
        cells += [cell_text(world, size, label, place) for label in labels if label != reference]
        lines.append(f"| {name} | {time.num_launches} | {' | '.join(cells)} |")
    if not lines:
        return []
    return [f"| {first} | *n* | {' | '.join(columns)} |", "|---:|---:|" + "---|" * len(columns), *lines]


def cell_text(world: World, size_bytes: int, label: str, place: Place) -> str:
    """The ratio of an arm to the engine, or why there is none."""
    judged = world.judged(size_bytes, label, place)
    if judged is not None:
        return ratio_cell(judged)
    variant = split_label(label)[1] if world.is_native else ORDINARY
    if not variant.takes_part(size_bytes):
        return ""
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
