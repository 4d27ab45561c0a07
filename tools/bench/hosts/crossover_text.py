"""The part of the page on crossovers: α and β, times beside the model's, and where algorithms change places.

For: Markdown. Not for: finding crossovers (ringtree.judge.summary) or predicting them (crossover.py).
"""

from __future__ import annotations

from collections.abc import Mapping

from bench.effects import World
from bench.hosts.bars import shape
from bench.hosts.crossover import Predicted, predict, seconds
from bench.hosts.links import Link, LinkTimes, link_of
from bench.hosts.text import CROSSOVER_TEXT, SHAPED_TEXT, UNSHAPED_TEXT
from bench.hosts.worlds import World as Planned
from ringtree.judge.cells import rows_of
from ringtree.judge.comparison import Crossover
from ringtree.judge.findings import crossovers_of
from ringtree.units import (
    format_factor,
    format_rate,
    format_size,
    format_size_range,
    format_time,
    format_time_range,
)


def crossover_lines(part: Planned, world: World, links: LinkTimes) -> list[str]:
    """Returns the whole part."""
    of_modes = {"alone": links.alone, "all pairs": links.together}
    known = {name: link_of(one_way) for name, one_way in of_modes.items() if one_way}
    rate = "200 Mbit/s" if part.shaping is not None else "unshaped"
    shaped = SHAPED_TEXT if part.shaping is not None else UNSHAPED_TEXT
    lines = [f"## {shape(part)}, {rate}: where algorithms change places", "", f"{shaped} {CROSSOVER_TEXT}", ""]
    if known:
        lines += [
            "| messages to and fro | α, half of a round trip of 8 bytes | β, by 1 MB over 256 KB |",
            "|---|---|---|",
        ]
    for name, link in known.items():
        alpha, beta = link.alpha, link.beta
        lines.append(
            f"| {name} | {format_time(alpha.median)} ({format_time_range(alpha.low, alpha.high)}) | "
            f"{format_rate(beta.median)} ({format_rate(beta.low)} to {format_rate(beta.high)}) |"
        )
    return [*lines, "", *_crossovers(part, world, known), "", *_times(part, world, known), ""]


def _crossovers(part: Planned, world: World, known: Mapping[str, Link]) -> list[str]:
    found = measured(world)
    if not found:
        return ["The launches are too few to tell where algorithms change places."]
    lines = ["| algorithms | measured |" + "".join(f" model, {name} | measured / model |" for name in known)]
    lines += ["|---|---|" + "---|---:|" * len(known)]
    for one in found:
        cells = [f"{one.first}, {one.second}", _measured_text(one)]
        for link in known.values():
            predicted = predict(one.first, one.second, part.hosts, part.ranks_per_host, link)
            ratio = "–"
            if predicted is not None and one.estimate is not None:
                ratio = f"{format_factor(one.estimate / predicted.estimate)}×"
            cells += [_model_text(predicted), ratio]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def measured(world: World) -> list[Crossover]:
    """Returns the crossovers that the launches show."""
    rows = [row for size in world.sizes for row in rows_of(world.cells, size) if row.shown]
    return [one for one in crossovers_of(world.cells, rows) if one.sizes]


def _measured_text(one: Crossover) -> str:
    if one.kind == "none":
        return f"none: {one.faster_below} is faster throughout"
    if one.estimate is None or one.low is None or one.high is None:
        first, second = (
            ", ".join(map(format_size, at)) or "nowhere" for at in (one.first_faster_at, one.second_faster_at)
        )
        return f"{one.kind}: {one.first} is shown to be faster at {first}; {one.second} at {second}"
    estimate = format_size_range(one.estimate, one.estimate)
    return f"{estimate} ({format_size_range(one.low, one.high)}; {one.label}); {one.faster_below} is faster below"


def _model_text(predicted: Predicted | None) -> str:
    if predicted is None:
        return "–"
    estimate, ends = format_size_range(predicted.estimate, predicted.estimate), (predicted.low, predicted.high)
    return f"{estimate} ({format_size_range(*ends)}); {predicted.faster_below} is faster below"


def _times(part: Planned, world: World, known: Mapping[str, Link]) -> list[str]:
    """Measured medians, and how far each is from the model with either α and β."""
    beside = f" (from the model: {', '.join(known)})" if known else ""
    lines = [f"| size | {' | '.join(f'{label}{beside}' for label in world.labels)} |"]
    lines += ["|---:|" + "---|" * len(world.labels)]
    for size in world.sizes:
        cells = []
        for label in world.labels:
            time = next((found for place in world.places if (found := world.time(size, label, place))), None)
            if time is None:
                cells.append("–")
                continue
            off = []
            for link in known.values():
                expected = seconds(label, part.hosts, part.ranks_per_host, size, link.alpha.median, link.beta.median)
                off.append(f"{time.median / expected - 1:+.0%}")
            text = f"{format_time(time.median)} ({format_time_range(time.low, time.high)})"
            cells.append(f"{text} {', '.join(off)}".rstrip())
        lines.append(f"| {format_size(size)} | {' | '.join(cells)} |")
    return lines
