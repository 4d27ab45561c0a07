"""What a limit is made of: bytes over each class of links, and the rates that follow.

For: the records that limits.py returns. Not for: computing them.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ringtree.results import Record

# intra: what one rank sends to (or receives from, whichever is more) the other ranks of its host.
# pair: what one rank sends to one other rank of its host, where pairs have links of their own.
# network: what one host sends to (or receives from) all other hosts.
# rank: what one rank sends (or receives) over all of its links, inside the host and out.
LinkClass = Literal["intra", "pair", "network", "rank"]
_PER: dict[LinkClass, Literal["rank", "pair", "host"]]
_PER = {"intra": "rank", "pair": "pair", "network": "host", "rank": "rank"}


class Traffic(Record):
    """What a collective moves over one class of links, in the direction that carries more."""

    link: LinkClass
    share: float = Field(ge=0, description="bytes over the link for each byte of the collective's size")
    per: Literal["rank", "pair", "host"]
    reason: str = Field(description="where the share comes from, such as '2(n-1)/n'")


def traffic(link: LinkClass, share: float, reason: str) -> Traffic:
    """A share of the size over a class of links."""
    return Traffic(link=link, share=share, per=_PER[link], reason=reason)


class LinkUse(Record):
    """A class of links with what goes over it and what that permits."""

    traffic: Traffic
    rate: float | None = Field(description="bytes/s per direction; None: not known")
    algbw: float | None = Field(description="rate / share, bytes/s; None: this class does not limit")


class Limit(Record):
    """The highest rates that links permit. `algbw`, `busbw`: bytes/s, None if nothing is known that limits (see
    `unknown`, or one rank alone). `binding`: the class of links that sets them. `arithmetic`: one line for a person."""

    collective: str
    algorithm: str = Field(description="in the spelling of NCCL's log or of ringtree's table")
    library: Literal["nccl", "ringtree", "any"] = Field(description="any: what no algorithm can exceed")
    num_ranks: int
    num_hosts: int
    algbw: float | None
    busbw: float | None
    binding: LinkClass | None
    uses: tuple[LinkUse, ...]
    unknown: tuple[LinkClass, ...] = Field(description="classes that carry data but whose rate is not known")
    arithmetic: str

    def efficiency(self, busbw: float) -> float | None:
        """Returns the share of the limit that a measured `busbw` (bytes/s) is; above 1 it can't have been. None: there
        is not a limit to hold it against."""
        return None if not self.busbw else busbw / self.busbw
