"""The switches between hosts as data: leaves, a spine, and how many uplinks they lack.

For: the shape of [fabric] in a description. Not for: ports of hosts (host.py), the way through the spine (paths.py).
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ringtree.results import Record
from ringtree.simulate.cluster.constants import Ratio
from ringtree.simulate.cluster.host import ByProtocol

Count = Annotated[int, Field(ge=1)]


class Fabric(Record):
    """`rails`: a leaf for each rail, else one for all ports of its hosts. `leaf_hosts`: hosts below a leaf.
    `oversubscription`: ports below a leaf over its uplinks, 1 or more. `latency`: added by way of the spine."""

    rails: bool
    leaf_hosts: Count
    oversubscription: Ratio = Ratio(value=1, unit="1")
    latency: ByProtocol
