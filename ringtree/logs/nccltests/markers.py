"""The lines around a table: versions, settings, devices, headings, totals.

For: what one such line says. Not for: whose it is (stream.py), rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from ringtree.logs.nccltests.headings import read_heading, read_places, read_units
from ringtree.logs.nccltests.layout import Layout

_MAX_VALUE = 300
# Of Markdown's lists and quotes, and of tables that a page was copied from.
_RESIDUE, _RESIDUE_BEHIND = " \t>|*-", " \t|"
_CODE = re.compile(r"(nccl|rccl)-(headers|library)=(\d{1,9})")
_SETTING = re.compile(r"(\w+(?: iters)?):? +(-?\w+(?:\((?:factor|bytes)\))?)")

# Behind a prefix that nobody knows, a line of a program of nccl-tests.
_INSIDE = re.compile(
    r"#[ \t]*(?=nThread \d|Rank +\d|size +count |bytes +N |\([Bb]\) |(?:out-of|in)-place|Out of bounds values|Avg bus |"
    r"Collective test |nccl-tests version )"
)

_QUOTED_END = re.compile(r"(?:\\[nr])*['\"`*]{1,3},?\s*$")


class Version(NamedTuple):
    """`codes`: of versions, by "nccl-headers" (what it was compiled with) and "nccl-library" (what it ran with)."""

    tool: str
    version: str
    codes: dict[str, str]


class Program(NamedTuple):
    name: str


class Concluded(NamedTuple):
    name: str


class Settings(NamedTuple):
    values: dict[str, str]


class Rank(NamedTuple):
    rank: int
    group: str
    pid: str
    host: str
    device: str


class Places(NamedTuple):
    places: tuple[str, ...]


class Heading(NamedTuple):
    layout: Layout


class Units(NamedTuple):
    time_unit: float


class OutOfBounds(NamedTuple):
    num_wrong: int
    okay: bool | None


class Average(NamedTuple):
    """`text`: as printed, GB/s; empty if there is no number. `okay`: against NCCL_TESTS_MIN_BW, None: not checked."""

    text: str
    okay: bool | None


class Note(NamedTuple):
    """Something for Table.settings."""

    name: str
    value: str


class Cycle(NamedTuple):
    """The sizes begin again (-N)."""


class Other(NamedTuple):
    """A line that belongs to a run and says nothing that is kept."""


Marker = (
    Version
    | Program
    | Concluded
    | Settings
    | Rank
    | Places
    | Heading
    | Units
    | OutOfBounds
    | Average
    | Note
    | Cycle
    | Other
)


def without_residue(text: str) -> str:
    """Returns a line without the signs of lists, quotes and copied tables around it."""
    return text.lstrip(_RESIDUE).rstrip(_RESIDUE_BEHIND)


def read_marker(text: str, places: tuple[str, ...]) -> Marker | None:
    """Returns what a line (without residue) says, None if it is none of these. `places`: what the last line of places
    said, for a heading. Lines that only a program of nccl-tests writes are known without their "#", too."""
    hashed = text.startswith("#")
    text = text.lstrip("# \t")
    if not text:
        return None
    for pattern, read in _PATTERNS.get(text[0], ()):
        if (found := pattern.match(text)) is not None and (marker := read(found, places)) is not None:
            return marker
    for pattern, read in _HASHED if hashed else ():
        if (found := pattern.match(text)) is not None:
            return read(found, places)
    return None


def line_inside(text: str) -> str:
    """Returns the line of nccl-tests behind a log's prefix or a quotation mark, empty if there is none."""
    found = _INSIDE.search(text)
    return _QUOTED_END.sub("", text[found.start() :]) if found is not None else ""


def _version(found: re.Match[str], _places: tuple[str, ...]) -> Marker:
    codes = {f"{library}-{which}": code for library, which, code in _CODE.findall(found.string)}
    return Version(found.group(1), found.group(2)[:_MAX_VALUE], codes)


def _program(found: re.Match[str], _places: tuple[str, ...]) -> Marker:
    return (Program if found.group(1) == "starting" else Concluded)(found.group(2)[:_MAX_VALUE])


