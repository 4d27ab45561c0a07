"""What each kind of arm needs that is not here.

For: what `ringtree arms` lists, judged where an arm was asked for. Not for: running one.
"""

from __future__ import annotations

from collections.abc import Iterator

from ringtree.arms.kind import ArmKind
from ringtree.doctor.host import Host
from ringtree.doctor.records import Fact, fail, not_known, ok, told
from ringtree.errors import RingtreeError

_SOURCE = "ringtree arms"


def arms(host: Host) -> Iterator[Fact]:
    """Those that are ready, then each that lacks something."""
    kinds = [kind for kind in host.software.kinds if kind.written and (not host.asked or kind.name in host.asked)]
    ready, others = [], []
    for kind in kinds:
        try:
            lacks = kind.lacks()
        except (OSError, RingtreeError) as error:
            others.append(not_known(_name(kind), str(error), _SOURCE))
            continue
        if lacks is None:
            ready.append(_name(kind))
        elif host.asked:
            others.append(fail(_name(kind), "not ready", _SOURCE, lacks))
        else:
            others.append(told(_name(kind), f"lacks: {lacks}", _SOURCE))
    yield ok("ready", ", ".join(ready), _SOURCE) if ready else told("ready", "none", _SOURCE)
    yield from others


def _name(kind: ArmKind) -> str:
    """How the plainest of its arms is written."""
    return next((name for name in kind.written if "<" not in name), kind.written[0])
