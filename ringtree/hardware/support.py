"""What NCCL does when it is told to use an algorithm or protocol that a collective does not have.

For: "NCCL_ALGO=Tree all_gather_perf" and its like, release by release. Not for: limits.
"""

from __future__ import annotations

from typing import Literal

from ringtree.hardware.records import Record

# runs: the kernel exists. falls_back: another algorithm (Ring) runs and nothing says so. error: the call fails.
# ignored: the setting is not looked at for this collective. unknown: the release is older or newer than what was read.
Outcome = Literal["runs", "falls_back", "error", "ignored", "unknown"]


class Support(Record):
    """`outcome` of forcing `algorithm` (and `protocol`), what then runs, and where that is known from."""

    collective: str
    algorithm: str
    protocol: str | None
    nccl_version: str | None
    outcome: Outcome
    executed: str | None
    explanation: str
    sources: tuple[str, ...]


def library_support(
    collective: str, algorithm: str, protocol: str | None = None, nccl_version: str | None = None
) -> Support:
    """What NCCL `nccl_version` ("2.21.5"; None: not known) does with NCCL_ALGO=`algorithm` (and NCCL_PROTO=`protocol`)
    for `collective`."""
    raise NotImplementedError
