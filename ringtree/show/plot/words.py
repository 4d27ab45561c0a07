"""Words on figures: what is drawn, and where it was measured.

For: titles. Not for: verdicts (ringtree.judge.words).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ringtree.show.views import View


class Panel(NamedTuple):
    """One pair of axes: a view at one place."""

    view: View
    place: str
    title: str


def panels_of(views: Sequence[View]) -> list[Panel]:
    """Returns a panel for each view and place; titles say what tells them apart."""
    found = []
    for view in views:
        for place in view.places:
            title = place.title if place.name or len(view.places) > 1 else ""
            parts = [view.subject if len(views) > 1 else "", title]
            found.append(Panel(view, place.name, "\n".join(part for part in parts if part)))
    return found


def title_of(views: Sequence[View]) -> str:
    """Returns what stands above a figure; of several views each panel says it."""
    return views[0].subject if len(views) == 1 else ""
