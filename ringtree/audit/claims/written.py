"""How numbers are written in reasons: four significant digits, or all before the point.

For: the kinds. Not for: what was stated (that is quoted as it was).
"""

from __future__ import annotations


def number(value: float) -> str:
    """60.33, 1494."""
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def gigabytes(rate: float) -> str:
    """A rate in GB/s, without the unit."""
    return number(rate / 1e9)


def seconds(value: float) -> str:
    """A time: 60.3 us, 1.81 ms."""
    unit, scale = next((one for one in (("s", 1.0), ("ms", 1e-3)) if value >= one[1]), ("us", 1e-6))
    return f"{number(value / scale)} {unit}"


def percent(share: float, digits: int = 0) -> str:
    """A share: 79 %."""
    return f"{100 * share:.{digits}f} %"


def size(num_bytes: float, binary: bool = True) -> str:
    """A size: 64 MiB, or 64 MB in powers of 1000."""
    units = (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)) if binary else (("GB", 1e9), ("MB", 1e6), ("KB", 1e3))
    unit, scale = next((one for one in units if num_bytes >= one[1]), ("B", 1))
    return f"{num_bytes / scale:g} {unit}"


def quantity(value: float, kind: str) -> str:
    """A cell of a column of that kind."""
    return seconds(value) if kind == "time" else f"{gigabytes(value)} GB/s" if kind == "rate" else f"{value:g}"
