"""A sentence with everything that a form may want of it: quantities, formulas, who it is about, its table.

For: the forms. Not for: judging.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property

from ringtree.audit.claims import words
from ringtree.audit.claims.expressions import Formula, formulas
from ringtree.audit.claims.grid import Grid
from ringtree.audit.claims.quantities import Quantity, quantities
from ringtree.audit.claims.records import Span
from ringtree.audit.claims.surroundings import Surroundings

_HOSTS_OF_RANKS = re.compile(
    r"\b(\d+)\s*(?:nodes|hosts|servers)\s*(?:of|with|x|×|,)\s*(\d+)\s*(?:[\w-]+\s+)?(?:GPUs|ranks|processes)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Claim:
    """`grid` is None where the table is not there or can't be read. `taken`: what forms before this one have judged."""

    text: str
    table: str = ""
    grid: Grid | None = None
    around: Surroundings = field(default_factory=Surroundings)
    taken: tuple[Span, ...] = ()

    @cached_property
    def formulas(self) -> list[Formula]:
        """Formulas in order."""
        return formulas(self.text)

    @cached_property
    def quantities(self) -> list[Quantity]:
        """Numbers with units in order, without those that are part of a formula."""
        inside = [formula.span for formula in self.formulas]
        return [one for one in quantities(self.text) if not any(start <= one.span[0] < end for start, end in inside)]

    @cached_property
    def algorithms(self) -> list[words.Mention]:
        """Algorithms in order."""
        return words.algorithms(self.text)

    @cached_property
    def collective(self) -> str | None:
        """The one collective that is named; None for none or several."""
        named = {mention.name for mention in words.collectives(self.text)}
        return named.pop() if len(named) == 1 else None

    @cached_property
    def num_hosts(self) -> int | None:
        """Hosts, if the sentence names one number of them; else what is known of the table."""
        stated = {one.count for one in self.of_kind("count", "hosts")}
        return stated.pop() if len(stated) == 1 else None if stated else self.around.num_hosts

    @cached_property
    def num_ranks(self) -> int | None:
        """Ranks, if the sentence names one number of them; else what is known of the table."""
        product = _HOSTS_OF_RANKS.search(self.text)
        if product is not None:
            return int(product[1]) * int(product[2])
        stated = {one.count for one in self.of_kind("count", "ranks") if one.count > 0}
        if len(stated) == 1:
            return stated.pop()
        equals = re.search(r"\b[NnKkPp]\s*=\s*(\d{1,6})\b", self.text)
        if equals is not None:
            return int(equals[1])
        return None if stated else self.around.num_ranks

    def of_kind(self, kind: str, noun: str = "") -> list[Quantity]:
        """Quantities of a kind, counts of one noun."""
        return [one for one in self.quantities if one.kind == kind and (not noun or one.noun == noun)]

    def is_taken(self, quantity: Quantity) -> bool:
        """Whether an earlier form has judged the quantity."""
        return quantity.span in self.taken

    def says(self, pattern: str) -> re.Match[str] | None:
        """The first match of `pattern`, whatever the case."""
        return re.search(pattern, self.text, re.IGNORECASE)
