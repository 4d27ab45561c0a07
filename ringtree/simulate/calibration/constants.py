"""The constants of a description that a fit may change, and a description with some of them changed.

For: keys as TOML writes them ("host.memory.rate") to numbers and back. Not for: fitting (fitting.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ringtree.simulate.cluster import Cluster, Constant
from ringtree.simulate.cluster.constants import RATE_UNITS, TIME_UNITS, Rate, Time
from ringtree.simulate.cluster.host import PROTOCOLS

# A time of 0 has no logarithm: a fit starts below what any clock tells.
LEAST_TIME = 1e-9


def candidates(cluster: Cluster, protocols: Iterable[str]) -> dict[str, Constant]:
    """Returns rates and latencies of links, of a channel and of a call, by key, those of `protocols` alone.

    What a protocol adds to each message is not among them: no time tells it from its link's latency. Neither is
    `host.memory.touched`, a curve that is probed as a whole: few sizes would bend it at will.
    """
    wanted, found = set(protocols), dict[str, Constant]()
    for key, constant in cluster.constants():
        last = key.rsplit(".", 1)[-1]
        if key.startswith(("protocols.", "host.memory.touched.")) or (last in PROTOCOLS and last not in wanted):
            continue
        if isinstance(constant, (Rate, Time)):
            found[key] = constant
    return found


def value_of(constant: Constant) -> float:
    """Returns bytes/s or seconds, above 0."""
    return max(constant.si, LEAST_TIME) if isinstance(constant, Time) else constant.si


def changed(cluster: Cluster, values: Mapping[str, Constant]) -> Cluster:
    """Returns `cluster` with other constants at some keys."""
    fields: dict[str, Any] = cluster.model_dump(mode="json", exclude_none=True)
    for key, constant in values.items():
        *way, last = key.split(".")
        at: Any = fields
        for name in way:
            at = at[int(name) if isinstance(at, list) else name]
        at[last] = constant.model_dump(mode="json", exclude_none=True)
    return Cluster.model_validate(fields)


def constant_like(
    old: Constant, si: float, source: str = "assumed", date: str | None = None, digits: int = 17
) -> Constant:
    """Returns a constant of the kind of `old` with the value `si` (bytes/s or seconds), in a unit that people read."""
    units = TIME_UNITS if isinstance(old, Time) else RATE_UNITS
    unit = "us" if isinstance(old, Time) else "GB/s"
    value = float(f"{si / units[unit]:.{digits}g}")
    return type(old)(value=value, unit=unit, source=source, date=date)
