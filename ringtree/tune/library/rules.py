"""Rules by size for a library: ranges of bytes with a switch, and the library's own choice everywhere else.

For: ranges from choices at sizes. Not for: making choices (choosing.py), or a library's format (formats.py). Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import Field

from ringtree.results import Record
from ringtree.tune.rules import boundaries

DEFAULT = ""  # the switch of a library's own choice


class SizeRange(Record):
    """A switch for sizes from `first` to `last` bytes, both included."""

    first: int = Field(ge=0)
    last: int = Field(ge=0)
    switch: str


def ranges(choices: Mapping[int, str]) -> list[SizeRange]:
    """Returns the ranges in which a switch was chosen; `choices`: by measured size, DEFAULT for none.

    Between two measured sizes with different choices a range ends at their geometric mean. Nothing is concluded about
    sizes below the smallest and above the largest that were measured.
    """
    sizes = sorted(choices)
    first, found = min(sizes, default=0), []
    for until, switch in boundaries(sizes, [choices[size] for size in sizes]):
        last = sizes[-1] if until is None else until
        if switch != DEFAULT:
            found.append(SizeRange(first=first, last=last, switch=switch))
        first = last + 1
    return found


def all_ranges(found: Sequence[SizeRange]) -> list[tuple[int, str]]:
    """Returns (first byte, switch) of all ranges from 0 on, those of the library's own choice among them."""
    steps = [] if found and found[0].first == 0 else [(0, DEFAULT)]
    for i, this in enumerate(found):
        following = found[i + 1] if i + 1 < len(found) else None
        steps.append((this.first, this.switch))
        if following is None or following.first > this.last + 1:
            steps.append((this.last + 1, DEFAULT))
    return steps
