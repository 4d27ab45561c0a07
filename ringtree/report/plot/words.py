"""Words on figures: what is drawn, and where it was measured.

For: titles. Not for: verdicts (ringtree.lab.words).
"""

from __future__ import annotations

from ringtree.lab.comparison import Comparison
from ringtree.lab.words import placement_phrase


def subject(run: Comparison) -> str:
    """Returns "all_reduce, float32 sum, 2 ranks, 8 launches", and that it is emulated where it is."""
    cluster = run.emulated
    emulated = f", emulated {cluster.hosts}x{cluster.ranks_per_host}" if cluster is not None else ""
    return f"{run.collective}, {run.dtype} {run.op}, {run.num_ranks} ranks, {run.num_launches} launches{emulated}"


def placements(run: Comparison) -> list[str]:
    """Returns the placements that have rows to show, in their order."""
    return list(dict.fromkeys(row.placement for row in run.shown_rows())) or [""]


def panel_title(place: str) -> str:
    """Returns "near cores", or nothing where there is one placement only."""
    return placement_phrase(place) if place else ""
