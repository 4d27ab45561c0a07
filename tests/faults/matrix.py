"""The matrix: which fault is tried where, in which collectives, how often, and against which bar.

For: the list of what to do. Not for: doing it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from tempfile import TemporaryDirectory

from engine_case import COLLECTIVES, REDUCING, ROOTED
from hosts_support import why_no_hosts

from faults import bars, deaths, mismatches, silences, streams
from faults.bars import Bar
from faults.proxy import Fault, Role
from faults.trial import Cell, Trial, World

Try = Callable[[Cell], Trial]

SHARED = [World(0, 2), World(0, 3), World(0, 4)]
HOSTS = [World(2, 1), World(3, 1), World(2, 2)]
SOME = ("all_reduce", "broadcast", "all_to_all")


@dataclass(frozen=True)
class Row:
    """A fault, tried on each world with each collective `repeats` times."""

    fault: str
    bar: Bar
    attempt: Try
    worlds: Sequence[World]
    collectives: Sequence[str]
    repeats: int
    engine: str = "ringtree"

    def cells(self) -> Iterator[Cell]:
        for _ in range(self.repeats):
            for world in self.worlds:
                for collective in self.collectives:
                    yield Cell(self.fault, world, collective, self.engine)


def _while_meeting(cell: Cell) -> Trial:
    with TemporaryDirectory(prefix="ringtree-faults-") as directory:
        return deaths.killed_while_meeting(cell, directory)


def rows(quick: bool) -> list[Row]:
    """Those that this machine can run, in the order of the table."""
    worlds = [SHARED, *([] if why_no_hosts() else [HOSTS])]
    made = []
    for each in worlds:
        made += _of(each, quick)
    if not why_no_hosts():
        made += _of_the_network(quick)
    return made + _of_streams(quick)


def _of(worlds: Sequence[World], quick: bool) -> list[Row]:
    bar = bars.OTHER_HOST if worlds[0].hosts else bars.SAME_HOST
    few, one = worlds[:: 2 if quick else 1], worlds[-1:]
    many, some = (SOME[:1], SOME[:1]) if quick else (COLLECTIVES, SOME)
    often = 1 if quick else 3
    often_late = f"3 s late, {silences.LATE_TIMES} times in {silences.LATE_JOBS} jobs at once"

    def row(fault: str, bar: Bar, attempt: Try, collectives: Sequence[str] = some, repeats: int = 1) -> Row:
        return Row(fault, bar, attempt, one if "stopped" in fault and quick else few, collectives, repeats)

    made = [
        row("killed while all meet", bars.Bar(("PeerError",), within_s=1.0), _while_meeting, SOME[:1], often),
        row("killed before its first call", bar, lambda c: deaths.killed(c, at_start=True), some, often),
        row("killed in a call", bar, deaths.killed, many, often),
        row("killed while all are idle", bar, lambda c: deaths.killed(c, idle=True), some, often),
        row("killed, then shrink() and a call without it", bars.GOES_ON, deaths.killed_and_shrunk, some),
        row("stopped for 1 s", bars.NO_ALARM, lambda c: silences.stopped_for(c, 1.0), some),
        row("2 s late", bars.NO_ALARM, silences.late, some),
        *([] if quick else [Row(often_late, bars.NO_ALARM, silences.late_often, worlds[:1], SOME[:1], 1)]),
        row("stopped for 8 s", bars.SUSPECTED, lambda c: silences.stopped_for(c, 8.0), some[:1]),
        row("stopped for ever", bars.AT_DEADLINE, silences.stopped_for_ever, some[:2]),
    ]
    for what in ("size", "dtype", "op", "root", "collective", "order", "skipped call"):
        having = {"op": REDUCING, "root": ROOTED}.get(what, COLLECTIVES)
        chosen = having[:1] if quick else having
        made.append(Row(f"calls differ: {what}", bars.DISAGREE, _mismatch(what), few, chosen, 1))
    return made


def _mismatch(what: str) -> Try:
    return lambda cell: mismatches.mismatch(cell, what)


def _of_the_network(quick: bool) -> list[Row]:
    worlds, collectives = (HOSTS[-1:] if quick else HOSTS), SOME[:1]
    attempts: list[tuple[str, Try]] = [
        ("network drops all packets", silences.dropped),
        ("link down", silences.link_down),
        ("host vanishes without a word", silences.vanished),
    ]
    return [Row(fault, bars.AT_DEADLINE, attempt, worlds, collectives, 1) for fault, attempt in attempts]


def _of_streams(quick: bool) -> list[Row]:
    pair = [World(2, 1)]
    collectives, repeats = (SOME[:1], 1) if quick else (SOME[:2], 3)

    def broken(role: Role, fault: Fault, checksums: bool = False) -> Try:
        return lambda cell: streams.broken(cell, role, fault, checksums=checksums)

    attempts: list[tuple[str, Bar, Try]] = [
        ("data stream reset", bars.BROKEN, broken(Role.DATA, Fault.RESET)),
        ("data stream cut within a frame", bars.BROKEN, broken(Role.DATA, Fault.CUT)),
        ("bit flipped in a frame's header", bars.BROKEN, broken(Role.DATA, Fault.HEADER)),
        ("bit flipped in a payload, RINGTREE_CRC=1", bars.BROKEN, broken(Role.DATA, Fault.PAYLOAD, True)),
        ("control connection reset", bars.BROKEN, broken(Role.CONTROL, Fault.RESET)),
        ("bit flipped on the control connection", bars.BROKEN, broken(Role.CONTROL, Fault.BYTE)),
        ("nothing passes for 2 s", bars.NO_ALARM, broken(Role.CONTROL, Fault.PAUSE)),
        ("nothing passes any more", bars.AT_DEADLINE, broken(Role.DATA, Fault.SILENCE)),
    ]
    return [Row(fault, bar, attempt, pair, collectives, repeats) for fault, bar, attempt in attempts]
