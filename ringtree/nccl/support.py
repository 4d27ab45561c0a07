"""What NCCL does when it is told to use an algorithm or protocol that a collective does not have.

For: "NCCL_ALGO=Tree all_gather_perf" and its like, release by release; the table is support.toml, from NCCL's
tagged sources. Not for: limits, nor what a machine lacks (limits.py), what a list of algorithms means (grammar.py).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import Field

from ringtree.errors import UsageError
from ringtree.hardware.entries import Source
from ringtree.hardware.limits import check_collective
from ringtree.nccl.names import ALGORITHMS, KERNELS, POINT_TO_POINT, PROTOCOLS, algorithm_name, protocol_name
from ringtree.nccl.releases import release
from ringtree.results import Record

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

# runs: the kernel exists. falls_back: another algorithm (Ring) runs and nothing says so. error: the call fails.
# ignored: the setting is not looked at for this collective. unknown: the release is not known, or none that was read.
Outcome = Literal["runs", "falls_back", "error", "ignored", "unknown"]


class Support(Record):
    """`outcome` of forcing `algorithm` (and `protocol`), what then runs, and where that is known from."""

    collective: str
    algorithm: str
    protocol: str | None
    nccl_version: str | None
    outcome: Outcome
    executed: str | None = Field(description="the algorithm that runs; None: none, or not known")
    explanation: str
    sources: tuple[str, ...] = Field(description="title and address of each")


class _Kernel(Record):
    algorithm: str
    collectives: list[str]
    protocols: list[str]
    from_: str = Field(alias="from")
    not_in: tuple[str, ...] = ()
    sources: list[str]


class _Forced(Record):
    what: Literal["algorithm", "protocol"]
    from_: str = Field(alias="from")
    to: str | None = None
    collectives: list[str] | None = None
    outcome: Outcome
    executed: str | None = None
    explanation: str
    sources: list[str]


class _Condition(Record):
    name: str
    needs: str
    sources: list[str]


class _Table(Record):
    newest_read: str
    source: dict[str, Source]
    kernel: list[_Kernel]
    forced: list[_Forced]
    condition: list[_Condition]


def library_support(
    collective: str, algorithm: str, protocol: str | None = None, nccl_version: str | None = None
) -> Support:
    """What NCCL `nccl_version` ("2.21.5"; None: not known) does with NCCL_ALGO=`algorithm` (and NCCL_PROTO=`protocol`)
    for `collective`. Several hosts and a machine that has what the algorithm needs are taken for granted.

    None as the version: "runs" if every release from 2.24 on has the kernel, else "unknown" with both possibilities in
    the explanation. Raises UsageError for unknown names.
    """
    check_collective(collective)
    name = algorithm_name(algorithm)
    if name is None or name == POINT_TO_POINT:
        raise UsageError(f"NCCL has no algorithm {algorithm!r}; there are {', '.join(ALGORITHMS)}")
    proto = None if protocol is None else protocol_name(protocol)
    if protocol is not None and proto is None:
        raise UsageError(f"NCCL has no protocol {protocol!r}; there are {', '.join(PROTOCOLS)}")
    asked = (collective, name, proto, nccl_version)
    table = _table()
    if collective in KERNELS[POINT_TO_POINT]:
        words = f"{collective} goes point to point, NCCL_ALGO and NCCL_PROTO have no effect"
        return _answer(asked, "ignored", POINT_TO_POINT, words, ["nccl-tags"])
    at = None if nccl_version is None else release(nccl_version)
    if nccl_version is not None and at is None:
        raise UsageError(f"invalid version of NCCL {nccl_version!r}; write it as 2.21.5")
    if at is not None and at > _number(table.newest_read):
        words = f"releases after {table.newest_read} have not been read"
        return _answer(asked, "unknown", None, words, [])
    return _look_up(asked, table, at)


def first_release_with_error(collective: str, algorithm: str, protocol: str | None = None) -> str | None:
    """The release from which on, to the newest that was read, forcing the algorithm (and protocol) on the collective
    ends in an error; None: it does not, in the newest. Raises UsageError for unknown names."""
    major, newest = _number(_table().newest_read)
    first: str | None = None
    for minor in range(newest, 4, -1):
        if library_support(collective, algorithm, protocol, f"{major}.{minor}").outcome != "error":
            break
        first = f"{major}.{minor}"
    return first


def first_release_with_any_error(asked: Iterable[tuple[str, str, str | None]]) -> str | None:
    """The release from which on a job that sends all of these, each (collective, algorithm, protocol), ends in an
    error; None: it does not, in the newest. Raises UsageError for unknown names."""
    found = [first_release_with_error(*each) for each in asked]
    return min((one for one in found if one is not None), key=_number, default=None)


def conditions() -> dict[str, str]:
    """What algorithms and protocols need beside their kernel (2.30), by name; those that need nothing are left out."""
    return {each.name: each.needs for each in _table().condition}


def _look_up(asked: tuple[str, str, str | None, str | None], table: _Table, known: tuple[int, int] | None) -> Support:
    collective, name, proto, _ = asked
    at = known or _number(table.newest_read)
    kernels = [each for each in table.kernel if each.algorithm == name and collective in each.collectives]
    there = [each for each in kernels if _number(each.from_) <= at and at not in map(_number, each.not_in)]
    if there and (proto is None or proto in there[0].protocols):
        return _answer(asked, "runs", name, f"{collective} has a {name} kernel", there[0].sources)
    lacking = "protocol" if there else "algorithm"
    rows = [
        row
        for row in table.forced
        if row.what == lacking and (row.collectives is None or collective in row.collectives)
    ]
    if known is None:
        words = f"{collective} has no such kernel; what happens depends on the release: " + "; ".join(
            f"{row.from_} to {row.to or table.newest_read}: {row.outcome.replace('_', ' ')}" for row in rows
        )
        return _answer(asked, "unknown", None, words, sorted({source for row in rows for source in row.sources}))
    for row in rows:
        if _number(row.from_) <= at and (row.to is None or at <= _number(row.to)):
            since = min((each.from_ for each in kernels), key=_number, default=None)
            missing = (
                f"{collective} has no {name} kernel" if lacking == "algorithm" else f"{name} has no {proto} kernel"
            )
            if lacking == "algorithm" and since is not None:
                missing += f" in {at[0]}.{at[1]}"
            return _answer(asked, row.outcome, row.executed, f"{missing}: {row.explanation}", row.sources)
    return _answer(asked, "unknown", None, f"{at[0]}.{at[1]} has not been read", [])


def _answer(
    asked: tuple[str, str, str | None, str | None],
    outcome: Outcome,
    executed: str | None,
    explanation: str,
    sources: list[str],
) -> Support:
    collective, name, proto, version = asked
    known = _table().source
    return Support(
        collective=collective,
        algorithm=name,
        protocol=proto,
        nccl_version=version,
        outcome=outcome,
        executed=executed,
        explanation=explanation,
        sources=tuple(f"{known[each].title} ({known[each].address})" for each in sources),
    )


def _number(release: str) -> tuple[int, int]:
    major, minor = release.split(".")
    return int(major), int(minor)


@lru_cache(maxsize=1)
def _table() -> _Table:
    text = (Path(__file__).parent / "support.toml").read_text(encoding="utf-8")
    raw = tomllib.loads(text)
    raw["source"] = {name: {"id": name, **values} for name, values in raw["source"].items()}
    return _Table.model_validate(raw)
