"""What stands above a table: headings of the document and the line before.

For: what a table's own columns leave open (the collective, the measure, the number of ranks), when a heading says so.
Prose is not read: of the line before the table only what ends in a colon, or is bold. Not for: the table.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ringtree.logs.quantities import Unit, plain
from ringtree.logs.records import NOT_STATED, Table
from ringtree.logs.tables.headings import MEASURES, Heading, Kind, classify
from ringtree.logs.words import algorithm_in, collective_in, training_in

_MAX_TEXT = 200
_MAX_TITLE = 100  # a longer line before a table is prose, even if it ends in a colon
_MAX_LEVEL = 6
_RANKS = re.compile(r"(?<![\w.])(\d{1,6})[\s-]*x?[\s-]*(?:gpus?|ranks|processes)(?![a-z])", re.IGNORECASE)
_HOSTS = re.compile(r"(?<![\w.])(\d{1,5})[\s-]*(?:nodes?|hosts?)(?![a-z])", re.IGNORECASE)
_SIZE = re.compile(r"(?<![\w.-])(\d{1,6}(?:\.\d{1,3})?\s?[KMGT]i?B)(?![\w/])")


@dataclass
class Caption:
    """`because`: for each field that was concluded, from which heading. `kind`: of columns that name no measure.
    `rate_factor`: what the source's units of bytes/s are in those that they are called. `training`: how it is divided
    (FSDP FULL_SHARD), where a heading says it."""

    title: str = ""
    collective: str | None = None
    num_ranks: int | None = None
    num_hosts: int | None = None
    algorithm: str | None = None
    kind: Kind | None = None
    unit: Unit | None = None
    time_unit: Unit | None = None
    place: str = NOT_STATED
    size: str = ""
    rate_factor: float = 1.0
    tool: str | None = None
    training: str = ""
    settings: dict[str, str] = field(default_factory=dict)
    because: dict[str, str] = field(default_factory=dict)

    def say(self, name: str, value: object, why: str) -> None:
        """Sets a field to what a heading says, unless that is None."""
        if value is not None:
            setattr(self, name, value)
            self.because[name] = why

    def put(self, table: Table, name: str) -> None:
        """Sets a field of the table to what a heading said of it, if one did."""
        if name in self.because:
            table.conclude(name, getattr(self, name), self.because[name])


class Headings:
    """The headings above the present line, one a level, and the line before."""

    def __init__(self) -> None:
        self._levels: dict[int, str] = {}
        self.line = ""

    def see(self, text: str) -> None:
        """Takes a line that is not a row of a table."""
        self.line = text
        if text.startswith("#"):
            text = text[:_MAX_TEXT].strip()
            level = len(text) - len(text.lstrip("#"))
            if level <= _MAX_LEVEL and text[level : level + 1] == " ":
                self._levels = {above: heading for above, heading in self._levels.items() if above < level}
                self._levels[level] = text[level:].strip(" #")
                self.line = ""

    def caption(self) -> Caption:
        """Returns what they say about a table that begins now. The nearest heading wins; of the document's own
        heading only the collective is taken, since the rest describes the machine."""
        line = self.line.strip()
        near = [line] if len(line) <= _MAX_TITLE and _is_title(line) else []
        inner = near + [self._levels[level] for level in sorted(self._levels, reverse=True)]
        caption = Caption(title=plain(inner[0]) if inner else "")
        caption.training = next((kind for text in inner if (kind := training_in(text))), "")
        for position, text in enumerate(inner):
            document = position > 0 and position == len(inner) - 1
            why = f'the heading "{plain(text)}"'
            _take(caption, "collective", collective_in(text), why)
            if document:
                break
            _take(caption, "num_ranks", _number(_RANKS, text), why)
            _take(caption, "num_hosts", _number(_HOSTS, text), why)
            if position <= len(near):
                _take(caption, "algorithm", algorithm_in(text), why)
                found = _SIZE.findall(text)
                _take(caption, "size", found[0] if len(found) == 1 else None, why)
                _take_measure(caption, text, why)
        return caption


def _is_title(line: str) -> bool:
    return bool(line) and (line.rstrip("*_ ").endswith((":", "：")) or (line.startswith("**") and line.endswith("**")))


def _number(pattern: re.Pattern[str], text: str) -> int | None:
    found = set(pattern.findall(text))
    return int(found.pop()) if len(found) == 1 else None


def _take(caption: Caption, name: str, value: object, why: str) -> None:
    if not getattr(caption, name):
        caption.say(name, value, why)


def _take_measure(caption: Caption, text: str, why: str) -> None:
    """A heading's measure: its last part in brackets or behind a comma that names one, or all of it."""
    if caption.kind is not None:
        return
    parts = [text, *re.split(r"[(),:（），：]", text)]
    heading: Heading | None = None
    for part in parts:
        one = classify(part.strip())
        if one.kind in MEASURES and (heading is None or one.unit is not None or heading.unit is None):
            heading = one
    if heading is not None:
        caption.unit = heading.unit
        caption.say("kind", heading.kind, why)
    caption.place = caption.place or classify(text).place
