"""Text to numbers and back: sizes, durations, rates, lists of ranks.

For: every place where a person writes or reads a quantity. Not for: arithmetic on quantities.

Sizes are binary (1K = 1 KB = 1024 bytes, as in nccl-tests); rates are decimal (1 GB/s = 1e9 bytes/s, as busbw is
quoted). Every parser raises UsageError with one line that says what would be right.
"""

from __future__ import annotations

import re

from ringtree.errors import UsageError

_SIZE_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SIZE_NAMES = (("TB", 1 << 40), ("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10))
_DURATION_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0}
_RATE_UNITS = {
    "b/s": 1.0,
    "kb/s": 1e3,
    "mb/s": 1e6,
    "gb/s": 1e9,
    "kib/s": 1024.0,
    "mib/s": 1024.0**2,
    "gib/s": 1024.0**3,
    "mbit/s": 1e6 / 8,
    "gbit/s": 1e9 / 8,
}
_NUMBER = r"([0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)"
MAX_SIZE = 1 << 46
MAX_NUM_SIZES = 64


def parse_size(text: str) -> int:
    """Returns bytes of "8", "1K", "64MB", "1.5 GiB"."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)(?:I?B)?", text.strip().upper())
    if match is None:
        raise UsageError(f"invalid size {text!r}: write bytes with K, M or G, for example 8, 1K or 64M")
    size = float(match[1]) * _SIZE_UNITS[match[2]]
    if size != int(size) or size > MAX_SIZE:
        raise UsageError(f"invalid size {text!r}: it must be a whole number of bytes, at most {format_size(MAX_SIZE)}")
    return int(size)


def parse_sizes(text: str) -> list[int]:
    """Returns the sizes of a list of sizes and ranges, ascending and each once.

    "1K:64M" goes in steps of 4 times and always ends at its end; "1K:64M:2" in steps of 2 times.
    """
    sizes: set[int] = set()
    for part in text.split(","):
        sizes.update(_parse_range(part) if ":" in part else [parse_size(part)])
    if len(sizes) > MAX_NUM_SIZES:
        raise UsageError(f"{text!r} means {len(sizes)} sizes, more than {MAX_NUM_SIZES}: use a larger factor")
    return sorted(sizes)


def _parse_range(text: str) -> list[int]:
    fields = text.split(":")
    if len(fields) > 3:
        raise UsageError(
            f"invalid range of sizes {text!r}: write first:last or first:last:factor, for example 1K:64M:4"
        )
    first, last = parse_size(fields[0]), parse_size(fields[1])
    try:
        factor = float(fields[2]) if len(fields) == 3 else 4.0
    except ValueError:
        factor = 0.0
    if not 1.0 < factor <= 1e6:
        raise UsageError(f"{text!r} has no usable factor: write a number above 1, for example 1K:64M:2")
    if not 0 < first <= last:
        raise UsageError(f"invalid range of sizes {text!r}: it must begin above 0 and end at its largest size")
    sizes = [first]
    while sizes[-1] < last and len(sizes) <= MAX_NUM_SIZES:
        sizes.append(min(last, max(sizes[-1] + 1, int(sizes[-1] * factor))))
    return sizes


def parse_duration(text: str) -> float:
    """Returns seconds of "1ms", "50us", "2 s"."""
    match = re.fullmatch(_NUMBER + r"\s*([a-zµ]+)", text.strip())
    if match is None or match[2] not in _DURATION_UNITS:
        raise UsageError(f"invalid duration {text!r}: write a number with ns, us, ms, s or m, for example 1ms")
    return float(match[1]) * _DURATION_UNITS[match[2]]


def parse_rate(text: str) -> float:
    """Returns bytes/s of "200MB/s", "10Gbit/s"."""
    match = re.fullmatch(_NUMBER + r"\s*([A-Za-z]+/s)", text.strip())
    if match is None or match[2].lower() not in _RATE_UNITS or float(match[1]) == 0:
        raise UsageError(f"invalid bandwidth {text!r}: write for example 200MB/s, 1.5GB/s or 10Gbit/s")
    return float(match[1]) * _RATE_UNITS[match[2].lower()]


def parse_cluster(text: str) -> tuple[int, int]:
    """Returns (hosts, ranks per host) of "2x8"."""
    match = re.fullmatch(r"([0-9]+)\s*[xX]\s*([0-9]+)", text.strip())
    if match is None or int(match[1]) < 1 or int(match[2]) < 1:
        raise UsageError(f"invalid cluster {text!r}: write hosts x ranks per host, for example 2x8")
    return int(match[1]), int(match[2])


def parse_hosts(text: str) -> list[int]:
    """Returns the host of each rank: of "2x4", hosts x ranks per host, or of "3,2,1", ranks of each host."""
    sizes = [number.strip() for number in text.split(",")]
    if len(sizes) > 1 and all(re.fullmatch(r"[0-9]{1,6}", size) and int(size) > 0 for size in sizes):
        return [host for host, size in enumerate(sizes) for _ in range(int(size))]
    try:
        num_hosts, ranks_per_host = parse_cluster(text)
    except UsageError:
        raise UsageError(f"{text!r} names no hosts: write for example 2x4, or 3,2,1 for unequal ones") from None
    return [host for host in range(num_hosts) for _ in range(ranks_per_host)]


def parse_counts(text: str, what: str) -> list[int]:
    """Returns the numbers of "4", "1-64" or "2,4,8-16", ascending and each once; `what` names them in errors."""
    numbers: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"([0-9]{1,6})(?:-([0-9]{1,6}))?", part.strip())
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if not 1 <= first <= last:
            raise UsageError(f"invalid number of {what} {text!r}: write for example 4, 1-64 or 2,4,8")
        numbers.update(range(first, last + 1))
    return sorted(numbers)


def parse_share(text: str) -> float:
    """Returns 0.1 for "10%" or "10 %"."""
    match = re.fullmatch(_NUMBER + r"\s*%", text.strip())
    if match is None:
        raise UsageError(f"invalid share {text!r}: write a number with %, for example 10%")
    return float(match[1]) / 100


def format_duration(seconds: float) -> str:
    """Returns "45 s", "2.5 min", "3 h": about how long something takes."""
    for unit, scale in (("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * scale:
            return f"{seconds / scale:.2g} {unit}" if seconds < 9.95 * scale else f"{seconds / scale:.0f} {unit}"
    return f"{seconds:.0f} s"


def format_size(size: int) -> str:
    """Returns "64 KB" for 65536; a size that is not a whole number of a unit keeps one decimal."""
    for unit, scale in _SIZE_NAMES:
        if size >= scale:
            return f"{size // scale} {unit}" if size % scale == 0 else f"{size / scale:.1f} {unit}"
    return f"{size} B"


def format_size_range(low: float, high: float) -> str:
    """Returns "1.2–2.3 MB" for sizes that were estimated, one unit for both ends, chosen by the upper one."""
    scale, unit = next(((scale, unit) for unit, scale in _SIZE_NAMES if high >= scale), (1, "B"))
    first, last = _two_or_three_digits(low / scale), _two_or_three_digits(high / scale)
    return f"{first} {unit}" if first == last else f"{first}–{last} {unit}"


def format_time(seconds: float) -> str:
    """Returns a time with its unit and three significant digits: "12.3 µs"."""
    scale, unit = _time_unit(seconds)
    return f"{_three_digits(seconds / scale)} {unit}"


def format_time_range(low: float, high: float) -> str:
    """Returns "11.9–12.8 µs", one unit for both ends, chosen by the upper one."""
    scale, unit = _time_unit(high)
    return f"{_three_digits(low / scale)}–{_three_digits(high / scale)} {unit}"


def format_rate(bytes_per_second: float) -> str:
    """Returns a rate in GB/s, or in MB/s below 0.1 GB/s."""
    if bytes_per_second < 1e8:
        return f"{_three_digits(bytes_per_second / 1e6)} MB/s"
    return f"{_three_digits(bytes_per_second / 1e9)} GB/s"


def format_factor(factor: float) -> str:
    """Returns how many times: "1.25", "3.7", "42"."""
    return f"{factor:.2f}" if factor < 1.995 else f"{factor:.1f}" if factor < 9.95 else f"{factor:.0f}"


def format_factor_range(low: float, high: float) -> str:
    """Returns "1.3–1.5" for a range of factors, "1.25" if both ends read the same."""
    first, last = format_factor(low), format_factor(high)
    return first if first == last else f"{first}–{last}"


def format_change(ratio: float) -> str:
    """Returns by how much a ratio differs from 1: "+3.1%", "-80%", "5.0×"."""
    if ratio >= 2:
        return f"{format_factor(ratio)}×"
    change = 100 * (ratio - 1)
    # No "-0.0%": it would tell a direction that the digits don't show.
    return (
        f"{change:+.1f}%".replace("-0.0%", "0.0%").replace("+0.0%", "0.0%") if abs(change) < 9.95 else f"{change:+.0f}%"
    )


def format_change_range(low: float, high: float) -> str:
    """Returns "+5.7% to +104%", "2.1× to 3.0×" for a range of ratios: one unit for both ends."""
    if low < 2 <= high:
        return f"{format_change(low)} to {100 * (high - 1):+.0f}%"
    return f"{format_change(low)} to {format_change(high)}"


def format_share(share: float) -> str:
    """Returns a share as a percentage: "12%", "3.4%", "0.05%"."""
    percent = 100 * share
    return f"{percent:.0f}%" if percent >= 9.95 else f"{percent:.2g}%"


def format_margin(margin: float) -> str:
    """Returns a margin as it was asked for: "2 %", "0.5 %"."""
    return f"{100 * margin:g} %"


def count(number: int, noun: str) -> str:
    """Returns "1 launch", "6 launches", "2 ranks"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}{'es' if noun.endswith('ch') else 's'}"


def _time_unit(seconds: float) -> tuple[float, str]:
    for scale, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= scale * 0.9995:
            return scale, unit
    return 1e-9, "ns"


def _two_or_three_digits(value: float) -> str:
    return f"{value:.1f}" if value < 99.95 else f"{value:.0f}"


def _three_digits(value: float) -> str:
    for limit, digits in ((9.995, 2), (99.95, 1)):
        if abs(value) < limit:
            return f"{value:.{digits}f}"
    return f"{value:.0f}"
