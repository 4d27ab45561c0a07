"""How often `ringtree health` would call a healthy log slow: each log of the catalogue against bands made without it.

    python tools/held_out.py          # rewrites its part of docs/how-to/health.md
    python tools/held_out.py --check  # exit 1 if the page differs

For: the rate of false alarms, and what a loss must be to be found, by cross-validation; part of `make tables`. Not for:
the bounds themselves (ringtree.health.judging), what the catalogue holds (reached.py).

A log is held out with its whole site: every entry of that repository is left out of what it is compared with and of the
spreads. Of the stricter check every entry of its kind of machine is left out of the spreads too, as if that kind were
new; what it is compared with then still is of its kind, since nothing else can be.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from generated import between_marks, write_or_check
from scipy.special import betaincinv, stdtr

from ringtree.health import Verdict
from ringtree.health.entries import Reached, load_reached
from ringtree.health.judging import BANDS, Spread, bands_of, sizes_of, spreads
from ringtree.health.records import BandHealth

PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "health.md"
BEGIN, END = "<!-- held out: written by tools/held_out.py -->", "<!-- end of held out -->"
LOSSES = (1 / 8, 1 / 4, 1 / 2, 7 / 8)  # of the speed; an eighth: one NIC of eight
SURE = 0.95  # of an upper bound
TAIL = 0.01
Rest = Callable[[Reached, Reached], bool]


class Held(NamedTuple):
    """One band of one entry, judged without its site. `tail`: how probable so low a share is by Student's t."""

    entry: Reached
    band: BandHealth
    tail: float

    @property
    def is_called_slow(self) -> bool:
        return self.band.verdict is not Verdict.AS_FAST

    def would_be(self, loss: float) -> bool:
        """Whether it would be called slow if it had lost so much of its speed."""
        return self.band.share * (1 - loss) < self.band.enough


def other_site(one: Reached, other: Reached) -> bool:
    return one.site != other.site


def other_kind(one: Reached, other: Reached) -> bool:
    return one.site != other.site and one.links != other.links


def held_out(entries: Sequence[Reached], makes_spread: Rest = other_site) -> Iterator[Held]:
    """Yields every band that can be judged by other sites. `makes_spread`: which entries the spreads are made of."""
    for one in entries:
        rest = [other for other in entries if other_site(one, other)]
        alike = [other for other in rest if other.links == one.links and other.answers(one.curve)]
        spread = spreads([other for other in entries if makes_spread(one, other)])
        for band in bands_of(sizes_of(one.curve, alike, None), spread, None):
            if band.verdict is not Verdict.UNKNOWN:
                yield Held(one, band, _tail(band, spread[band.band]))


def _tail(band: BandHealth, spread: Spread) -> float:
    scale = spread.deviation * math.sqrt(1 + 1 / band.num_logs)
    return float(stdtr(spread.dof, math.log(band.share) / scale))


def most(events: int, number: int) -> float:
    """Returns the upper bound of a rate of which so many events were seen (Clopper and Pearson)."""
    return float(betaincinv(events + 1, number - events, SURE)) if events < number else 1.0


def logs(held: Sequence[Held]) -> int:
    return len({id(one.entry) for one in held})


def slow(held: Sequence[Held]) -> list[Held]:
    return [one for one in held if one.is_called_slow]


def page_part(entries: Sequence[Reached]) -> str:
    """The part of the page, in Markdown."""
    held, strict = list(held_out(entries)), list(held_out(entries, other_kind))
    num, called = logs(held), logs(slow(held))
    tail = sum(one.tail < TAIL for one in held)
    rates = [100 * most(called, num), 100 * most(len(slow(held)), len(held))]
    losses = " | ".join(f"{100 * loss:g} %" for loss in LOSSES)
    lines = [
        "Each log of the catalogue is compared with the catalogue without that log's site, in the logs and in the "
        f"spreads: {num} of the {len(entries)} tables have an alike one from another site. {called} of these {num} "
        f"healthy tables are called slow, and {len(slow(held))} of their {len(held)} bands: the rate of false alarms "
        f"is below {rates[0]:.1f} % of tables and {rates[1]:.1f} % of bands, at "
        f"{100 * SURE:g} % confidence. If its kind of machine is left out of the spreads as well, as if that kind were "
        f"new, {len(slow(strict))} of {len(strict)} bands are called slow.",
        "",
        "How many of the same bands would be below, had each log been slower by this much:",
        "",
        f"| sizes | bands | as they are | {losses} slower |",
        "| --- | ---: | ---: |" + " ---: |" * len(LOSSES),
    ]
    for name in BANDS:
        mine = [one for one in held if one.band.band == name]
        found = " | ".join(f"{sum(one.would_be(loss) for one in mine)}" for loss in LOSSES)
        lines.append(f"| {name} | {len(mine)} | {len(slow(mine))} | {found} |")
    lines += [
        "",
        "That 999 of 1,000 healthy logs pass is what the bound is designed for under Student's t, not an observation: "
        f"{tail} of {len(held)} bands lie in the lowest {100 * TAIL:g} % of t, where {TAIL * len(held):.1f} would be "
        "expected. The smallest difference that counts (10 %), the level and the edges of the bands were chosen by "
        "people who had seen these logs; leaving logs out does not undo that.",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    text = between_marks(PAGE, BEGIN, page_part(load_reached()), END)
    sys.exit(write_or_check(sys.argv[1:], {PAGE: text}, "python tools/held_out.py"))
