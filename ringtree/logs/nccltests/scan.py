"""Rows in lines that are not just rows: broken off, in pieces, with other text before or behind.

For: the row that a text holds, as far as it goes. Not for: undamaged rows under a heading (Layout.read), putting the
pieces together (stream.py).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ringtree.logs.nccltests.headings import concluded_layout
from ringtree.logs.nccltests.layout import Layout
from ringtree.logs.quick_rows import LARGEST, NOT_CHECKED
from ringtree.logs.records import IN_PLACE, Row, RowReason, Side
from ringtree.nccl.nccl_tests import DTYPE_BYTES, PRINTED_OPS

PLACEHOLDERS = RowReason("figures replaced by placeholders")
BROKEN = RowReason("a row that breaks off")
WRONG_SIZE = RowReason("a row whose size is smaller than its elements")
NO_FIT = RowReason("a row without a heading whose figures fit no known columns")

_TYPES = "|".join(sorted(DTYPE_BYTES, key=len, reverse=True))
_OPS = "|".join(sorted(PRINTED_OPS, key=len, reverse=True))
# A tag may be glued to the size: "[STAT]:100663296".
_HEAD = re.compile(
    rf"(?<![\w.,/=+-])(?:(?<!:)|(?<=\]:))(\d{{1,19}})[ \t]+(\d{{1,19}})[ \t]+({_TYPES})(?![\w.])"
    rf"(?:[ \t]+({_OPS})(?![\w.]))?"
)
# A figure as printf writes it: no leading zero, so that "0" and the text glued to it ("010.0.0.1:12") come apart.
_NUMBER = r"-?(?:0|[1-9]\d*)(?:\.\d*)?(?:e[+-]\d{2,3})?"
# What may follow: a blank or glued text, but not the rest of a number that was cut ("1e-0"), or of an address.
_BEHIND = r"(?!e(?:[+-]|\s|$))(?=\s|$|[A-Za-z_\[(<|#'\"`\\]|(?:(?<=[ \t]0)|(?<=N/A))[\d.:/-])"
_FIGURE = re.compile(rf"[ \t]+({_NUMBER}|{NOT_CHECKED}|-?nan|-?inf)\*?{_BEHIND}")
# No root is smaller than -1: what follows it is glued text. A container's name may begin with a digit ("-14f0c9a1d:7").
_NO_ROOT = re.compile(r"[ \t]+(-1)(?=\S)")
_TIMESTAMP = re.compile(r"[ \t]+(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)")
_EXECUTED = re.compile(r"[ \t]*([A-Za-z_]\w*|N/A)[ \t]+([A-Za-z]\w*|N/A)[ \t]+(\d{1,4}|N/A)(?=\s|$)")
_PLACEHOLDER = re.compile(r"[ \t]*(?:[Xx?*]+(?:\.[Xx?*]+)?|\.\.\.+|…|-+)(?=\s|$)")
_MEASUREMENT = rf"[ \t]*\d+(?:\.\d{{1,3}})?(?:[ \t]+\d+\.\d\d){{2}}[ \t]+(?:{NOT_CHECKED}|\d+|\de[+-]\d\d)"
_MEASUREMENTS = re.compile(rf"{_MEASUREMENT}([ \t]{_MEASUREMENT})?\s*")
_BLANK_SIDE = 25  # blanks where a measurement was left out; columns are at most 12 wide
_TYPE_WORD = re.compile(r" (?:float|half|double|bfloat16|int|uint|f8e|fp8|char)")


@dataclass
class Found:
    """What a text holds of a row, from `begin` to `end`. `figures`: all behind the head, the root still among them.

    `gap`: blanks before them, where a measurement was left out.
    """

    begin: int
    end: int
    size: int
    count: int
    dtype: str
    op: str | None
    gap: int
    figures: list[str] = field(default_factory=list)
    timestamp: str = ""
    executed: tuple[str, str, str] | None = None
    placeholders: bool = False


def could_hold_row(text: str) -> bool:
    """Says, quickly, whether it is worth looking for a row in a text that does not begin like one."""
    return _TYPE_WORD.search(text) is not None


def find(text: str) -> Found | None:
    """Returns the first row in the text, however little of it; None if there is no beginning of one."""
    head = _HEAD.search(text)
    if head is None:
        return None
    size, count, dtype, op = head.groups()
    at = head.end()
    found = Found(head.start(), at, int(size), int(count), dtype, op, 0)
    if (root := _NO_ROOT.match(text, at)) is not None:
        found.figures.append(root.group(1))
        at = root.end()
    while (figure := _FIGURE.match(text, at)) is not None:
        if not found.figures or (len(found.figures) == 1 and not found.gap):
            found.gap = figure.start(1) - at  # before the first figure, or the second if the first is the root
            found.gap = found.gap if found.gap >= _BLANK_SIDE else 0
        found.figures.append(figure.group(1))
        at = figure.end()
    if (stamp := _TIMESTAMP.match(text, at)) is not None:
        found.timestamp, at = stamp.group(1), stamp.end()
    if (executed := _EXECUTED.match(text, at)) is not None:
        found.executed, at = (executed.group(1), executed.group(2), executed.group(3)), executed.end()
    found.placeholders = _PLACEHOLDER.match(text, at) is not None
    found.end = at
    return found


def num_measurements(text: str) -> int:
    """Returns how many measurements a text is and nothing else: 1 or 2 are the end of a row, 0 is something else."""
    found = _MEASUREMENTS.fullmatch(text)
    return 0 if found is None else 1 if found.group(1) is None else 2


def row_under(layout: Layout, found: Found, number: int, broken: bool) -> tuple[Row | None, str]:
    """Returns the row that `found` is under a heading, and the reason if it is none.

    `broken`: nothing more will come, so whole measurements are a row, with the reason that half of it is missing; else
    a row that is not complete is not a row and has no reason either: more may come.
    """
    if found.placeholders:
        return None, PLACEHOLDERS
    wanted = layout.num_figures
    has_root = layout.has_root or len(found.figures) == wanted + 1
    figures = found.figures[has_root:]
    only_in_place = bool(found.gap) and len(layout.sides) == 2 and len(figures) >= layout.sides[1].width
    root = _whole(found.figures[0]) if has_root and found.figures else None
    if has_root and found.figures and root is None:
        return None, BROKEN if broken else ""
    try:
        if len(figures) >= wanted:
            sides = layout.make_sides(figures)
        elif only_in_place:
            sides = _in_place_only(layout, figures)
        elif broken:
            sides = _whole_sides(layout, figures)
        else:
            return None, ""
    except ValueError:
        sides = ()
    if not sides or found.size > LARGEST or found.count > LARGEST:
        return None, BROKEN if broken or len(figures) < wanted else PLACEHOLDERS
    row = Row(number, found.size, sides, found.count, found.dtype, found.op, root)
    return row, BROKEN if len(sides) < len(layout.sides) and not only_in_place else ""


def row_without_heading(found: Found, number: int) -> tuple[Row | None, Layout | None, str]:
    """Returns the row, its concluded layout and the reason if it is none. Only whole rows whose arithmetic holds."""
    if found.placeholders:
        return None, None, PLACEHOLDERS
    has_root = len(found.figures) % 4 == 1
    figures = found.figures[has_root:]
    if len(figures) < 4:
        return None, None, BROKEN
    decimals = len(figures[0].partition(".")[2])
    layout = concluded_layout(len(figures), found.op is not None, has_root, figures[3], decimals)
    if layout is None:
        return None, None, BROKEN
    row, reason = row_under(layout, found, number, broken=False)
    if row is not None and (reason := contradiction(row)):
        return None, None, reason
    return row, layout if row is not None else None, reason


def contradiction(row: Row) -> str:
    """Returns the reason why a row that stands under no heading can't be read as it was; empty if it can."""
    if row.size_bytes is None or row.count is None or row.dtype is None:
        return NO_FIT
    if row.size_bytes < row.count * DTYPE_BYTES[row.dtype]:
        return WRONG_SIZE
    return "" if all(_fits(row.size_bytes, side) for side in row.sides) else NO_FIT


