"""The interfaces of readers, and what they share about a file.

For: whoever writes a reader. Two kinds: a LineReader is offered every line of a text file, since one file may hold
several formats between each other; a FileReader takes a file as a whole, by how it begins.
Not for: choosing among them (registry.py, importing.py).

A reader never guesses silently: what the source does not say stays None, and what is concluded is an Inference. It
never raises for what stands in a file: what it can't read, it leaves or gives to `skip`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import BinaryIO, Protocol

from ringtree.logs.lines import Line
from ringtree.logs.records import Example, Item, Skipped

MAX_EXAMPLES = 5
NOT_RECOGNISED = "no reader knows it"
_MAX_TEXT = 200


class UnreadableFileError(Exception):
    """A file that began like a format and is not: in one line, why. It is then read as text."""


@dataclass
class Sink:
    """Where readers put what they found. `emit` gets items in the order in which they end."""

    emit: Callable[[Item], None]
    skipped: dict[str, Skipped] = field(default_factory=dict)

    def skip(self, reason: str, number: int, text: str) -> None:
        """Counts a line that could not be read, and keeps the first ones of each reason. Reasons are fixed texts."""
        entry = self.skipped.setdefault(reason, Skipped(reason))
        entry.num_lines += 1
        if len(entry.examples) < MAX_EXAMPLES:
            entry.examples.append(Example(number, text.strip()[:_MAX_TEXT]))

    def merge(self, other: Sink) -> None:
        """Adds what another one skipped."""
        for reason, theirs in other.skipped.items():
            entry = self.skipped.setdefault(reason, Skipped(reason))
            entry.num_lines += theirs.num_lines
            entry.examples += theirs.examples[: MAX_EXAMPLES - len(entry.examples)]


@dataclass
class Context:
    """What lines said so far that more than one reader may want.

    `heading`: the last Markdown heading or title; `environment`: variables of NCCL and its like that were echoed;
    `library_version`: of the last "NCCL version …" line; `command`: the last line that named a benchmark's program.
    `of_command`: the variables that were given to one command only, or announced by it: the next one begins without
    them. `continues`: the last line of a command ended with a backslash. `fence`: what began the block of code that the
    line stands in, as Markdown has it; empty outside of one.
    """

    name: str
    heading: str = ""
    command: str = ""
    library: str | None = None
    library_version: str | None = None
    environment: dict[str, str] = field(default_factory=dict)
    of_command: set[str] = field(default_factory=set)
    continues: bool = False
    fence: str = ""


class LineReader(Protocol):
    """A push parser, made once for each file."""

    def feed(self, line: Line) -> bool:
        """Takes the line and returns True, or leaves it to the next reader."""
        ...

    def finish(self) -> None:
        """The file is over: emits what is open, marked as incomplete where it is."""
        ...


class RowReader(LineReader, Protocol):
    """One that takes rows below its own headings, through whose tables they pass by the million."""

    @property
    def is_open(self) -> bool:
        """False: a row that is not its own would be left, and nothing changed by it."""
        ...

    def expects_row(self, job: str) -> bool:
        """Says whether a row may well follow the line that it took last, which was one of `job`."""
        ...

    def quick(self, text: str, job: str, number: int) -> bool:
        """Takes a row of an open table if it is certain that it is one: of plain numbers, blanks and words that its
        heading lets expect, which no cleaning would change. False: nothing was changed."""
        ...


LineReaderFactory = Callable[[Context, Sink], LineReader]


class FileReader(Protocol):
    """Takes a file as a whole: JSON, XML, CSV with a header of its own. Without state."""

    def sniff(self, head: str) -> bool:
        """Says whether a file that begins with `head` (up to 64 KiB, a collector's comments removed) is of this
        format."""
        ...

    def read(self, source: BinaryIO, context: Context, sink: Sink) -> None:
        """Reads the seekable file from where it stands, behind a collector's comments. Raises
        UnreadableFileError, before anything was emitted, where nothing can be made of it."""
        ...
