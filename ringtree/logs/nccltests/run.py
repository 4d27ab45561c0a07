"""What one program wrote, as its lines come.

For: the state between a first line and the last. Not for: what is concluded from it (conclude.py), whose lines they are
(stream.py).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ringtree.logs.nccltests.layout import Layout
from ringtree.logs.nccltests.markers import Average, OutOfBounds, Rank, Version
from ringtree.logs.nccltests.scan import Found
from ringtree.logs.reading import Context, Sink
from ringtree.logs.records import Row

_MAX_RANK_LINES = 1 << 17
_MAX_SETTINGS = 200


@dataclass
class Around:
    """What all streams of a file share: where tables go, and what other lines say.

    `command_line`, `library_line`: where a command and a library's version were last named.
    """

    context: Context
    sink: Sink
    heading: str = ""
    command_line: int = 0
    library_line: int = 0


@dataclass
class ProgramRun:
    """`first_line` to `last_line` are its lines. `title`, `command` and `environment` are what stood before it;
    `is_elided`: somebody left lines out of those of ranks. `num_programs`, `number`: of those that wrote at once.
    """

    first_line: int
    job: str = ""
    last_line: int = 0
    title: str = ""
    command: str = ""
    program: str = ""
    version: Version | None = None
    layout: Layout | None = None
    settings: dict[str, str] = field(default_factory=dict)
    has_settings: bool = False
    rank_lines: list[Rank] = field(default_factory=list)
    is_elided: bool = False
    rows: list[Row] = field(default_factory=list)
    timestamps: tuple[str, str] | None = None
    executed: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    out_of_bounds: list[OutOfBounds] = field(default_factory=list)
    averages: list[Average] = field(default_factory=list)
    concluded: bool = False
    num_cycles: int = 0
    num_restarts: int = 0
    last_size: int = 0
    environment: dict[str, str] = field(default_factory=dict)
    library: tuple[str | None, str | None] = (None, None)
    library_line: int = 0
    after_line: int = 0
    num_programs: int = 1
    number: int = 0
    is_continued: bool = False

    @property
    def has_totals(self) -> bool:
        """Says whether its last lines came."""
        return bool(self.out_of_bounds or self.averages or self.concluded)

    @property
    def is_empty(self) -> bool:
        """Says whether nothing stands in it that anybody could want."""
        return not (self.rows or self.rank_lines or self.has_settings or self.is_continued)

    def note(self, name: str, value: str) -> None:
        """Keeps a setting."""
        if len(self.settings) < _MAX_SETTINGS:
            self.settings[name] = value

    def add_rank(self, rank: Rank) -> None:
        """Keeps a line of a rank."""
        if len(self.rank_lines) < _MAX_RANK_LINES:
            self.rank_lines.append(rank)

    def add_timestamp(self, stamp: str) -> None:
        """Keeps the first and the last."""
        self.timestamps = (self.timestamps[0] if self.timestamps else stamp, stamp)

    def add_extras(self, found: Found, row: Row) -> None:
        """Keeps what stands behind a row's figures."""
        if found.timestamp:
            self.add_timestamp(found.timestamp)
        if found.executed is not None and "N/A" not in found.executed[:2]:
            algorithm, protocol, _ = found.executed
            size = row.size_bytes or 0
            low, high = self.executed.get((algorithm, protocol), (size, size))
            self.executed[algorithm, protocol] = (min(low, size), max(high, size))

    def look_around(self, around: Around) -> None:
        """Takes over what lines of others said so far: the environment and the library's version."""
        context = around.context
        self.environment = dict(context.environment)
        self.library = (context.library, context.library_version)
        self.library_line = around.library_line
