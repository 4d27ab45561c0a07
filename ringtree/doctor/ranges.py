"""Lists of cores as the kernel writes them: "0-3,8".

For: reading and writing them. Not for: what cores are used for.
"""

from __future__ import annotations

from collections.abc import Iterable

_MOST = 1 << 16  # no kernel has more cores


def parse_ranges(text: str) -> set[int]:
    """Returns {0, 1, 2, 8} of "0-2,8"; nothing of what is not such a list."""
    found: set[int] = set()
    for part in text.replace(" ", "").split(","):
        first, _, last = part.partition("-")
        if first.isdigit() and (last.isdigit() or "-" not in part) and int(last or first) < _MOST:
            found |= set(range(int(first), int(last or first) + 1))
    return found


def format_ranges(numbers: Iterable[int]) -> str:
    """Returns "0-2,8" of {0, 1, 2, 8}."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][-1] + 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    return ",".join("-".join(map(str, run)) for run in runs)