def _fits(size_bytes: int, side: Side) -> bool:
    """Says whether algbw may be size / time. Old versions left the rank's own block out: half of it with two ranks."""
    if side.time is None or side.algbw is None or not side.time.value > 0:
        return True
    slack = 0.5 * side.algbw.resolution
    rate = size_bytes / side.time.value
    slowest = rate * (1 - side.time.resolution / side.time.value)
    fastest = rate * (1 + side.time.resolution / side.time.value)
    return slowest / 2 - slack <= side.algbw.value * 1.001 and side.algbw.value <= (fastest + slack) * 1.001


def _whole(text: str) -> int | None:
    try:
        value = int(text)
    except ValueError:
        return None
    return value if -1 <= value < 1 << 31 else None


def _in_place_only(layout: Layout, figures: list[str]) -> tuple[Side, ...]:
    width = layout.sides[1].width
    sides = layout.make_sides([*figures[:width], *figures[:width]])
    return tuple(side for side in sides if side.place == IN_PLACE)


def _whole_sides(layout: Layout, figures: list[str]) -> tuple[Side, ...]:
    """The measurements that are all there; one that lacks a figure is left out, since its last one may be cut, too."""
    how_many = width = 0
    for side in layout.sides:
        width += side.width
        how_many += width <= len(figures)
    return layout.make_sides(figures, how_many)
