"""The reader of what nccl-tests and rccl-tests print, of all versions.

For: offering each line to the stream of its process. Not for: what is made of it (stream.py).

Lines of NCCL between the rows are left to their reader, also where they are glued to a row.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import product

from ringtree.logs.lines import MARK_INSIDE, Line
from ringtree.logs.nccltests.markers import (
    Concluded,
    Marker,
    Note,
    Other,
    Program,
    Rank,
    line_inside,
    read_marker,
    without_residue,
)
from ringtree.logs.nccltests.run import Around
from ringtree.logs.nccltests.scan import could_hold_row
from ringtree.logs.nccltests.stream import Stream
from ringtree.logs.reading import Context, Sink

_ELISIONS = ("...", "…", "[...]")
_MAX_STREAMS = 4096  # open at once
_MAX_KNOWN_TEXT = 300
_MAX_MARKS = 3  # inside a line, that are tried as cuts within a number


class NcclTestsReader:
    """A LineReader."""

    def __init__(self, context: Context, sink: Sink) -> None:
        self._around = Around(context, sink)
        self._streams: dict[str, Stream] = {}
        self._command = context.command

    def feed(self, line: Line) -> bool:
        """Takes rows and the lines around tables."""
        stream = self._streams.get(line.job)
        if stream is not None and stream.plain:
            text, number = line.text, line.number
            if stream.take_whole(text, number, certain=True) or stream.take_whole(text, number, certain=False):
                return True
        return self._look(line, stream)

    def expects_row(self, job: str) -> bool:
        """As RowReader has it."""
        stream = self._streams.get(job)
        return stream is not None and stream.plain

    def quick(self, text: str, job: str, number: int) -> bool:
        """As RowReader has it."""
        stream = self._streams.get(job)
        return stream is not None and stream.plain and stream.take_whole(text, number, certain=True)

    @property
    def is_open(self) -> bool:
        """As RowReader has it."""
        return bool(self._streams)

    def finish(self) -> None:
        """Emits what is open."""
        for stream in self._streams.values():
            stream.finish()
        self._streams.clear()

    def _look(self, line: Line, stream: Stream | None) -> bool:
        text = without_residue(line.text if "\t" not in line.text else line.text.replace("\t", " "))
        if not text:
            return False
        if text == "#":
            return True  # between parts of a header, and nothing else
        places = stream.places if stream is not None else ()
        marker = _marker(text, places)
        if marker is None and "#" in text and (inside := line_inside(text)):
            text = inside
            marker = _marker(text, places)
        if marker is not None:
            return self._take_marker(marker, text, line, stream)
        around, context = self._around, self._around.context
        if "CCL version" in text and context.library_version is not None:
            around.library_line = line.number
        if context.command is not self._command:
            self._command, around.command_line = context.command, line.number
        if text[0] == "#":
            around.heading = context.heading
            return False
        if not (text[0].isdigit() or could_hold_row(text) or (stream is not None and stream.pieces)):
            if stream is not None and text in _ELISIONS:
                stream.elide()
            return False
        if "|" in text:
            return False  # a table in Markdown
        return self._take_row(line, text)

    def _take_marker(self, marker: Marker, text: str, line: Line, stream: Stream | None) -> bool:
        around, kind = self._around, type(marker)
        if text[0] == "#":
            around.context.heading = around.heading  # it only looks like Markdown's
        if kind is Other and (stream is None or not stream.is_open):
            return False
        if kind is Rank:
            stream = self._writer(line.job, stream)
        elif kind is Program or kind is Concluded:
            around.context.command = self._command  # it names a program, but is not a command
        elif kind is Note and "CCL version" in text:
            around.library_line = line.number
        (stream or self._stream(line.job)).take(marker, line.number)
        return True

    def _take_row(self, line: Line, text: str) -> bool:
        is_new = line.job not in self._streams
        stream = self._stream(line.job)
        rest = stream.take_row(_ways_to_read(line, text), text, line.number)
        if is_new and not stream.is_open:
            del self._streams[line.job]
        return rest != text and "NCCL " not in rest

    def _writer(self, job: str, stream: Stream | None) -> Stream:
        """Whose run a line of a rank belongs to: in the oldest versions each process wrote its own."""
        if stream is not None and stream.is_open:
            return stream
        others = [each for each in self._streams.values() if each.is_open]
        return others[0] if len(others) == 1 else self._stream(job)

    def _stream(self, job: str) -> Stream:
        stream = self._streams.get(job)
        if stream is None:
            if len(self._streams) >= _MAX_STREAMS:
                oldest = next(iter(self._streams))
                self._streams.pop(oldest).finish()
            stream = self._streams[job] = Stream(self._around, job)
        return stream


_known_marker = lru_cache(maxsize=1024)(read_marker)


def _marker(text: str, places: tuple[str, ...]) -> Marker | None:
    """As read_marker: headings and settings are the same in each table of a log, so they are read once."""
    known = text[0] == "#" and len(text) <= _MAX_KNOWN_TEXT
    return _known_marker(text, places) if known else read_marker(text, places)


def _ways_to_read(line: Line, text: str) -> Iterator[str]:
    """The line, then, where marks stand inside it, the line with some of them taken as cuts within a number."""
    yield text
    pieces = MARK_INSIDE.split(line.raw, _MAX_MARKS + 1)
    if len(pieces) < 2:
        return
    pieces = [piece for piece in pieces if piece.strip()]
    for glue in product((" ", ""), repeat=len(pieces) - 1):
        yield without_residue("".join(part for pair in zip(pieces, (*glue, ""), strict=True) for part in pair))
