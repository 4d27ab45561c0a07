"""What stands behind "via" in a connection's line.

For: classes of connections and their counts. Not for: which connection it is.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict

from ringtree.logs.nccl_info.shapes import Transport

# The network's name may hold blanks ("AWS Libfabric"); the number in brackets is the rank whose NIC is used (PXN).
_NET = re.compile(r"((?:NET|COLLNET)/[^/]{1,60})/(-?\d{1,9})(?:\(-?\d{1,9}\))?((?:/[A-Za-z]\w*(?:\(\w+\))?)*)")
_P2P = re.compile(
    r"P2P/(CUMEM|IPC|MNNVL|direct pointer|common device|indirect|\w{1,40})"
    r"(?:/\d{1,9}\[\w+\])?(/read)?(/CE)?"
)
_SHM = re.compile(r"SHM(?:/(?:direct|CE|\w{1,20})){0,2}")


def transports_of(counts: Counter[tuple[str, str]]) -> list[Transport]:
    """Returns the classes, those with most connections first."""
    numbers: Counter[tuple[str, bool, str]] = Counter()
    devices: defaultdict[tuple[str, bool, str], Counter[str]] = defaultdict(Counter)
    for (direction, via), num in counts.items():
        name, gdr, device = parse_via(via)
        key = (name, gdr, direction)
        numbers[key] += num
        if device is not None:
            devices[key][device] += num
    return [
        Transport(
            name=name,
            gdr=gdr,
            direction="send" if direction == "send" else "receive" if direction else None,
            num=num,
            devices=dict(sorted(devices[name, gdr, direction].items())),
        )
        for (name, gdr, direction), num in sorted(numbers.items(), key=lambda item: (-item[1], item[0]))
    ]


def parse_via(via: str) -> tuple[str, bool, str | None]:
    """Returns the class of a transport, whether it uses GPUDirect RDMA, and the NIC's number."""
    found = _NET.match(via)
    if found is not None:
        name, device, flags = found.groups()
        return name, "/GDRDMA" in flags, device
    found = _P2P.match(via)
    if found is not None:
        return f"P2P/{found.group(1)}{found.group(3) or ''}", False, None
    found = _SHM.match(via)
    if found is not None:
        return found.group(), False, None
    if via.startswith("direct shared memory"):
        return "SHM", False, None  # up to 2.14
    return via.strip()[:60], False, None
