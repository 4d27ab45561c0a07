"""A ladder in plain words: what the changes brought, in which order, and which of them depend on the others.

For: sentences that say no more than the verdicts support. Not for: layout (table.py), figures (explain/ladder.py).
"""

from __future__ import annotations

from collections.abc import Sequence

from ringtree.explain.ladder_record import Effect, Ladder, PanelRecord, RungRecord, TakingRecord
from ringtree.judge.comparison import MIXED
from ringtree.units import format_factor, format_factor_range, format_share, format_size, format_time

_CALLED = {
    "torch": "in place, through PyTorch",
    "numpy": "in place, on NumPy arrays",
    "native": "out of place, called from C",
    "cuda": "in place, put on the GPU's stream from Python",
}


def called(ladder: Ladder) -> str:
    """Returns how every arm of the ladder was called."""
    return _CALLED.get(ladder.through, ladder.through)


def headline(panel: PanelRecord) -> str:
    """One line: from where to where, and how many times that is."""
    timed = [rung for rung in panel.rungs if rung.time is not None]
    if not timed or panel.total is None:
        return f"{place(panel)}: too little is measured for a ladder"
    first, last = timed[0].time, timed[-1].time
    assert first is not None
    assert last is not None
    floor = "" if panel.floor is None else f"; the floor is {format_time(panel.floor)}"
    reached = "" if panel.floor is None else f", of which the top reaches {format_share(panel.floor / last.median)}"
    return (
        f"{place(panel)}: {timed[0].arm} {format_time(first.median)}, {timed[-1].arm} {format_time(last.median)}: "
        f"{in_words(panel.total)}{floor}{reached}"
    )


def story(panel: PanelRecord) -> list[str]:
    """Returns what may be said about the rungs of a panel, and about the top without one thing; one line each."""
    steps = [(rung, rung.step) for rung in panel.rungs if rung.step is not None]
    faster = sorted((pair for pair in steps if pair[1].verdict == "faster"), key=lambda pair: -pair[1].factor)
    lines = []
    if faster:
        lines.append(f"faster, most first: {_listed(faster)}")
    slower = [pair for pair in steps if pair[1].verdict == "slower"]
    if slower:
        lines.append(f"slower: {_listed(slower)}")
    alike = [pair for pair in steps if pair[1].verdict == "equivalent"]
    if alike:
        lines.append(f"no more than the margin: {_listed(alike)}")
    unknown = [pair for pair in steps if pair[1].verdict == "inconclusive"]
    if unknown:
        lines.append(f"inconclusive: {_listed(unknown)}")
    return [*lines, *_interactions(panel)]


def place(panel: PanelRecord) -> str:
    """Returns "4 KB", "4 KB, near cores"."""
    size = format_size(panel.size_bytes)
    if not panel.placement:
        return size
    return f"{size}, {'cores of any placement' if panel.placement == MIXED else panel.placement + ' cores'}"


def in_words(effect: Effect) -> str:
    """Returns "4.0× (3.9–4.1)"; without an interval if there is none."""
    if effect.low is None or effect.high is None:
        return f"{format_factor(effect.factor)}×"
    return f"{format_factor(effect.factor)}× ({format_factor_range(effect.low, effect.high)})"


def _listed(pairs: Sequence[tuple[RungRecord, Effect]]) -> str:
    return ", ".join(f"{rung.title} {in_words(step)}" for rung, step in pairs)


def _interactions(panel: PanelRecord) -> list[str]:
    steps = {rung.key: rung for rung in panel.rungs}
    return [
        f"depends on the others: {steps[taking.key].title} is {_brought(steps[taking.key])} as a rung and "
        f"{_kept(taking)} at the top"
        for taking in panel.takings
        if taking.interaction is not None and taking.interaction.verdict in ("faster", "slower")
    ]


def _brought(rung: RungRecord) -> str:
    assert rung.step is not None
    return in_words(rung.step)


def _kept(taking: TakingRecord) -> str:
    assert taking.worth is not None
    return in_words(taking.worth)
