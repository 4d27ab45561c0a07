"""What one process wrote into a log, or several whose lines have no marks.

For: which run a line belongs to, when one begins and ends, rows that come in pieces. Not for: what a line says
(markers.py, scan.py, pieces.py).

A second line of settings before a run's totals means that it died, or that programs run at once: nobody can tell until
more lines come, so runs wait for each other (`_waiting`) until they can be told apart (interleaved.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from ringtree.logs.nccltests import markers, scan
from ringtree.logs.nccltests.conclude import table_of
from ringtree.logs.nccltests.interleaved import is_one_program, split
from ringtree.logs.nccltests.layout import Layout, shared
from ringtree.logs.nccltests.pieces import Pieces, best_reading
from ringtree.logs.nccltests.run import Around, ProgramRun
from ringtree.logs.records import MAX_ROWS, Row, RowReason

HALF = "a row that breaks off: only its whole measurements were read"
BEGINNING = RowReason("the end of a row whose beginning is missing")
_MAX_WAITING = 1000


class Stream:
    """`plain`: whether a row can go straight into the open table; else it must be looked at. `places`: what the last
    line above a heading said; `pieces`: of a row that began and did not end."""

    def __init__(self, around: Around, job: str) -> None:
        self.plain = False
        self.places: tuple[str, ...] = ()
        self.pieces = Pieces()
        self._around = around
        self._job = job
        self._run: ProgramRun | None = None
        self._waiting: list[ProgramRun] = []
        self._version: markers.Version | None = None
        self._program = ""
        self._preface_line = 0
        self._next_layout: Layout | None = None

    @property
    def is_open(self) -> bool:
        """Says whether a run is under way, so that a line that says little belongs to it."""
        return self._run is not None or bool(self._preface_line)

    def take_whole(self, text: str, number: int, *, certain: bool) -> bool:
        """Takes an undamaged row, or only one that is certain, into the open table, if `plain`; False: nothing was
        changed."""
        run, layout = self._run, self._run.layout if self._run is not None else None
        if run is None or layout is None:
            return False
        row = layout.make_row(text, number) if certain else layout.read(text, number)
        if row is None or (not layout.stated and scan.contradiction(row)):
            return False
        self._add(run, row)
        if layout.tail:
            run.add_timestamp(text.rstrip()[-19:])
        return True

    def take(self, marker: markers.Marker, number: int) -> None:
        """Takes a line around a table."""
        self.plain = False  # until the next row was looked at, or all that stands above it
        takes = _TAKES.get(type(marker))
        if takes is not None:
            takes(self, marker, number)
        elif self._run is not None:
            self._take_in_run(self._run, marker)
        if self._run is not None and not self._preface_line:
            self._run.last_line = number

    def elide(self) -> None:
        """A "..." stands where lines were left out."""
        if self._run is not None and not self._run.rows:
            self._run.is_elided = True

    def take_row(self, texts: Iterable[str], line: str, number: int) -> str:
        """Takes the row that a line holds. `texts`: ways to read it. Returns what stands before and behind the row, or
        the line if it holds none."""
        reading = best_reading(texts, self._layout())
        if reading is None:
            return self._take_end(line, number)
        if self.pieces:
            self._give_up()
        taken = self._take_found(reading.text, reading.found, number)
        self._settle()
        return reading.rest if taken else line

    def finish(self) -> None:
        """The stream is over."""
        if self.pieces:
            self._give_up()
        self._close()

    # Rows

    def _layout(self) -> Layout | None:
        """The columns of the open table. None: it has no heading, or its totals have come."""
        run = self._run
        if self._next_layout is not None:
            return self._next_layout
        if run is None or (run.has_totals and not self._has_more_totals()):
            return None
        return run.layout

    def _take_found(self, text: str, found: scan.Found, number: int) -> bool:
        layout = self._layout()
        skip = self._around.sink.skip
        if layout is None or not layout.stated:
            return self._take_without_heading(text, found, number)
        row, reason = scan.row_under(layout, found, number, broken=False)
        if row is not None:
            self._add(self._run_for(row), row).add_extras(found, row)
        elif reason:
            skip(reason, number, text)
        else:
            self.pieces.begin(text[found.begin : found.end], number)
        return True

    def _take_without_heading(self, text: str, found: scan.Found, number: int) -> bool:
        row, layout, reason = scan.row_without_heading(found, number)
        if row is None or layout is None:
            known = bool(found.figures or found.placeholders or self.is_open)
            if known:
                self._around.sink.skip(reason, number, text)
            return known
        run = self._current(number)
        if run.has_totals or (run.rows and run.layout is not None and not run.layout.is_like(layout)):
            run = self._begin(number)
        run.layout = run.layout or layout
        self._add(run, row).add_extras(found, row)
        return True

    def _take_end(self, text: str, number: int) -> str:
        """A line without the beginning of a row: perhaps the rest of one. Returns what it was not."""
        if not self.pieces:
            # Others print four figures a line, too.
            if scan.num_measurements(text) > (0 if self.is_open else 1):
                self._around.sink.skip(BEGINNING, number, text)
                return ""
            return text
        layout = self._layout()
        if layout is None:
            return text
        found, rest = self.pieces.join(text, layout)
        if found is not None:
            row, reason = scan.row_under(layout, found, self.pieces.line, broken=False)
            if row is None:
                self._around.sink.skip(reason or scan.BROKEN, self.pieces.line, text)
            else:
                self._add(self._run_for(row), row).add_extras(found, row)
            self._settle()
        return rest

    def _give_up(self) -> None:
        """The row in pieces will not be whole."""
        number, text = self.pieces.line, self.pieces.drop()
        layout, found = self._layout(), scan.find(text)
        row = scan.row_under(layout, found, number, broken=True)[0] if layout and found else None
        self._around.sink.skip(scan.BROKEN if row is None else HALF, number, text)
        if row is not None:
            self._add(self._run_for(row), row)

    def _run_for(self, row: Row) -> ProgramRun:
        """The run that a row goes to: below a second heading that is another one, if its sizes begin again."""
        run = self._current(row.line)
        if self._next_layout is not None:
            layout, self._next_layout = self._next_layout, None
            if (row.size_bytes or 0) <= run.last_size and not self._waiting:
                run = self._begin(row.line)
            run.layout = layout
        return run

    def _add(self, run: ProgramRun, row: Row) -> ProgramRun:
        size = row.size_bytes or 0
        if not run.rows:
            run.look_around(self._around)
        elif size < run.last_size and not self._may_be_interleaved(run):
            run = self._at_restart(run, row)
        run.rows.append(row)
        run.last_size = size
        run.last_line = row.line
        if len(run.rows) >= MAX_ROWS:
            self._overflow()
        return run

    def _may_be_interleaved(self, run: ProgramRun) -> bool:
        """Says whether programs may be writing at once. Where no line of settings stands, as in what `grep` left of
        several logs, sizes that begin again are the next log."""
        return bool(self._waiting) and (run.has_settings or any(each.has_settings for each in self._waiting))

    def _at_restart(self, run: ProgramRun, row: Row) -> ProgramRun:
        """The sizes begin again: another element type, reduction, root or cycle; else a table without a heading."""
        before = run.rows[-1]
        if (before.dtype, before.op, before.root) != (row.dtype, row.op, row.root):
            return run
        if run.layout is not None and run.layout.stated:
            run.num_restarts += run.num_cycles == 0
            return run
        layout = run.layout
        run = self._begin(row.line)
        run.layout = layout
        run.look_around(self._around)
        return run

    # Lines around

    def _take_program(self, marker: markers.Program, number: int) -> None:
        self._program = marker.name
        self._preface_line = self._preface_line or number

    def _take_version(self, marker: markers.Version, number: int) -> None:
        run = self._run
        if run is not None and run.version is None and run.has_settings and not (run.rank_lines or run.rows):
            run.version = marker  # rccl-tests of 2025 and older prints it below its settings
            return
        self._version, self._program = marker, ""
        self._preface_line = self._preface_line or number

    def _take_settings(self, marker: markers.Settings, number: int) -> None:
        run = self._begin(number)
        run.has_settings = True
        run.settings.update(marker.values)

    def _take_rank(self, marker: markers.Rank, number: int) -> None:
        run = self._current(number)
        if (run.rows or run.has_totals) and not self._waiting:
            run = self._begin(number)
        run.add_rank(marker)

    def _take_places(self, marker: markers.Places, _number: int) -> None:
        self.places = marker.places

    def _take_heading(self, marker: markers.Heading, number: int) -> None:
        self.places = ()
        layout = shared(marker.layout)
        run = self._current(number)
        if self._waiting or not run.rows:
            if run.has_totals and not self._waiting:
                run = self._begin(number)
            run.layout = layout
        elif run.has_totals:
            self._begin(number).layout = layout
        else:
            self._next_layout = layout
        self._settle()

    def _take_units(self, marker: markers.Units, _number: int) -> None:
        unit = marker.time_unit
        if self._next_layout is not None:
            self._next_layout = shared(replace(self._next_layout, time_unit=unit, has_units=True))
        elif self._run is not None and self._run.layout is not None and self._run.layout.stated:
            self._run.layout = shared(replace(self._run.layout, time_unit=unit, has_units=True))
            self._settle()

    def _take_in_run(self, run: ProgramRun, marker: markers.Marker) -> None:
        if not run.has_totals and not self._waiting:
            run.look_around(self._around)
        if isinstance(marker, markers.OutOfBounds | markers.Average) and self.pieces:
            self._give_up()  # while its heading counts
        if isinstance(marker, markers.OutOfBounds):
            run.out_of_bounds.append(marker)
        elif isinstance(marker, markers.Average):
            run.averages.append(marker)
        elif isinstance(marker, markers.Concluded):
            run.concluded = True
        elif isinstance(marker, markers.Note):
            run.note(marker.name, marker.value)
        elif isinstance(marker, markers.Cycle):
            run.num_cycles += 1
            run.last_size = 0

    # Runs

    def _current(self, number: int) -> ProgramRun:
        """The open run. A new one if there is none, or if lines that stand before a run came since it had rows."""
        run = self._run
        if run is None or (self._preface_line and (run.rows or run.has_totals)):
            return self._begin(number)
        return run

    def _begin(self, number: int) -> ProgramRun:
        """Opens a run; the one before it is over, or waits if it ended without its totals."""
        if self.pieces:
            self._give_up()
        before = self._run
        if before is not None:
            self._waiting.append(before)
            self._run = None
            if not self._has_more_totals():
                self._close()
            else:
                self._emit_waiting()
        around = self._around
        after = before.last_line if before is not None else 0
        fresh_command = around.command_line > after
        self._run = ProgramRun(
            first_line=self._preface_line or number,
            job=self._job,
            last_line=number,
            title=around.heading,
            command=around.context.command if fresh_command else "",
            program=self._program,
            version=self._version,
            after_line=after,
        )
        self._version, self._program, self._preface_line = None, "", 0
        self._next_layout = None
        return self._run

    def _has_more_totals(self) -> bool:
        """Says whether some of the waiting runs and the open one have not ended yet."""
        runs = [*self._waiting, self._run] if self._run is not None else self._waiting
        return sum(max(len(run.out_of_bounds), len(run.averages), int(run.concluded)) for run in runs) < len(runs)

    def _emit_waiting(self) -> None:
        """Gives away waiting runs that can't be interleaved with what comes: the last one had rows of its own."""
        if len(self._waiting) > 1 and self._waiting[-1].rows and all(is_one_program(run) for run in self._waiting):
            runs, self._waiting = self._waiting[:-1], self._waiting[-1:]
            self._emit(runs)
        elif len(self._waiting) > _MAX_WAITING:
            runs, self._waiting = self._waiting, []
            self._emit(runs)

    def _close(self) -> None:
        runs = [*self._waiting, self._run] if self._run is not None else self._waiting
        self._waiting, self._run, self.plain = [], None, False
        if len(runs) > 1 and not all(is_one_program(run) for run in runs):
            runs = split(runs)
        self._emit(runs)

    def _emit(self, runs: Iterable[ProgramRun]) -> None:
        for run in runs:
            if not run.is_empty:
                self._around.sink.emit(table_of(run, self._around, continued=False))

    def _overflow(self) -> None:
        """Too many rows for memory: what is there goes out, and more of it follows."""
        runs = [*self._waiting, self._run] if self._run is not None else []
        if len(runs) > 1 and not all(is_one_program(run) for run in runs):
            runs = split(runs)
            self._waiting, self._run = runs[:-1], runs[-1]
        for run in runs:
            if run.rows:
                self._around.sink.emit(table_of(run, self._around, continued=True))
                run.rows = []
                run.is_continued = True

    def _settle(self) -> None:
        run = self._run
        self.plain = (
            run is not None
            and run.layout is not None
            and not self.pieces
            and self._next_layout is None
            and not self._preface_line
            and (not run.has_totals or self._has_more_totals())
        )


_TAKES: dict[type, Callable[[Stream, Any, int], None]] = {
    markers.Version: Stream._take_version,
    markers.Program: Stream._take_program,
    markers.Settings: Stream._take_settings,
    markers.Rank: Stream._take_rank,
    markers.Places: Stream._take_places,
    markers.Heading: Stream._take_heading,
    markers.Units: Stream._take_units,
}
