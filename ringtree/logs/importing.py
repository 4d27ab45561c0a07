"""Reading one file: which readers take it, and what came of it.

For: everything that reads logs (`ringtree import`, the audit, tests). Not for: formats (the readers), storing.

Items are given away as they end, so a file of any size needs the memory of its largest part.
"""

from __future__ import annotations

import codecs
import gc
import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from ringtree.errors import UsageError
from ringtree.logs.context_lines import observe
from ringtree.logs.failures import FAILED, says_failed
from ringtree.logs.lines import TOO_LONG, Line, clean, raw_lines
from ringtree.logs.reading import (
    NOT_RECOGNISED,
    Context,
    RowReader,
    Sink,
    UnreadableFileError,
)
from ringtree.logs.records import Document, Item, Skipped, Table
from ringtree.logs.registry import FILE_READERS, LINE_READERS, ROW_READERS
from ringtree.logs.source import seekable

HEAD = 1 << 16
_ALLOCATIONS = 100_000  # between two collections
_COLLECTOR = ("# source:", "# hardware:", "# notes:")
_COLLECTOR_BYTES = tuple(mark.encode() for mark in _COLLECTOR)


@dataclass
class Imported:
    """What came of one file. `items` is empty if they were given to a callback instead."""

    name: str
    items: list[Item] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    num_lines: int = 0
    num_bytes: int = 0

    @property
    def tables(self) -> list[Table]:
        """Returns the tables among the items."""
        return [item for item in self.items if isinstance(item, Table)]

    @property
    def documents(self) -> list[Document]:
        """Returns the items that are not tables."""
        return [item for item in self.items if isinstance(item, Document)]


def read_file(path: Path, emit: Callable[[Item], None] | None = None) -> Imported:
    """Reads a file. With `emit`, items go there as they end. Raises UsageError if it can't be opened or read."""
    try:
        with open(path, "rb") as stream:
            return read_stream(stream, str(path), emit)
    except OSError as error:
        raise UsageError(f"can't read {path}: {error.strerror or error}") from error


def read_stream(stream: BinaryIO, name: str, emit: Callable[[Item], None] | None = None) -> Imported:
    """Reads what a stream holds; it needs not be seekable. Raises nothing for what stands in it."""
    imported = Imported(name)
    sink = Sink(emit or imported.items.append)
    with seekable(stream, lambda problem: sink.skip(problem, 1, "")) as whole, _rare_collections():
        imported.num_bytes = whole.seek(0, io.SEEK_END)
        head = _behind_collector(whole)
        reader = next((reader for reader in FILE_READERS if reader.sniff(head)), None)
        try:
            if reader is not None:
                of_reader = Sink(sink.emit)  # what is skipped counts only if this is such a file
                reader.read(whole, Context(name), of_reader)
                sink.merge(of_reader)
        except UnreadableFileError as error:
            sink.skip(f"begins like a format that it is not ({error})", 1, head)
            reader = None
        if reader is None:
            imported.num_lines = _read_lines(whole, name, sink)
    imported.skipped = list(sink.skipped.values())
    return imported


@contextmanager
def _rare_collections() -> Iterator[None]:
    """Lets Python look for unreachable cycles less often: rows are made by the million and have none, and looking
    through them takes up to a third of the time of reading. What can be large are tables, which go away with their last
    reference."""
    before = gc.get_threshold()
    gc.set_threshold(max(before[0], _ALLOCATIONS) if before[0] else 0, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _behind_collector(stream: BinaryIO) -> str:
    """Moves a stream from its beginning behind the comments that a collector of logs may have put there, also below
    blank lines. Returns what a file of any format may begin with from there on."""
    at = stream.seek(0)
    while line := stream.readline(HEAD):
        line = line.removeprefix(codecs.BOM_UTF8).lstrip()
        if line.startswith(_COLLECTOR_BYTES):
            at = stream.tell()
        elif line:
            break
    stream.seek(at)
    head = stream.read(HEAD).decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    stream.seek(at)
    return head


def _read_lines(stream: BinaryIO, name: str, sink: Sink) -> int:
    context = Context(name)
    row_readers = [make(context, sink) for make in ROW_READERS]
    others = [make(context, sink) for make in LINE_READERS]
    feeds: list[tuple[Callable[[Line], bool], RowReader | None, Sequence[RowReader]]] = [
        *((reader.feed, reader, row_readers[:index]) for index, reader in enumerate(row_readers)),
        *((reader.feed, None, ()) for reader in others),
    ]
    quick, mark, job, last = None, "", "", 0
    stream.seek(0)
    for number, raw in raw_lines(stream, lambda number: sink.skip(TOO_LONG, number, "")):
        last = number
        if quick is not None and raw.startswith(mark) and quick(raw[len(mark) :], job, number):
            continue
        quick = None
        line = clean(number, raw)
        if not line.text or line.text.isspace() or (number <= len(_COLLECTOR) and raw.startswith(_COLLECTOR)):
            continue
        observe(context, line)
        for feed, rows, earlier in feeds:
            if feed(line):
                if rows is not None and _may_skip(rows, earlier, context, line, raw):
                    quick, mark, job = rows.quick, raw.removesuffix(line.text), line.job
                break
        else:
            sink.skip(FAILED if says_failed(line.text) else NOT_RECOGNISED, number, line.text)
    for each in (*row_readers, *others):
        each.finish()
    return last


def _may_skip(rows: RowReader, earlier: Sequence[RowReader], context: Context, line: Line, raw: str) -> bool:
    """Says whether the next line may go straight to the reader that took this one.

    If it has the marks of this one, and behind them a row that is certain, it would be cleaned to that row and this
    job, be left by the readers before, and say nothing to the context.
    """
    if not rows.expects_row(line.job) or context.continues:
        return False
    return raw.endswith(line.text) and not any(each.is_open for each in earlier)
