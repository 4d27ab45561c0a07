"""What auto would choose, and why, without starting any rank.

For: `ringtree which`. Not for: choosing when a program runs: the engine does, from the same rules or the same model.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from typing import Literal

from pydantic import Field

from ringtree._core import Machine
from ringtree.comm.profile import Loaded, own_cores
from ringtree.comm.profile_format import Configuration, MeasuredSize, ProfileTable, describe_world
from ringtree.errors import UsageError
from ringtree.results import Record
from ringtree.schedules import algorithms, model
from ringtree.schedules.schedule import schedule
from ringtree.units import format_change, format_size, format_time

CHOICE_FORMAT = "ringtree.choice/1"


class Alternative(Record):
    """One configuration's time at the asked size: measured there or around it, or estimated by the model."""

    label: str
    seconds: float
    ratio: float = Field(description="to the choice's time; measured inside rounds, so not just that of the seconds")
    chosen: bool


class Explanation(Record):
    """One choice and its reasons."""

    format: str = CHOICE_FORMAT
    collective: str
    num_ranks: int
    hosts: list[int] | None = Field(default=None, description="the host of each rank; None: all on this one")
    own_cores: bool = Field(description="a core for every rank")
    shared_buffers: bool = Field(description="asked for a communicator whose buffers peers read in place")
    size_bytes: int
    source: Literal["profile", "model"]
    algorithm: str
    configuration: Configuration | None = Field(description="None: the model chooses an algorithm and nothing else")
    alternatives: list[Alternative] = Field(description="the fastest first; empty if the choice was not measured here")
    measured_at: list[int] = Field(description="sizes whose measurements the choice rests on, bytes")
    reason: str
    notes: list[str]


def explain(
    loaded: Loaded,
    collective: str,
    num_ranks: int,
    size_bytes: int,
    shared_buffers: bool = False,
    hosts: list[int] | None = None,
    links: tuple[float, float] | None = None,
) -> Explanation:
    """Returns the choice for a size (bytes of a rank's larger buffer) of a communicator with private or shared buffers.

    `hosts`: the host of each rank, where they are on several; other hosts are taken to have as many cores as this one.
    `links`: as of `choose_on_hosts`. Raises UsageError for an unknown collective.
    """
    several = hosts is not None and max(hosts) > 0
    ranks_here = max(map(hosts.count, hosts)) if hosts is not None else num_ranks
    own, notes = own_cores(ranks_here), [loaded.warning] if loaded.warning is not None else []
    profile = loaded.profile
    num_hosts = 1 if hosts is None else _even_hosts(hosts)
    table = None if profile is None else profile.table(collective, num_ranks, own, shared_buffers, num_hosts)
    if profile is not None and (table is None or table.shared_buffers != shared_buffers):
        asked = describe_world(num_ranks, own, shared_buffers, 1 if hosts is None else max(hosts) + 1)
        instead = "" if table is None else ": those for private buffers count"
        notes.append(f"{loaded.path} has no rules for {collective} with {asked}{instead}")
    elif profile is None and loaded.warning is None:
        notes.append("there is no profile; `ringtree tune` measures one")
    if profile is not None and table is not None:
        date = (table.measured_utc or profile.created_utc)[:10]
        if links is not None:
            notes.append("the links named with --alpha and --bandwidth are ignored: the profile has a rule")
        found = _by_profile(table, size_bytes, shared_buffers, date, notes)
    elif several and hosts is not None:
        if links is None:
            notes.append("assumed links; ranks probe theirs when they meet. Name others with --alpha and --bandwidth")
        found = _by_model_on(hosts, links, collective, own, shared_buffers, size_bytes, notes)
    else:
        # Beside rules the engine probes nothing, and nothing for one rank.
        constants, told = model.machine(probed=not loaded.rules and num_ranks > 1)
        notes.append(told)
        found = _by_model(collective, num_ranks, own, shared_buffers, size_bytes, constants, notes)
    return found.model_copy(update={"hosts": hosts if several else None})


def _even_hosts(hosts: list[int]) -> int:
    """As rules name them: the number of hosts with equal, consecutive ranks; 0 for others."""
    even = len({*map(hosts.count, hosts)}) == 1 and hosts == sorted(hosts)
    return max(hosts) + 1 if even else 0


