"""What a launch may spend, and what earlier launches of its part have found out.

For: keeping a run within its time although launches take longer than planned and some peers hang. Not for: spending it
(costs.py, rounds.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench.cases import ENGINE
from bench.plans import Part
from ringtree.results import Launch

GIVE_UP_AFTER = 2  # launches, if a cell could be measured in none of them; a hang costs as much as all other arms


@dataclass(frozen=True)
class Allowance:
    """`seconds`: that the launch may take; `sizes`: that earlier ones could afford, None: to be found out; `given_up`:
    (size, label) that none of them could measure, and why."""

    seconds: float
    sizes: Sequence[int] | None
    given_up: Mapping[tuple[int, str], str]


def allowance(part: Part, before: Sequence[Launch]) -> Allowance:
    """Returns what the next launch of `part` may do, after those that are stored.

    A size that none of them could afford is not tried: one that only some launches have costs time and tells nothing.
    """
    failed: dict[tuple[int, str], list[str]] = {}
    sizes = {cell.size_bytes for launch in before for cell in launch.cells if cell.arm == ENGINE and cell.visits}
    for launch in before:
        for cell in launch.cells:
            if cell.error is not None and not cell.times:
                failed.setdefault((cell.size_bytes, cell.arm), []).append(cell.error)
    return Allowance(
        seconds=part.seconds_left(before),
        sizes=sorted(sizes) or None,
        given_up={key: reasons[-1] for key, reasons in failed.items() if len(reasons) == len(before) >= GIVE_UP_AFTER},
    )
