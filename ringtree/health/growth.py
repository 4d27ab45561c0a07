"""Several logs of one system: does latency grow with the hosts (ring) or with their logarithm (tree)?

For: the floors of logs that differ in their number of hosts only. Not for: sizes that bandwidth decides; one host,
whose steps are other links.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ringtree.health.curve import Measured
from ringtree.health.records import Growth
from ringtree.health.shape import FLOOR, floor_of
from ringtree.stats import tell_apart
from ringtree.units import count, format_size, format_time

P = 0.05


def growth_of(measured: Sequence[Measured]) -> list[Growth]:
    """Returns what each group of logs tells that has at least two numbers of hosts."""
    groups: dict[tuple[str, int, object], dict[int, list[float]]] = {}
    for one in measured:
        if one.hosts and one.curve.num_ranks % one.hosts == 0 and min(one.curve.seconds) <= FLOOR:
            alike = one.tool, frozenset(one.subject.table.devices)
            key = (one.curve.collective, one.curve.num_ranks // one.hosts, alike)
            groups.setdefault(key, {}).setdefault(one.hosts, []).append(floor_of(one.curve))
    return [_growth(*key[:2], floors) for key, floors in groups.items() if len(floors) > 1]


def _growth(collective: str, ranks_per_host: int, floors: dict[int, list[float]]) -> Growth:
    shown = {hosts: (min(floors[hosts]), max(floors[hosts])) for hosts in sorted(floors)}
    points = [(float(hosts), one) for hosts, of in floors.items() for one in of if hosts > 1 or ranks_per_host == 1]
    hosts, times = [one for one, _ in points], [one for _, one in points]
    told = tell_apart(hosts, [math.log2(one) for one in hosts], times)
    found = Growth(collective=collective, ranks_per_host=ranks_per_host, floors=shown)
    if told is None:
        number = count(len(set(hosts)), "number")
        because = f"{number} of hosts above one: any line fits two points; at least three are needed, four are better"
        return found.model_copy(update={"because": because})
    because = f"up to {format_size(FLOOR)}, AICc differs by {told.delta:+.1f}; such a difference comes with p = "
    because += f"{told.p_first:.2g} if it grows with the hosts, {told.p_second:.2g} if with their logarithm"
    kinds = (
        ("linear", told.p_first, told.first, "a host: a ring"),
        ("logarithmic", told.p_second, told.second, "a doubling: a tree"),
    )
    likely = [one for one in kinds if one[1] >= P]
    told_as: dict[str, object] = {"verdict": "cannot be told apart" if likely else "neither"}
    if len(likely) == 1:
        ((name, _, line, step),) = likely
        told_as = {"verdict": name, "slope": line.slope}
        because += f"; {format_time(line.slope)} {step}" if line.slope > 0 else ""
    about = {"delta_aicc": told.delta, "p_linear": told.p_first, "p_logarithmic": told.p_second, "because": because}
    return found.model_copy(update=about | told_as)
