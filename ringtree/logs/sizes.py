"""Sizes as people write them: 32KiB, 1 MB, 62.50KB, 268MB, 4M.

For: one column (or one sentence) with sizes. Not for: columns that are bytes anyway.

K, M and G without i may be powers of 1000 or of 1024, and sizes are nearly always powers of two, printed by programs
that round or cut: 1MB and 64KB are powers of two in units of 1024, while 33MB and 268MB are the powers 2^25 and 2^28
in units of 10^6. Where only one reading gives a power of two it is taken; else units of 1024, as nccl-tests, OSU and
IMB use. What was concluded is kept, and belongs into the table.
"""

from __future__ import annotations

import re
from decimal import Decimal

from ringtree.logs.quantities import MAX_CELL, SIZE, Unit, plain
from ringtree.logs.records import Table

MAX_BYTES = 1 << 62
_MAX_EXAMPLES = 4
_SIZED = re.compile(
    r"(\d+(?:,\d{3})*(?:\.\d*)?|\.\d+)\s*(?:([kmgtp])(i?)(?:b|bytes?)?|(b|bytes?))?", re.IGNORECASE | re.ASCII
)
_POWERS = {"k": 1, "m": 2, "g": 3, "t": 4, "p": 5}


class Sizes:
    """Reads sizes, one after the other, and remembers what it had to conclude."""

    def __init__(self, unit: Unit | None = None) -> None:
        """`unit`: of the column, for cells without one."""
        self._default = unit.word if unit is not None and unit.kind == SIZE else ""
        self._known: dict[str, int | None] = {}
        self._powers: list[str] = []
        self._binary = self._assumed = self._unstated = False

    def bytes_of(self, cell: str) -> int | None:
        """Returns the bytes; None if the cell is not a size."""
        known = self._known.get(cell, -1)
        if known != -1:
            return known
        value = self._read(plain(cell))
        if len(self._known) < 1000:
            self._known[cell] = value
        return value

    def infer(self, table: Table) -> None:
        """Writes down what was concluded so far."""
        if self._powers:
            shown = ", ".join(self._powers)
            table.infer("size_bytes", shown, "the only powers of two that are printed so, in units of 1000")
        if self._assumed:
            table.infer("size unit", "powers of 1024", "not stated; sizes of nccl-tests, OSU and IMB are in these")
        elif self._binary:
            table.infer("size unit", "powers of 1024", "not stated; the sizes are powers of two so")
        if self._unstated:
            table.infer("size unit", "bytes", "no unit is stated")

    def _read(self, cell: str) -> int | None:
        found = _SIZED.fullmatch(cell) if len(cell) <= MAX_CELL else None
        if found is None:
            return None
        text, prefix, binary, in_bytes = found.groups()
        number = Decimal(text.replace(",", ""))
        if prefix is None and in_bytes is None:
            if self._default:
                return self._read(cell + self._default)
            self._unstated = True
        if prefix is None:
            return _whole(number)
        power = _POWERS[prefix.lower()]
        value = number * 1024**power
        if binary:
            return _whole(value)
        if _is_power_of_two(value):
            self._binary = True
            return _whole(value)
        if (two := _cut_power(number, power)) is not None:
            if len(self._powers) < _MAX_EXAMPLES:
                self._powers.append(f"{cell} = {two}")
            return two
        self._assumed = True
        return _whole(value)


def _whole(value: Decimal) -> int | None:
    return int(value.to_integral_value()) if 0 <= value < MAX_BYTES else None


def _is_power_of_two(value: Decimal) -> bool:
    if not 0 < value < MAX_BYTES or value != value.to_integral_value():
        return False
    return int(value) & (int(value) - 1) == 0


def _cut_power(number: Decimal, power: int) -> int | None:
    """Returns the power of two that is printed as `number`, rounded or cut, in units of 1000^power."""
    exponent = number.as_tuple().exponent
    last = Decimal(1).scaleb(exponent) if isinstance(exponent, int) else Decimal(1)
    unit = 1000**power
    low, high = (number - last / 2) * unit, (number + last) * unit
    if number <= 0 or not 2 <= high < MAX_BYTES:
        return None
    two = 1 << ((int(high) - 1).bit_length() - 1)
    return two if low <= two < high else None
