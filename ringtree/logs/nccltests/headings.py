"""The lines above a table: which measurements, which columns, which units.

For: a Layout from them, in the words of every version; layouts for tables whose heading is missing. Not for: rows.

Blanks tell nothing here: pasted logs have them collapsed, so columns are told apart by their names.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ringtree.logs.nccltests.layout import TIMES, WRONGS, Layout, SideColumns
from ringtree.logs.records import IN_PLACE, MICROSECONDS, MILLISECONDS, NOT_STATED, OUT_OF_PLACE, SECONDS

_SIZES, _COUNTS, _OPS, _ROOT = ("size", "bytes"), ("count", "N"), ("redop", "op"), "root"
_TAIL = ("timestamp", "algo", "proto", "nchannels")
_OLDEST = "bytes"  # the heading of the versions that printed milliseconds and no units
_PLACES = {"out-of-place": OUT_OF_PLACE, "in-place": IN_PLACE}
_PLACE = re.compile(r"out-of-place|in-place")
_PLACES_LINE = re.compile(r"(?:(?:out-of-place|in-place)(?:\s+\(\+ per-iteration\))?\s*)+")
_UNIT = re.compile(r"\((us|ms|s)\)")
_UNITS = {"us": MICROSECONDS, "ms": MILLISECONDS, "s": SECONDS}
_PER_ITERATION = ("i_min", "i_max", "i_p99", "i_cv%")
BOTH = (OUT_OF_PLACE, IN_PLACE)


def read_heading(text: str, places: Sequence[str]) -> Layout | None:
    """Returns the columns that a line names ("size count type redop root time algbw …"), None if it names none.

    `places`: what the line above said; without one, two measurements are out of place and in place, as they always
    stand, and the layout says that this was concluded (`has_places`).
    """
    words = text.split()
    if len(words) < 6 or words[0] not in _SIZES or words[1] not in _COUNTS or words[2] != "type":
        return None
    starts = [index for index, word in enumerate(words) if word in TIMES]
    if not starts:
        return None
    lead = words[3 : starts[0]]
    figures = words[starts[0] :]
    while figures and figures[-1] in _TAIL:
        figures.pop()
    tail = tuple(words[starts[0] + len(figures) :])
    starts = [index for index, word in enumerate(figures) if word in TIMES]
    sides = [tuple(figures[start:end]) for start, end in zip(starts, [*starts[1:], len(figures)], strict=True)]
    if len(sides) > len(BOTH) or any(not _is_side(side) for side in sides) or not set(lead) <= {*_OPS, _ROOT}:
        return None
    stated = len(places) == len(sides)
    known = places if stated else BOTH if len(sides) == len(BOTH) else (NOT_STATED,)
    return Layout(
        sides=tuple(SideColumns(place, names) for place, names in zip(known, sides, strict=True)),
        has_op=any(word in _OPS for word in lead),
        has_root=_ROOT in lead,
        time_unit=MILLISECONDS if words[0] == _OLDEST else MICROSECONDS,
        tail=tail,
        has_places=stated,
    )


def read_places(text: str) -> tuple[str, ...]:
    """Returns the places that a line names and nothing else ("out-of-place   in-place"); empty if it is none such."""
    text = text.strip()
    if _PLACES_LINE.fullmatch(text) is None:
        return ()
    return tuple(_PLACES[word] for word in _PLACE.findall(text))


def read_units(text: str) -> float | None:
    """Returns the unit of time of a line of units ("(B) (elements) (us) (GB/s) …") in seconds, None if it is none."""
    if not text.startswith("(B)") or "GB/s" not in text or (found := _UNIT.search(text)) is None:
        return None
    return _UNITS[found.group(1)]


def concluded_layout(num_figures: int, has_op: bool, has_root: bool, wrong: str, decimals: int) -> Layout | None:
    """Returns the columns of a row that stands under no heading; None if no version prints so many figures.

    `wrong`: the first figure of that column, which old versions print as 1e-07 under "error"; `decimals` of the time:
    only milliseconds have three.
    """
    if num_figures not in (4, 8, 16):
        return None
    heading = "error" if "e-" in wrong or "e+00" in wrong else "#wrong"
    names = ("time", "algbw", "busbw", heading, *(_PER_ITERATION if num_figures == 16 else ()))
    places = (NOT_STATED,) if num_figures == 4 else BOTH
    return Layout(
        sides=tuple(SideColumns(place, names) for place in places),
        has_op=has_op,
        has_root=has_root,
        time_unit=MILLISECONDS if decimals == 3 else MICROSECONDS,
        stated=False,
        has_places=False,
    )


def _is_side(names: Sequence[str]) -> bool:
    known = {*TIMES, "hipevt", "algbw", "busbw", *WRONGS, *_PER_ITERATION}
    return {"algbw", "busbw"} <= set(names) <= known and len(set(names)) == len(names)