def _by_profile(table: ProfileTable, size_bytes: int, shared_buffers: bool, date: str, notes: list[str]) -> Explanation:
    rule = table.rule_for(size_bytes)
    around = _around(table, size_bytes)
    label = rule.configuration.label
    alternatives = _alternatives(_measured_at(around, size_bytes), label)
    reason = f"profile: {label}"
    if alternatives:
        mine = next(one for one in alternatives if one.chosen)
        reason += f" {format_time(mine.seconds)}"
        other = next((one for one in alternatives if not one.chosen), None)
        if other is not None:
            what = "next best" if other.ratio >= 1 else "not surely or not lastingly faster"
            reason += f"; {what} {other.label} {format_time(other.seconds)} ({format_change(other.ratio)})"
    else:
        reason += " by the rule of its neighbours"
    reason += f"; measured {date} at {' and '.join(format_size(one.size_bytes) for one in around)}"
    return Explanation(
        collective=table.collective,
        num_ranks=table.num_ranks,
        own_cores=table.own_cores,
        shared_buffers=shared_buffers,
        size_bytes=size_bytes,
        source="profile",
        algorithm=rule.configuration.algorithm,
        configuration=rule.configuration,
        alternatives=alternatives,
        measured_at=[one.size_bytes for one in around],
        reason=reason,
        notes=notes,
    )


def _by_model(
    collective: str,
    num_ranks: int,
    own: bool,
    shared_buffers: bool,
    size_bytes: int,
    constants: Machine,
    notes: list[str],
) -> Explanation:
    names = algorithms.names(collective)
    if not names:
        raise UsageError(f"no algorithm runs {collective!r}; `ringtree support` lists what runs")
    algorithm, reason = model.choose(collective, num_ranks, size_bytes, constants)
    seconds = {
        name: model.estimate(schedule(collective, name, ranks=num_ranks), size_bytes, constants) for name in names
    }
    return _modelled(collective, num_ranks, own, shared_buffers, size_bytes, (algorithm, reason, seconds), notes)


def _by_model_on(
    hosts: list[int],
    links: tuple[float, float] | None,
    collective: str,
    own: bool,
    shared_buffers: bool,
    size_bytes: int,
    notes: list[str],
) -> Explanation:
    found = model.choose_on_hosts(collective, hosts, size_bytes, links)
    return _modelled(collective, len(hosts), own, shared_buffers, size_bytes, found, notes)


def _modelled(
    collective: str,
    num_ranks: int,
    own: bool,
    shared_buffers: bool,
    size_bytes: int,
    found: tuple[str, str, dict[str, float]],
    notes: list[str],
) -> Explanation:
    """`found`: the algorithm, why, and every candidate's seconds."""
    algorithm, reason, seconds = found
    return Explanation(
        collective=collective,
        num_ranks=num_ranks,
        own_cores=own,
        shared_buffers=shared_buffers,
        size_bytes=size_bytes,
        source="model",
        algorithm=algorithm,
        configuration=None,
        alternatives=_alternatives({name: (taken, taken) for name, taken in seconds.items()}, algorithm),
        measured_at=[],
        reason=reason,
        notes=notes,
    )


def _around(table: ProfileTable, size_bytes: int) -> list[MeasuredSize]:
    """The measured size itself, or the two next to it; at either end of what was measured, the last one."""
    above = bisect_right([one.size_bytes for one in table.sizes], size_bytes)
    if above and table.sizes[above - 1].size_bytes == size_bytes:
        return [table.sizes[above - 1]]
    return table.sizes[max(0, above - 1) : above + 1]


def _alternatives(measured: dict[str, tuple[float, float]], chosen: str) -> list[Alternative]:
    """Of label -> (seconds, ratio to whatever is the same for all); the fastest first."""
    if chosen not in measured:
        return []
    return [
        Alternative(label=label, seconds=seconds, ratio=ratio / measured[chosen][1], chosen=label == chosen)
        for label, (seconds, ratio) in sorted(measured.items(), key=lambda item: item[1][1])
    ]


def _measured_at(around: list[MeasuredSize], size_bytes: int) -> dict[str, tuple[float, float]]:
    """label -> seconds and ratio to the fastest, of the placement in which it did worst; between two sizes on the line
    through both, in logarithms. Outside of the measured sizes nothing is extrapolated: it is that of the last size."""
    found = [
        {one.configuration.label: (max(one.seconds.values()), one.ratio) for one in size.candidates} for size in around
    ]
    if len(found) < 2:
        return found[0]
    low, high = (math.log(size.size_bytes) for size in around)
    share = (math.log(size_bytes) - low) / (high - low)

    def between(first: float, last: float) -> float:
        return math.exp((1 - share) * math.log(first) + share * math.log(last))

    return {
        label: (between(found[0][label][0], found[1][label][0]), between(found[0][label][1], found[1][label][1]))
        for label in found[0].keys() & found[1].keys()
    }
