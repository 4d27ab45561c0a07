"""What real systems reached: times of collectives from public logs, an entry a table, each with its source.

For: the catalogue's files (catalogue/*.toml), checked. Not for: what hardware permits (ringtree.hardware), judging.

Times are facts that somebody measured; tools/reached.py takes them out of a log. Systems count as alike where their
links are: that is what `Links` holds, made from the hardware catalogue.
"""

from __future__ import annotations

import datetime
import sys
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

from pydantic import Field, ValidationError, model_validator

from ringtree.errors import UsageError
from ringtree.hardware import Topology, load_catalogue, topology_of
from ringtree.hardware.entries import Count, Positive
from ringtree.health.curve import Curve
from ringtree.logs.words import element_bytes
from ringtree.results import Record
from ringtree.traits import REDUCING

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FOLDER = Path(__file__).parent / "catalogue"
_ROUNDED = 1e-3  # times have four digits


class Links(NamedTuple):
    """What two machines must share to be held against each other: shape, and rates in bytes/s. Of one host the network
    does not count. `inside`, `between`: what a rank sends inside its host, a host to the others."""

    hosts: int
    ranks_per_host: int
    inside: float | None
    pair: float | None
    nvls: bool | None
    between: float | None

    @classmethod
    def of(cls, topology: Topology) -> Links:
        """Returns those of a topology."""
        one = topology.num_hosts == 1
        rates = topology.rank_rate, topology.pair_rate, topology.nvls, None if one else topology.network_rate
        return cls(topology.num_hosts, topology.ranks_per_host, *rates)

    @property
    def are_known(self) -> bool:
        """Whether all that carries data has a rate."""
        return (self.ranks_per_host == 1 or self.inside is not None) and (self.hosts == 1 or self.between is not None)

    def __str__(self) -> str:
        hosts = "1 host" if self.hosts == 1 else f"{self.hosts} hosts"
        inside = "" if self.ranks_per_host == 1 else f", {(self.inside or 0) / 1e9:g} GB/s a rank inside"
        network = "" if self.hosts == 1 else f", {(self.between or 0) / 1e9:g} GB/s a host between"
        return f"{hosts} of {self.ranks_per_host} ranks{inside}{network}"


class Reached(Record):
    """One table of one public log. `times_us`: by bytes of all blocks together. In a file, what tables of a machine
    share stands once above them."""

    system: str = Field(description="of the hardware catalogue")
    gpu: str = Field(description="of the hardware catalogue")
    hosts: Count
    ranks: Count
    collective: str
    dtype: str | None = Field(default=None, description="of the elements, where the log says it")
    tool: str
    library: str = Field(default="", description="and its version, where the log says it")
    source: str = Field(description="where the log lies, with the commit")
    accessed: datetime.date
    note: str = ""
    times_us: dict[int, Positive] = Field(min_length=2)

    @model_validator(mode="after")
    def _even(self) -> Reached:
        if self.ranks % self.hosts or list(self.times_us) != sorted(self.times_us):
            raise ValueError("needs the same number of ranks on each host, and sizes in ascending order")
        return self

    def answers(self, curve: Curve) -> bool:
        """Whether it measured the same: of what reduces, also alike in the width of types that a switch can't add up
        (one byte), as NVLS leaves those to the ring."""
        same = self.collective == curve.collective
        return same and (curve.collective not in REDUCING or _is_byte(self.dtype) == _is_byte(curve.dtype))

    @cached_property
    def curve(self) -> Curve:
        return Curve(self.collective, self.ranks, {size: time * 1e-6 for size, time in self.times_us.items()})

    @property
    def site(self) -> str:
        """Who measured it: logs of one repository share hosts, people and settings."""
        return "/".join(self.source.split("/")[2:5])

    def is_of(self, curve: Curve) -> bool:
        """Whether the curve is the log that this entry is from: it can't be held against itself."""
        times = [(time, curve.seconds[size] * 1e6) for size, time in self.times_us.items() if size in curve.seconds]
        alike = sum(abs(seen / time - 1) < _ROUNDED for time, seen in times)
        return len(times) >= 2 and alike == len(times)

    @cached_property
    def links(self) -> Links:
        known, ranks_per_host = load_catalogue(), self.ranks // self.hosts
        system, gpu = known.systems[self.system], known.gpus[self.gpu]
        return Links.of(topology_of(system, gpu, num_hosts=self.hosts, ranks_per_host=ranks_per_host))


def _is_byte(dtype: str | None) -> bool:
    return element_bytes(dtype) == 1


@lru_cache(maxsize=1)
def load_reached() -> tuple[Reached, ...]:
    """Returns all entries. Raises UsageError that names the file and the entry that is wrong."""
    found = []
    for file in sorted(FOLDER.glob("*.toml")):
        machines = tomllib.loads(file.read_text(encoding="utf-8")).get("machine", [])
        entries = [(one, values) for one in machines for values in one.pop("reached")]
        for number, (machine, values) in enumerate(entries, 1):
            try:
                found.append(Reached(**machine, **values))
            except ValidationError as error:
                raise UsageError(f"{file}: entry {number}: {error.errors()[0]['msg']}") from None
    return tuple(found)
