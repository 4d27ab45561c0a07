"""What lines say of one communicator, gathered in little memory.

For: the readers of lines, which put into it; documents.py, which makes records of it. Not for: knowing which
communicator a line belongs to (communicators.py).

What repeats is counted by its own text and parsed once, at the end: NCCL writes a line a call, and few differ.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, TypeVar

# Of a whole file. What is beyond is counted in `left_out`, so a log of any size needs the memory of this much.
MAX_LINKS = 1 << 18  # a rank's place in one channel's ring or tree
MAX_TEXTS = 1 << 15  # different texts that are counted
MAX_TEXT = 400  # characters of each

# What may not fit.
ORDERS, NEIGHBOURS, PLACES = "ring orders", "neighbours in rings", "places in trees"

Place = tuple[int, Any]
_NONE: dict[int, Place] = {}
KeyT = TypeVar("KeyT", str, tuple[str, str], tuple[str, ...])


@dataclass
class Budget:
    """How much may still be kept of one file."""

    links: int = MAX_LINKS
    texts: int = MAX_TEXTS

    def take_links(self, num: int) -> bool:
        """Says whether `num` more places may be kept, and counts them."""
        if self.links < num:
            return False
        self.links -= num
        return True


@dataclass
class Facts:
    """Of one communicator, or of lines of which that is not known.

    orders: channel -> (ranks as printed, whether NCCL cut them); places: channel -> rank -> (previous, next) in a ring,
    (parent, children) in a tree. conflicts: channels of which two lines say different things of a rank.
    transports: ("send" | "receive" | "", what stands behind "via"); costs: (function, algorithm, protocol) as printed.
    operations: (function, count, datatype, op, root, nranks) as printed.
    """

    budget: Budget
    first_line: int = 0
    last_line: int = 0
    num_lines: int = 0
    num_hosts: int | None = None
    orders: dict[int, tuple[tuple[int, ...], bool]] = field(default_factory=dict)
    places: dict[str, dict[int, dict[int, Place]]] = field(default_factory=lambda: {NEIGHBOURS: {}, PLACES: {}})
    conflicts: dict[str, set[int]] = field(default_factory=dict)
    transports: Counter[tuple[str, str]] = field(default_factory=Counter)
    graphs: Counter[str] = field(default_factory=Counter)
    system: tuple[float, float] | None = None
    channels: dict[str, int] = field(default_factory=dict)
    enabled: dict[str, dict[str, int]] = field(default_factory=dict)
    costs: dict[tuple[str, str, str], tuple[float, float]] = field(default_factory=dict)
    decisions: Counter[str] = field(default_factory=Counter)
    estimates: dict[tuple[str, int], float] = field(default_factory=dict)
    operations: Counter[tuple[str, ...]] = field(default_factory=Counter)
    statements: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)

    def count(self, counter: Counter[str], text: str, what: str) -> None:
        """Counts a text; `what` it is a line of, if it does not fit."""
        self.count_key(counter, text[:MAX_TEXT], what)

    def count_key(self, counter: Counter[KeyT], key: KeyT, what: str) -> None:
        """The same for what was taken out of a line."""
        if key not in counter:
            if self.budget.texts <= 0:
                self.left_out[what] += 1
                return
            self.budget.texts -= 1
        counter[key] += 1

    def keep_order(self, channel: int, ranks: tuple[int, ...], cut: bool) -> None:
        """Keeps the order that rank 0 prints; the first one of a channel counts."""
        known = self.orders.get(channel)
        if known is not None:
            if known[0] != ranks:
                self._conflict(ORDERS, channel)
        elif self.budget.take_links(len(ranks) + 1):
            self.orders[channel] = (ranks, cut)
        else:
            self.left_out[ORDERS] += 1

    def keep_place(self, what: str, channel: int, rank: int, place: Place) -> None:
        """Keeps what one rank says of its place in a ring (NEIGHBOURS) or a tree (PLACES)."""
        places = self.places[what]
        known = places.get(channel, _NONE).get(rank)
        if known is not None:
            if known != place:
                self._conflict(what, channel)
        elif self.budget.take_links(1):
            places.setdefault(channel, {})[rank] = place
        else:
            self.left_out[what] += 1

    def _conflict(self, what: str, channel: int) -> None:
        self.conflicts.setdefault(what, set()).add(channel)

    def merge(self, other: Facts) -> None:
        """Takes what was gathered before it was known to belong here."""
        for channel, (ranks, cut) in other.orders.items():
            self.budget.links += len(ranks) + 1
            self.keep_order(channel, ranks, cut)
        for what, of_channels in other.places.items():
            for channel, places in of_channels.items():
                self.budget.links += len(places)
                for rank, place in places.items():
                    self.keep_place(what, channel, rank, place)
        for what, channels in other.conflicts.items():
            self.conflicts.setdefault(what, set()).update(channels)
        for name in ("transports", "graphs", "decisions", "statements", "left_out", "operations"):
            getattr(self, name).update(getattr(other, name))
        self.system = self.system or other.system
        self.num_hosts = self.num_hosts or other.num_hosts
        for name in ("channels", "enabled", "costs", "estimates"):
            setattr(self, name, getattr(other, name) | getattr(self, name))
        self.num_lines += other.num_lines
        self.last_line = max(self.last_line, other.last_line)
        if other.first_line:
            self.first_line = min(self.first_line or other.first_line, other.first_line)