def _settings(found: re.Match[str], _places: tuple[str, ...]) -> Marker:
    return Settings({name: value[:_MAX_VALUE] for name, value in _SETTING.findall(found.string)})


def _rank(found: re.Match[str], _places: tuple[str, ...]) -> Marker:
    rank, group, pid, host, device = found.groups()
    return Rank(int(rank), group or "", pid or "", host[:_MAX_VALUE], device.strip(" \t|")[:_MAX_VALUE])


def _heading(found: re.Match[str], places: tuple[str, ...]) -> Marker | None:
    layout = read_heading(found.string, places)
    return Heading(layout) if layout is not None else None


def _out_of_bounds(found: re.Match[str], _places: tuple[str, ...]) -> Marker:
    return OutOfBounds(int(found.group(1)), found.group(2) == "OK" if found.group(2) else None)


def _average(found: re.Match[str], _places: tuple[str, ...]) -> Marker:
    number = found.group(1) or ""
    try:
        float(number)
    except ValueError:
        number = ""
    return Average(number[:_MAX_VALUE], found.group(2) == "OK" if found.group(2) else None)


def _note(found: re.Match[str], _places: tuple[str, ...]) -> Marker:
    return Note(found.group(1).strip(), found.group(2).strip()[:_MAX_VALUE])


_Read = Callable[[re.Match[str], tuple[str, ...]], Marker | None]
# By the first letters, since most lines of a log are none of these.
_BY_LETTERS: tuple[tuple[str, str, _Read], ...] = (
    ("nr", r"(nccl-tests|rccl-tests|ringtree)(?: version |: Version )(\S+)", _version),
    ("n", r"nThread .*minBytes", _settings),
    ("N", r"NCCL Tests (compiled with NCCL) (\S+)", _note),
    ("C", r"Collective test (starting|concluded): *(\S+)", _program),
    (
        "R",
        r"Rank +(\d{1,7})(?: +Group +(-?\d+))?(?: +Pid +(\d+))? +on +(\S+) +device +\d+ +\[[^\]]*\] *(.*)",
        _rank,
    ),
    # RCCL's own lines, which have no "#"; "Hostname" alone is a word of others.
    ("RHL", r"(RCCL version|HIP version|ROCm version|Hostname {4}|Librccl path) {1,2}: +(\S.*)", _note),
    ("sb", r"(?:size|bytes)\s", _heading),
    ("oi", r"(?:out-of|in)-place", lambda found, _: Places(read) if (read := read_places(found.string)) else None),
    ("(", r"\(B\)", lambda found, _: Units(unit) if (unit := read_units(found.string)) is not None else None),
    ("O", r"Out of bounds values *: *(\d{1,18})(?: +(OK|FAILED))?", _out_of_bounds),
    ("A", r"Avg bus bandwidth *: *([-+]?\d\S*)?(?: +(OK|FAILED))?", _average),
)
_PATTERNS: dict[str, list[tuple[re.Pattern[str], _Read]]] = {
    letter: [(re.compile(pattern), read) for letters, pattern, read in _BY_LETTERS if letter in letters]
    for letter in {letter for letters, _, _ in _BY_LETTERS for letter in letters}
}
# What begins with words that others use, too: only behind a "#".
_HASHED: tuple[tuple[re.Pattern[str], _Read], ...] = (
    (
        re.compile(r"(Blocking Enabled|Parallel Init Enabled|Per-Iteration Report|Out of place|In place): (.*)"),
        _note,
    ),
    (re.compile(r"(GPU memory usage|error|Arm|Executed|NIC type) *: *(.*)"), _note),
    (re.compile(r"(Reducing maxBytes) to (\d+) due to memory limitation"), _note),
    (re.compile(r"Testing \d+ cycle"), lambda _found, _places: Cycle()),
    (
        re.compile(
            r"Using devices|Errors with asterisks|Writing JSON output|skipping json output|Network counter|Launching"
        ),
        lambda _found, _places: Other(),
    ),
)
