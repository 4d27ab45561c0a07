"""Rows that come in pieces: cut by marks within a line, or by lines of others between them.

For: choosing among the ways to read damaged text, and the pieces that wait for the rest. Not for: what a row says
(scan.py), whose it is (stream.py).

A cut within a number makes two figures of it. So a text is read with each cut as a blank and as nothing, and the
reading that has just the figures of a row is it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import product
from typing import NamedTuple

from ringtree.logs.nccltests import scan
from ringtree.logs.nccltests.layout import Layout

_MAX_LENGTH = 400  # characters of a row in pieces
_MAX_WAYS = 4
# A line of NCCL, which is not a piece, though a container's name may begin with a digit: "4f0c9a1d2b3e:17:17 [0] ".
_OF_NCCL = re.compile(r"\s*[\w.-]+:\d+:\d+[ \t]+\[")
_PART, _MORE, _EXACT = range(3)  # how many figures a reading has


class Reading(NamedTuple):
    """A row, or part of one, in a text."""

    text: str
    found: scan.Found

    @property
    def rest(self) -> str:
        """Returns what stands before and behind it."""
        return (self.text[: self.found.begin] + self.text[self.found.end :]).strip()


def best_reading(texts: Iterable[str], layout: Layout | None) -> Reading | None:
    """Returns the best of several readings of a line, the first of those that are alike; None: no row begins in it."""
    best: tuple[int, Reading] | None = None
    for text in texts:
        found = scan.find(text)
        if found is None:
            continue
        fit = _fit(layout, found)
        if best is None or fit > best[0]:
            best = fit, Reading(text, found)
        if fit == _EXACT:
            break
    return best[1] if best is not None else None


class Pieces:
    """The pieces of a row that began in `line` and has not ended; false if there are none."""

    def __init__(self) -> None:
        self.line = 0
        self._ways: list[str] = []

    def __bool__(self) -> bool:
        return bool(self._ways)

    def begin(self, text: str, line: int) -> None:
        """Keeps the first piece."""
        self._ways, self.line = [text], line

    def drop(self) -> str:
        """Gives the pieces up and returns them."""
        text = self._ways[0] if self._ways else ""
        self._ways = []
        return text

    def join(self, text: str, layout: Layout) -> tuple[scan.Found | None, str]:
        """Adds a text that may be the next piece. Returns the row once it is whole, and what is not a piece of it."""
        if len(self._ways[0]) > _MAX_LENGTH or _OF_NCCL.match(text) is not None:
            return None, text
        grown: list[tuple[str, str]] = []
        more: scan.Found | None = None
        for before, glue in product(self._ways, (" ", "")):
            joined = before + glue + text
            found = scan.find(joined)
            if found is None or found.end <= len(before):
                continue
            rest = joined[found.end :]
            fit = _fit(layout, found)
            if fit == _EXACT:
                self._ways = []
                return found, rest.strip()
            more = found if fit == _MORE and not rest.strip() else more
            # Other text may be glued to the pieces, but not stand beside them: "12 ranks died" is not a piece.
            if fit == _PART and not rest[:1].isspace():
                grown.append((joined[: found.end], rest))
        if more is not None:
            self._ways = []
            return more, ""
        if not grown:
            return None, text
        self._ways = [pieces for pieces, _ in grown[:_MAX_WAYS]]
        return None, grown[0][1]


def _fit(layout: Layout | None, found: scan.Found) -> int:
    if layout is None or not layout.stated:
        return _EXACT if scan.row_without_heading(found, 0)[0] is not None else _PART
    wanted = layout.num_figures + (1 if layout.has_root else 0)
    if len(found.figures) == wanted and scan.row_under(layout, found, 0, broken=False)[0] is not None:
        return _EXACT
    return _MORE if len(found.figures) > wanted else _PART
