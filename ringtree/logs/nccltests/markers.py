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
_VERSION = re.compile(r"(nccl-tests|rccl-tests|ringtree)(?: version |: Version )(\S+)")
_CODE = re.compile(r"(nccl|rccl)-(headers|library)=(\d{1,9})")
_PROGRAM = re.compile(r"Collective test (starting|concluded): *(\S+)")
_SETTING = re.compile(r"(\w+(?: iters)?):? +(-?\w+(?:\((?:factor|bytes)\))?)")
_RANK = re.compile(
    r"Rank +(\d{1,7})(?: +Group +(-?\d+))?(?: +Pid +(\d+))? +on +(\S+) +device +(\d+) +\[([^\]]*)\] *(.*)"
)
_OUT_OF_BOUNDS = re.compile(r"Out of bounds values *: *(\d{1,18})(?: +(OK|FAILED))?")
_AVERAGE = re.compile(r"Avg bus bandwidth *: *([-+]?\d\S*)?(?: +(OK|FAILED))?")
_COMPILED = re.compile(r"NCCL Tests compiled with NCCL (\S+)")
_NAMED = re.compile(r"(GPU memory usage|error|Arm|Executed|NIC type) *: *(.*)")
# RCCL's own lines, which have no "#"; "Hostname" alone is a word of others.
_OF_RCCL = re.compile(r"(RCCL version|HIP version|ROCm version|Hostname {4}|Librccl path) {1,2}: +(\S.*)")
_SENTENCE = re.compile(r"(Blocking Enabled|Parallel Init Enabled|Per-Iteration Report|Out of place|In place): (.*)")
_OTHER = re.compile(
    r"Using devices|Errors with asterisks|Writing JSON output|skipping json output|Network counter|Launching"
)
_REDUCED = re.compile(r"(Reducing maxBytes) to (\d+) due to memory limitation")
_CYCLE = re.compile(r"Testing \d+ cycle")

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
    reader = _READERS.get(text[0])
    found = reader(text, places) if reader is not None else None
    if found is None and hashed:
        return _read_hashed(text)
    return found


def line_inside(text: str) -> str:
    """Returns the line of nccl-tests behind a log's prefix or a quotation mark, empty if there is none."""
    found = _INSIDE.search(text)
    return _QUOTED_END.sub("", text[found.start() :]) if found is not None else ""


def _read_version(text: str, _places: tuple[str, ...]) -> Marker | None:
    if (found := _VERSION.match(text)) is None:
        return None
    codes = {f"{library}-{which}": code for library, which, code in _CODE.findall(text)}
    return Version(found.group(1), found.group(2)[:_MAX_VALUE], codes)


def _read_program(text: str, _places: tuple[str, ...]) -> Marker | None:
    if (found := _PROGRAM.match(text)) is None:
        return None
    return (Program if found.group(1) == "starting" else Concluded)(found.group(2)[:_MAX_VALUE])


def _read_settings(text: str, _places: tuple[str, ...]) -> Marker | None:
    if text.startswith("nThread ") and "minBytes" in text:
        return Settings({name: value[:_MAX_VALUE] for name, value in _SETTING.findall(text)})
    if (found := _COMPILED.match(text)) is not None:
        return Note("compiled with NCCL", found.group(1)[:_MAX_VALUE])
    return None


def _read_rank(text: str, _places: tuple[str, ...]) -> Marker | None:
    if (found := _RANK.match(text)) is None:
        return _read_of_rccl(text, _places)
    rank, group, pid, host, _, _, device = found.groups()
    return Rank(int(rank), group or "", pid or "", host[:_MAX_VALUE], device.strip(" \t|")[:_MAX_VALUE])


def _read_heading(text: str, places: tuple[str, ...]) -> Marker | None:
    layout = read_heading(text, places)
    return Heading(layout) if layout is not None else None


def _read_places(text: str, _places: tuple[str, ...]) -> Marker | None:
    found = read_places(text)
    return Places(found) if found else None


def _read_units(text: str, _places: tuple[str, ...]) -> Marker | None:
    unit = read_units(text)
    return Units(unit) if unit is not None else None


def _read_out_of_bounds(text: str, _places: tuple[str, ...]) -> Marker | None:
    if (found := _OUT_OF_BOUNDS.match(text)) is None:
        return None
    return OutOfBounds(int(found.group(1)), found.group(2) == "OK" if found.group(2) else None)


def _read_average(text: str, _places: tuple[str, ...]) -> Marker | None:
    if not text.startswith("Avg bus bandwidth") or (found := _AVERAGE.match(text)) is None:
        return None
    number = found.group(1) or ""
    try:
        float(number)
    except ValueError:
        number = ""
    return Average(number[:_MAX_VALUE], found.group(2) == "OK" if found.group(2) else None)


def _read_of_rccl(text: str, _places: tuple[str, ...]) -> Marker | None:
    found = _OF_RCCL.match(text)
    return Note(found.group(1).strip(), found.group(2).strip()[:_MAX_VALUE]) if found is not None else None


def _read_hashed(text: str) -> Marker | None:
    """What begins with words that others use, too: only behind a "#"."""
    if (found := _SENTENCE.match(text) or _NAMED.match(text) or _REDUCED.match(text)) is not None:
        return Note(found.group(1), found.group(2).strip()[:_MAX_VALUE])
    if _CYCLE.match(text) is not None:
        return Cycle()
    return Other() if _OTHER.match(text) is not None else None


# By the first letter, since most lines of a log are none of these.
_READERS: dict[str, Callable[[str, tuple[str, ...]], Marker | None]] = {
    "n": lambda text, places: _read_version(text, places) or _read_settings(text, places),
    "r": _read_version,
    "N": _read_settings,
    "C": _read_program,
    "R": _read_rank,
    "s": _read_heading,
    "b": _read_heading,
    "o": _read_places,
    "i": _read_places,
    "(": _read_units,
    "O": _read_out_of_bounds,
    "A": _read_average,
    "H": _read_of_rccl,
    "L": _read_of_rccl,
}
