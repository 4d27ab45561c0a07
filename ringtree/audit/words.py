"""Numbers in the one line of arithmetic that a finding shows.

For: writing them alike in all checks. Not for: tables (cli), rounding of what was printed: that is quoted as it was.
"""

from __future__ import annotations

from collections.abc import Sequence

from ringtree.audit.intervals import Interval
from ringtree.logs import Printed, Row
from ringtree.units import format_size


def figure(value: float) -> str:
    """Returns a number with up to five significant digits, never in exponents below a million."""
    if value == 0:
        return "0"
    if 1e-3 <= abs(value) < 1e6:
        return f"{value:.5g}"
    return f"{value:.3g}"


def between(interval: Interval) -> str:
    """Returns "1.9838–1.9845": as many digits as it takes to tell the ends apart, six at most."""
    low, high = interval
    for digits in range(3, 7):
        first, last = f"{low:.{digits}g}", f"{high:.{digits}g}"
        if first != last:
            return f"{first}–{last}"
    return f"{low:.6g}"


def gigabytes(rate: float) -> str:
    """Returns a rate of bytes/s in GB/s: "13.99 GB/s"."""
    return f"{figure(rate / 1e9)} GB/s"


def microseconds(seconds: float) -> str:
    """Returns a time in µs, in ms from 10 ms on."""
    return f"{figure(seconds * 1e3)} ms" if seconds >= 0.01 else f"{figure(seconds * 1e6)} µs"


def quoted_time(printed: Printed) -> str:
    """Returns a time as it was printed, with the unit of its column."""
    unit = {1e-9: "ns", 1e-6: "µs", 1e-3: "ms", 1.0: "s"}.get(printed.unit, f"×{printed.unit:g} s")
    return f"{printed.text} {unit}"


def quoted_rate(printed: Printed) -> str:
    """Returns a rate as it was printed, with the unit of its column."""
    names = {1e9: "GB/s", 1e6: "MB/s", 2.0**30: "GiB/s", 2.0**20: "MiB/s", 1e9 / 8: "Gbit/s", 1e6 / 8: "Mbit/s"}
    names[1.0] = "B/s"
    return f"{printed.text} {names.get(printed.unit, f'×{printed.unit:g} B/s')}"


def size(row: Row) -> str:
    """Returns the size of a row in words."""
    return "a row without a size" if row.size_bytes is None else format_size(row.size_bytes)


def listed(words: Sequence[object], most: int = 4) -> str:
    """Returns "a, b, c and 12 more"."""
    shown = ", ".join(str(word) for word in words[:most])
    return shown if len(words) <= most else f"{shown} and {len(words) - most} more"


def number_words(numbers: range) -> str:
    """Returns "128", "3 to 5" or "none"."""
    if len(numbers) == 0:
        return "none"
    return str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"
