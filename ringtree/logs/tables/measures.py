"""Which columns of a table are measurements, of what, and of which configuration.

For: deciding it once for a table, from its headings, its first cells and what stands above it. Not for: reading rows
(plan.py).

A heading decides what a column holds; where it names no measure, the unit in its first cell does, or what stands
above the table. Where nothing does, but columns are called Ring or Default, the numbers are kept under their
headings, with the remark that nobody says what they are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from ringtree.logs.quantities import FACTOR, ITEMS, PERCENT, RATE, SIZE, TIME, plain, quantities
from ringtree.logs.records import GB_PER_SECOND, NOT_STATED, Table
from ringtree.logs.tables.caption import Caption
from ringtree.logs.tables.headings import MEASURES, OF_UNIT, Heading, Kind, classify
from ringtree.logs.words import algorithm_in, collective_in, library_in, protocol_in, words_of

FIELDS = {Kind.TIME: "time", Kind.ALGBW: "algbw", Kind.BUSBW: "busbw"}  # of a Side; others by these names:
BANDWIDTH, THROUGHPUT, STEP_TIME = "bw", "items/s", "step time"
NAMES = {Kind.BANDWIDTH: BANDWIDTH, Kind.THROUGHPUT: THROUGHPUT, Kind.STEP_TIME: STEP_TIME}
_UNIT_KIND = {
    Kind.TIME: TIME, Kind.STEP_TIME: TIME, Kind.THROUGHPUT: ITEMS,
    Kind.ALGBW: RATE, Kind.BUSBW: RATE, Kind.BANDWIDTH: RATE,
}  # fmt: skip
# Which statistic stands for the measurement where there are several; others are kept beside it.
_BEST = ("", "avg", "average", "mean", "平均", "均值", "median", "p50", "中位数")
_USUAL = frozenset(("default", "baseline", "auto", "tuned", "custom"))
_MISSING = frozenset(("", "-", "--", "---", "—", "–", "n/a", "N/A", "na", "none", "None", "nan", "NaN", "null"))
VARIABLE = re.compile(r"\b([A-Z][A-Z0-9]*_[A-Z0-9_]+)=([^\s`,;()]+)")

_COUNTS = (
    ("num_hosts", re.compile(r"(?<!\w)(\d{1,5})[\s-]?(?:nodes?|hosts?)(?!\w)")),
    ("num_ranks", re.compile(r"(?<!\w)(\d{1,6})[\s-]?(?:gpus?|ranks)(?!\w)")),
)

Key = tuple[str, str, str]


def is_missing(cell: str) -> bool:
    """Says whether a cell says that there is nothing."""
    return cell.strip() in _MISSING


@dataclass(frozen=True, slots=True)
class Measured:
    """One column. `field`: of Side; empty: it goes to `others` as `name`. `unit_kind`: of its cells' units, None if
    nothing is known. `scale`: of cells without a unit, None if the source does not say; `usual` is then taken, and
    noted."""

    index: int
    heading: str
    field: str
    name: str
    unit_kind: str | None
    scale: float | None
    usual: float | None = None


@dataclass(slots=True)
class Arm:
    """Columns about one configuration, which has a name if there are several. `notes`: inferences about them.
    `titles`: by what was found in its cells, the heading above it."""

    name: str
    place: str = NOT_STATED
    size: str = ""
    columns: list[Measured] = field(default_factory=list)
    notes: list[tuple[str, str, str]] = field(default_factory=list)
    titles: dict[str, str] = field(default_factory=dict)

    @property
    def is_of_training(self) -> bool:
        """Whether a throughput or the time of a step stands in its columns."""
        return any(one.name in (THROUGHPUT, STEP_TIME) for one in self.columns)

    def put(self, table: Table) -> None:
        """Fills a new table with what the arm's name says, and with its columns."""
        self.titles = {one.field or one.name: one.heading for one in self.columns} | self.titles
        table.columns = self.titles
        if self.name:
            table.settings["arm"] = self.name
            table.environment.update(VARIABLE.findall(plain(self.columns[0].heading)))
            why = f'the heading "{self.columns[0].heading}" names it'
            table.conclude("collective", collective_in(self.name), why)
            table.conclude("algorithm", algorithm_in(self.name), why)
            table.conclude("protocol", protocol_in(self.name), why)
            for what, pattern in _COUNTS:
                if (count := pattern.search(self.name.lower())) is not None and getattr(table, what) is None:
                    table.conclude(what, int(count.group(1)), why)
            if table.library is None:
                table.conclude("library", library_in(self.name), why)
        for what, value, because in self.notes:
            table.infer(what, value, because)


def averages_of(headings: Sequence[Heading], arms: Sequence[Arm]) -> str | None:
    """Returns the heading of a busbw that is an average over sizes: of a row that has a smallest and a largest one."""
    settings = {"".join(words_of(one.text)) for one in headings if one.kind is Kind.SETTING}
    if len(arms) != 1 or not {"minbytes", "maxbytes"} <= settings or any(one.kind is Kind.SIZE for one in headings):
        return None
    return next((one.heading for one in arms[0].columns if one.field == "busbw"), None)


