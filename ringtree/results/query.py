"""SQL over stored runs, by an embedded DuckDB.

For: `ringtree sql`, `ringtree export`, and scripts that ask the store. Not for: judging runs (ringtree.stats), changing
them.

The runs are read once, by DuckDB's own JSON reader, into a database in memory that spills to a temporary directory
above MEMORY_LIMIT; then the database is shut off: no query can read or write any file but the one that the result goes
to, nor change that setting. So a query may come from anyone, and what is stored is safe from it. Nothing is downloaded.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from ringtree.errors import RingtreeError, UsageError, os_errors
from ringtree.results.files import LAUNCHES_FILE
from ringtree.results.listing import RunListing, list_runs
from ringtree.results.scan import Scan, copy_whole_lines, scan_launches
from ringtree.results.tables import (
    CELL_FIELDS,
    CREATE,
    INSERT_CELLS,
    INSERT_LAUNCHES,
    INSERT_RUNS,
    LAUNCH_FIELDS,
    RUN_FIELDS,
)

MEMORY_LIMIT = "2GB"
_LEAST_LINE = 16 << 20  # DuckDB's own default for the longest line


class QueryError(RingtreeError):
    """A query that the machine could not carry out: no room on disk or in memory."""


@dataclass(frozen=True)
class _Source:
    """The launches of one run: the file that DuckDB reads, and the run as it is listed."""

    listing: RunListing
    file: Path
    scan: Scan


class Database(AbstractContextManager["Database"]):
    """The tables of ringtree.results.tables over some runs; a context manager. Not for several threads.

    `notes` says which directories were left out and why, and what was dropped. `result_file` is the only file that a
    query can write; it lies in a directory that vanishes at the end.
    """

    notes: list[str]
    result_file: Path

    def __init__(self, runs: Path | Sequence[RunListing]) -> None:
        """Opens all runs under a directory, or those listed. Raises UsageError if the directory can't be read."""
        listings = list_runs(runs) if isinstance(runs, Path) else list(runs)
        self.notes = [] if listings else [f"no runs in {runs}" if isinstance(runs, Path) else "no runs"]
        with os_errors("no room for temporary files", "set TMPDIR to a better place", QueryError):
            self._scratch = tempfile.TemporaryDirectory(prefix="ringtree-")
        scratch = Path(self._scratch.name)
        self.result_file = scratch / "result"
        self._connection = duckdb.connect(
            config={"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
        )
        try:
            self._connection.execute(f"SET memory_limit = '{MEMORY_LIMIT}'")
            self._connection.execute(f"SET temp_directory = {_quoted(scratch / 'spill')}")
            self._load(self._sources(listings, scratch))
            self._connection.execute(f"SET allowed_paths = [{_quoted(self.result_file)}]")
            self._connection.execute("SET enable_external_access = false")
            self._connection.execute("SET lock_configuration = true")
        except BaseException as error:
            self.close()
            if isinstance(error, OSError):
                raise QueryError(f"can't open the runs in {scratch}: {error.strerror}") from error
            if isinstance(error, duckdb.Error):
                raise QueryError(f"can't open the runs: {one_line(error)}") from error
            raise

    def execute(self, query: str, *parameters: object) -> Any:
        """Runs one statement and returns DuckDB's cursor.

        Raises UsageError, in one line, for what is wrong with it, QueryError if the machine can't carry it out.
        """
        self._check_single(query)
        try:
            return self._connection.execute(query, list(parameters))
        except duckdb.Error as error:
            raise translated(error) from error

    def copy_to_result(self, query: str, options: str) -> None:
        """Writes the rows of one query to `result_file`; `options` are those of COPY. Raises as `execute` does."""
        self._check_single(query)
        try:
            # The query may end in a comment, which the newline ends. The one file that may be written is the result's
            # own: DuckDB's habit of writing under another name first would be refused.
            self._connection.execute(
                f"COPY (\n{self._without_end(query)}\n) TO {_quoted(self.result_file)} ({options}, USE_TMP_FILE false)"
            )
        except duckdb.Error as error:
            self.result_file.unlink(missing_ok=True)
            raise translated(error) from error

    def close(self) -> None:
        """Ends the database and takes its temporary files away; a second call does nothing."""
        self._connection.close()
        self._scratch.cleanup()

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check_single(self, query: str) -> None:
        try:
            num_statements = len(self._connection.extract_statements(query))
        except duckdb.Error as error:
            raise translated(error) from error
        if num_statements != 1:
            raise UsageError("write one query, for example: select run_id, host from runs")

    def _without_end(self, query: str) -> str:
        """Returns a query without the semicolons at its end, which a subquery can't have, and comments behind them."""
        while True:
            head, semicolon, tail = query.rpartition(";")
            try:
                if not semicolon or self._connection.extract_statements(tail):
                    return query
            except duckdb.Error:  # inside a string or a comment
                return query
            query = head

    def _sources(self, listings: list[RunListing], scratch: Path) -> list[_Source]:
        sources: list[_Source] = []
        path_of: dict[str, Path] = {}
        for listing in listings:
            try:
                problem = listing.problem
                scan = scan_launches(listing.path / LAUNCHES_FILE)
            except UsageError as error:
                problem = str(error)
            if problem is None and listing.run_id in path_of:
                problem = f"it holds run {listing.run_id}, as {path_of[listing.run_id]} does"
            if problem is None and scan.twice is not None:
                problem = f"launch {scan.twice} is stored twice: two copies of the run were joined"
            if problem is not None:
                self.notes.append(f"left out {listing.path}: {problem}")
                continue
            path_of[listing.run_id] = listing.path
            file = listing.path / LAUNCHES_FILE
            if scan.num_torn_bytes:
                file = scratch / f"{len(sources)}.jsonl"
                copy_whole_lines(listing.path, scan, file)
                self.notes.append(f"dropped a torn last line of {scan.num_torn_bytes} bytes in {listing.path}")
            sources.append(_Source(listing, file, scan))
        return sources

    def _load(self, sources: list[_Source]) -> None:
        self._connection.execute(CREATE)
        if not self._insert_launches(sources):
            # One file is damaged: load each by itself, so that it alone is missing.
            sources = [source for source in sources if self._insert_launches([source], say=True)]
        rows = json.dumps([_row_of(source) for source in sources])
        self._connection.execute(INSERT_RUNS, [rows])

    def _insert_launches(self, sources: list[_Source], say: bool = False) -> bool:
        """Adds launches and cells of all these runs, or, returning False, of none; `say` adds the reason to notes."""
        with_lines = [source for source in sources if source.scan.num_lines]
        if not with_lines:
            return True
        names = json.dumps([{"name": str(source.file), "run_id": source.listing.run_id} for source in with_lines])
        longest = max(_LEAST_LINE, *(source.scan.longest + 1 for source in with_lines))
        files = ", ".join(_quoted(source.file) for source in with_lines)
        try:
            self._connection.execute("BEGIN")
            self._connection.execute(
                "CREATE OR REPLACE TEMP TABLE files AS SELECT unnest(from_json(?, "
                """'[{"name": "VARCHAR", "run_id": "VARCHAR"}]'), max_depth := 2)""",
                [names],
            )
            for insert, fields in ((INSERT_LAUNCHES, LAUNCH_FIELDS), (INSERT_CELLS, CELL_FIELDS)):
                columns = ", ".join(f"{name}: {_quoted(kind)}" for name, kind in fields.items())
                source = (
                    f"read_json([{files}], format = 'newline_delimited', filename = true, "
                    f"maximum_object_size = {longest}, columns = {{{columns}}})"
                )
                self._connection.execute(insert.format(source=source))
            self._connection.execute("DROP TABLE files")
            self._connection.execute("COMMIT")
        except duckdb.Error as error:
            self._connection.execute("ROLLBACK")
            if say:
                self.notes.append(f"left out {sources[0].listing.path}: {one_line(error)}")
            return False
        return True


def translated(error: duckdb.Error) -> RingtreeError:
    """Returns DuckDB's error as one of ringtree's, in one line."""
    of_machine = isinstance(error, duckdb.IOException | duckdb.OutOfMemoryException)
    return QueryError(one_line(error)) if of_machine else UsageError(one_line(error))


def one_line(error: Exception) -> str:
    """Returns what DuckDB says before it quotes the query."""
    useful: list[str] = []
    for line in str(error).splitlines():
        if not line.strip() or line.startswith("LINE "):
            break
        useful.append(line.strip())
    return " ".join(useful) or type(error).__name__


def _row_of(source: _Source) -> dict[str, Any]:
    run = source.listing.run
    assert run is not None
    told = (
        run.plan.model_dump(mode="json")
        | run.provenance.model_dump(mode="json")
        | {
            "run_id": run.run_id,
            "path": str(source.listing.path),
            "created_utc": run.created_utc,
            "arms": [arm.label for arm in run.plan.arms],
            "sizes": [size.size_bytes for size in run.plan.sizes],
            "launches_planned": source.listing.num_planned,
            "launches_stored": source.scan.num_lines,
            "simulated": run.plan.simulation is not None,
            "host": run.provenance.host_name,
            "command": " ".join(run.provenance.command),
            "header": run.model_dump(mode="json"),
        }
    )
    return {name: told[name] for name in RUN_FIELDS}


def _quoted(text: Path | str) -> str:
    return "'" + str(text).replace("'", "''") + "'"
