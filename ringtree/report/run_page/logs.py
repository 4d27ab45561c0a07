"""Somebody's logs as views of the page: files in, one view for each question that their tables answer.

For: `ringtree report nccl.log`. Not for: what a view holds (log_view.py), formats (ringtree.logs), findings
(ringtree.audit).

Tables of one collective, number of ranks, type and operation stand in one chart, whatever file they are from. A page
holds so much and no more; what it leaves out it says.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from ringtree.audit import Audit, Session, Setup, Subject
from ringtree.lab.units import count
from ringtree.logs import Imported, Item, Row, Side, Table, read_file, read_stream
from ringtree.logs.storing import read_import, read_import_header
from ringtree.report.run_page.log_arm import LogArm, Question
from ringtree.report.run_page.log_view import facts_view, log_view

MAX_VIEWS, MAX_ARMS, MAX_SIDES = 40, 16, 8_000


@dataclass
class _File:
    """What the page keeps of a file."""

    short: str
    tables: list[Table] = field(default_factory=list)
    sides_left_out: int = 0
    num_documents: int = 0

    def take(self, item: Item, room: int) -> int:
        """Keeps a table if there is room for it; returns how much it took."""
        if not isinstance(item, Table):
            self.num_documents += 1
            return 0
        sides = sum(len(row.sides) for row in item.rows)
        if sides > room:
            self.sides_left_out += sides
            return 0
        self.tables.append(item)
        return sides


class LogBook:
    """`add_…` for each log, then `views`. Raises UsageError for a file that can't be read."""

    def __init__(self, setup: Setup | None = None) -> None:
        self._setup = setup or Setup()
        self._session = Session(self._setup)
        self._files: dict[str, _File] = {}
        self._room = MAX_SIDES

    def __len__(self) -> int:
        return len(self._files)

    def add_file(self, path: Path) -> None:
        """Reads a file."""
        self.add_reading(str(path), partial(read_file, path))

    def add_stored(self, path: Path) -> None:
        """Reads a log that the store holds, again."""
        self.add_reading(read_import_header(path).name, partial(read_import, path))

    def add_stream(self, stream: BinaryIO, name: str) -> None:
        """Reads a stream."""
        self.add_reading(name, partial(read_stream, stream, name))

    def add_reading(self, name: str, read: Callable[[Callable[[Item], None]], Imported]) -> None:
        """Takes what `read` gives, item by item, to the function that it is called with."""
        file = _File(Path(name).name)

        def both(emit: Callable[[Item], None]) -> Imported:
            def take(item: Item) -> None:
                self._room -= file.take(item, self._room)
                emit(item)

            return read(take)

        self._files[self._session.add_reading(name, both)] = file

    def views(self) -> list[dict[str, Any]]:
        """Returns the views, in the order in which their tables came; a file without tables has one of its own."""
        audit = self._session.finish()
        short = self._short_names()
        arms: dict[Question, list[LogArm]] = {}
        for name, file in self._files.items():
            for table in file.tables:
                subject = Subject(name, table, self._setup)
                for question, rows in _questions(table).items():
                    arms.setdefault(question, []).append(LogArm(short[name], subject, rows))
        drawn = {question: of[:MAX_ARMS] for question, of in list(arms.items())[:MAX_VIEWS]}
        views = [log_view(question, of, audit) for question, of in drawn.items()]
        told = {report for one in views for report in one["files"]}
        views += [facts_view(name, short[name], audit) for name in self._files if name not in told]
        if views:
            views[0]["left_out"].update(self._left_out(arms, short))
            unseen = _unseen(audit, [arm for of in drawn.values() for arm in of])
            if unseen:
                views[0]["left_out"][count(unseen, "finding")] = (
                    "about tables that are not here; `ringtree audit` has all"
                )
        return views

    def title(self) -> str:
        """Returns the names of the files, as far as a title has room."""
        names = list(self._short_names().values())
        return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")

    def _short_names(self) -> dict[str, str]:
        """Returns by file what to call it: without its folders, unless another one is then called the same."""
        names = [file.short for file in self._files.values()]
        return {name: file.short if names.count(file.short) == 1 else name for name, file in self._files.items()}

    def _left_out(self, arms: dict[Question, list[LogArm]], short: dict[str, str]) -> dict[str, str]:
        found = {
            short[name]: f"{file.sides_left_out} measurements; the page holds {MAX_SIDES}"
            for name, file in self._files.items()
            if file.sides_left_out
        }
        if len(arms) > MAX_VIEWS:
            found[f"{len(arms) - MAX_VIEWS} kinds of tables"] = f"the page holds {MAX_VIEWS}"
        more = sum(len(of) - MAX_ARMS for of in arms.values() if len(of) > MAX_ARMS)
        if more:
            found[count(more, "table")] = f"a chart holds {MAX_ARMS}"
        return found


def _unseen(audit: Audit, arms: list[LogArm]) -> int:
    """Returns how many findings are about tables that no view shows, of files that have one."""
    tables = {(arm.subject.file, arm.subject.table.first_line) for arm in arms}
    files = {file for file, _ in tables}
    found = [one for report in audit.files if report.file in files for one in report.findings if one.table is not None]
    return sum((one.file, one.table) not in tables for one in found)


def _questions(table: Table) -> dict[Question, list[tuple[Row, Side]]]:
    """Returns the measurements of a table by what they answer: its rows may have several types and operations."""
    found: dict[Question, list[tuple[Row, Side]]] = {}
    for row in table.rows:
        question = Question(table.collective, table.num_ranks, row.dtype, row.op)
        found.setdefault(question, []).extend((row, side) for side in row.sides)
    return {question: sides for question, sides in found.items() if sides}