def arms_of(headings: Sequence[Heading], first: Sequence[str], caption: Caption) -> list[Arm]:
    """Returns what is measured, arm by arm; empty if nothing is. first: the first cell of each column that says
    something."""
    columns: dict[Key, dict[Kind, list[tuple[int, Heading]]]] = {}
    names: dict[Key, str] = {}
    by_caption: set[Key] = set()
    explicit = any(one.kind in MEASURES for one in headings)
    for index, (heading, cell) in enumerate(zip(headings, first, strict=True)):
        one = _resolved(heading, cell, caption, explicit)
        if one is not None:
            key = (" ".join(words_of(one.arm)) or one.arm, one.place or caption.place, one.size)
            names.setdefault(key, one.arm)
            columns.setdefault(key, {}).setdefault(one.kind, []).append((index, one))
            if heading.kind is Kind.UNKNOWN and one.kind is caption.kind:
                by_caption.add(key)
    arms = []
    for key, kinds in columns.items():
        arm = Arm(names[key], key[1], key[2])
        for kind, several in kinds.items():
            _add(arm, kind, several)
        if key in by_caption and caption.kind is not None:
            arm.notes.append(("measure", FIELDS.get(caption.kind, "a bandwidth"), caption.because.get("kind", "")))
        arms.append(arm)
    return arms or _unexplained(headings, first)


def _resolved(heading: Heading, cell: str, caption: Caption, explicit: bool) -> Heading | None:
    """Returns the heading as one of a measure, with what the cell below it and the caption add; None if it is none.
    `explicit`: other headings name their measure, so the caption's is not that of plain numbers."""
    numbers = quantities(cell)
    unit_kind = numbers[0].unit.kind if numbers and numbers[0].unit is not None else None
    if heading.kind in MEASURES:
        if heading.kind is Kind.TIME and heading.unit is None:
            return heading._replace(unit=caption.time_unit)
        return heading._replace(kind=Kind.THROUGHPUT) if unit_kind == ITEMS else heading
    if heading.kind is not Kind.UNKNOWN:
        return None
    if caption.time_unit is not None and (named := classify(heading.text + " time")).statistic:
        return named._replace(text=heading.text, unit=caption.time_unit)
    if not numbers and not is_missing(cell):
        return None
    if unit_kind in OF_UNIT:
        known = caption.kind is not None and _UNIT_KIND[caption.kind] == unit_kind
        return heading._replace(kind=caption.kind if known and caption.kind is not None else OF_UNIT[unit_kind])
    if unit_kind in (PERCENT, FACTOR, SIZE) or caption.kind is None or explicit:
        return None
    return heading._replace(kind=caption.kind, unit=caption.unit)


def _add(arm: Arm, kind: Kind, columns: list[tuple[int, Heading]]) -> None:
    """Adds columns of one measure: the best statistic becomes the side's field, the others stand beside it."""
    ranked = [_BEST.index(one.statistic) if one.statistic in _BEST else len(_BEST) for _, one in columns]
    best = ranked.index(min(ranked))
    for position, (index, heading) in enumerate(columns):
        main = position == best and ranked[best] < len(_BEST)
        scale = heading.unit.scale if heading.unit is not None else None
        name = NAMES.get(kind, heading.text) if main else heading.text
        if kind is Kind.BANDWIDTH:
            arm.notes.append((heading.text, "a bandwidth", "not stated which bandwidth"))
        usual = GB_PER_SECOND if kind in (Kind.ALGBW, Kind.BUSBW) else None
        where = FIELDS.get(kind, "") if main else ""
        arm.columns.append(Measured(index, heading.text, where, name, _UNIT_KIND[kind], scale, usual))


def _unexplained(headings: Sequence[Heading], first: Sequence[str]) -> list[Arm]:
    """Returns an arm for each column of plain numbers, where sizes and the name of an algorithm show that these are
    measurements, though nobody says what was measured."""
    unknown = [(i, one) for i, one in enumerate(headings) if one.kind is Kind.UNKNOWN]
    has_size = any(one.kind is Kind.SIZE for one in headings)
    if not has_size or not any(_is_configuration(one.arm) for _, one in unknown):
        return []
    arms = []
    for index, heading in unknown:
        numbers = quantities(first[index])
        if numbers and numbers[0].unit is None:
            column = Measured(index, heading.text, "", heading.text, None, None)
            note = (heading.text, "a number without unit", "not stated what was measured")
            arms.append(Arm(heading.arm, columns=[column], notes=[note]))
    return arms


def _is_configuration(arm: str) -> bool:
    return bool(algorithm_in(arm) or protocol_in(arm)) or not _USUAL.isdisjoint(words_of(arm))
