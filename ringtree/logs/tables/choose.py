"""The rows of a table on their way to what they mean: which way of reading fits it, and what is left out.

For: whoever has a table's headings, its rows and what stands above it. Not for: finding tables (markdown.py,
csv_file.py), the ways of reading (plan.py, turned.py).

What a column holds may show in its cells only, and the first ones may be empty: so the first rows are held back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ringtree.logs.quantities import quantities
from ringtree.logs.reading import Sink
from ringtree.logs.records import RowReason, Table
from ringtree.logs.sizes import Sizes
from ringtree.logs.tables.caption import Caption
from ringtree.logs.tables.headings import MEASURES, OF_UNIT, TRAINING, Heading, Kind, classify
from ringtree.logs.tables.measures import is_missing
from ringtree.logs.tables.plan import ColumnPlan, Opening
from ringtree.logs.tables.turned import Across, StatisticsRows, is_across, is_statistics
from ringtree.logs.words import collective_in

NO_TIMINGS = RowReason("a table without timings of collectives")
NO_NUMBER = RowReason("a row of a table without a number that was measured")
OTHER_TABLE = "a table of something else than times and rates"
_HELD = 64  # rows

Reading = ColumnPlan | Across | StatisticsRows
Cells = Sequence[str]


class TableRows:
    """Takes all rows of one table."""

    def __init__(
        self, titles: Cells, caption: Callable[[Cells], Caption], make: Callable[[], Table], sink: Sink
    ) -> None:
        """`caption`: says what stands above it, given the first cells. `make`: begins a table of timings."""
        self._headings = headings_of(titles)
        self._caption, self._make, self._sink = caption, make, sink
        self._held: list[tuple[int, str, Cells]] | None = []
        self._reading: Reading | None = None
        self._reason: str = NO_TIMINGS

    def add(self, number: int, text: str, cells: Cells) -> None:
        """Takes a row with as many cells as there are headings. text: the line, to be shown if it is left out."""
        if self._held is None:
            self._read(number, text, cells)
            return
        self._held.append((number, text, cells))
        if len(self._held) >= _HELD:
            self._decide(self._held)

    def finish(self) -> None:
        """The table is over."""
        if self._held:
            self._decide(self._held)
        if self._reading is not None:
            self._reading.finish()

    def _decide(self, held: list[tuple[int, str, Cells]]) -> None:
        self._held = None
        columns = [[row[2][index] for row in held] for index in range(len(self._headings))]
        first = [_telling(cells) for cells in columns]
        if self._headings and self._headings[0].kind is Kind.UNKNOWN and _are_sizes(columns[0]):
            self._headings[0] = self._headings[0]._replace(kind=Kind.SIZE)
        self._reading = choose(Opening(self._headings, first, self._caption(first), self._make, self._sink))
        if self._reading is None and not _measures(self._headings, first):
            self._reason = OTHER_TABLE
        for row in held:
            self._read(*row)

    def _read(self, number: int, text: str, cells: Cells) -> None:
        if self._reading is None:
            self._sink.skip(self._reason, number, text)
        elif not self._reading.add(number, cells):
            self._sink.skip(NO_NUMBER, number, text)


def headings_of(texts: Cells) -> list[Heading]:
    """Returns what the headings say, each beside the others: N and G together are hosts and GPUs on each."""
    headings = [classify(text) for text in texts]
    if {"N", "G"} <= set(texts):
        kinds = {"N": Kind.HOSTS, "G": Kind.RANKS_PER_HOST}
        headings = [one._replace(kind=kinds.get(one.text, one.kind)) for one in headings]
    return headings


def choose(opening: Opening) -> Reading | None:
    """Returns a reading of the table; None if it holds no timings of collectives or of a training."""
    if is_across(opening):
        return Across(opening)
    if is_statistics(opening):
        return StatisticsRows(opening)
    plan = ColumnPlan(opening)
    arms, headings, first, caption = plan.arms, opening.headings, opening.first, opening.caption
    kinds = {one.kind for one in headings}
    sized = Kind.SIZE in kinds or bool(caption.size) or any(arm.size for arm in arms)
    named = Kind.ALGBW in kinds or Kind.BUSBW in kinds
    collective = any(
        one.kind is Kind.COLLECTIVE and collective_in(cell) is not None
        for one, cell in zip(headings, first, strict=True)
    )
    # Of a training only what was done with several numbers of ranks tells something of its communication.
    scaled = not kinds.isdisjoint((Kind.HOSTS, Kind.RANKS)) and any(arm.is_of_training for arm in arms)
    if not arms or not (sized or named or collective or scaled):
        return None
    return plan


def _are_sizes(cells: Cells) -> bool:
    sizes = Sizes()
    return all(cell[-1:].isalpha() and sizes.bytes_of(cell) is not None for cell in cells)


def _telling(cells: Cells) -> str:
    """Returns the first cell with a number, else the first one that is not empty."""
    present = [cell for cell in cells if not is_missing(cell)]
    return next((cell for cell in present if quantities(cell)), present[0] if present else "")


def _measures(headings: Sequence[Heading], first: Cells) -> bool:
    """Says whether it seems to hold times or rates all the same."""
    units = {number.unit.kind for cell in first for number in quantities(cell) if number.unit is not None}
    return not units.isdisjoint(OF_UNIT) or any(one.kind in MEASURES - TRAINING for one in headings)
