"""What the same log says that costs speed: NCCL's lines and variables against the table of symptoms.

For: next steps beside a verdict. Not for: the verdict: a symptom without a loss is harmless.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import Field

from ringtree.health.records import BandHealth, Symptom, Verdict
from ringtree.logs import Document, Table
from ringtree.results import Record

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILE = Path(__file__).parent / "symptoms.toml"
_LIKE_NICS = 0.04


class Host(NamedTuple):
    """What the machine should have. `nics`: of one host; None: not known. `ranks`: on one host."""

    several: bool = False
    ranks: int = 0
    nvlink: bool = False
    nvls: bool = False
    nics: int | None = None


class Condition(Record):
    """An entry of symptoms.toml; see there."""

    code: str
    says: str
    look_at: str
    transport: str | None = None
    no_gdr: bool = False
    variable: dict[str, str] = Field(default_factory=dict)
    statement: str | None = None
    channels_below_nics: bool = False
    nics_below_system: bool = False
    several_hosts: bool = False
    nvlink: bool = False
    nvls: bool = False


@lru_cache(maxsize=1)
def _file() -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return found


@lru_cache(maxsize=1)
def load_symptoms() -> tuple[Condition, ...]:
    """Returns the table."""
    return tuple(Condition(**one) for one in _file()["symptom"])


def next_steps(documents: Iterable[Document], bands: Iterable[BandHealth], host: Host) -> list[str]:
    """Returns what to look at for the bands that are below; nothing where none is."""
    advice = _file()["advice"]
    below = {one.band: one.share for one in bands if one.verdict in (Verdict.BELOW, Verdict.FAR_BELOW)}
    steps = [advice[band] for band in below]
    if below and not any(one.kind == "nccl_communicator" for one in documents):
        steps.append(advice["no_lines"])
    for used in range(1, host.nics or 1):
        if host.several and abs(below.get("large", 0.0) * (host.nics or 1) / used - 1) < _LIKE_NICS:
            steps.append(f"large sizes have about what {used} of {host.nics} NICs of a host carry")
            break
    return steps


def variable_symptoms(variables: Mapping[str, str], host: Host) -> list[Symptom]:
    """Returns what variables alone tell."""
    return _found([], variables, host)


def symptoms_of(documents: Sequence[Document], tables: Iterable[Table], host: Host) -> list[Symptom]:
    """Returns the symptoms of a log, in the order of the table."""
    seen = [one.data for one in documents if one.kind == "nccl_communicator"]
    variables: dict[str, str] = {}
    for environment in (*(table.environment for table in tables), *(data["environment"] for data in seen)):
        variables.update(environment)
    return _found(seen, variables, host)


def _found(seen: Sequence[dict[str, Any]], variables: Mapping[str, str], host: Host) -> list[Symptom]:
    found = []
    for condition in load_symptoms():
        details = _details(condition, seen, variables, host)
        if details is not None:
            says = condition.says + (f" ({details})" if details else "")
            found.append(Symptom(code=condition.code, says=says, look_at=condition.look_at))
    return found


def _details(
    condition: Condition, seen: Sequence[dict[str, Any]], variables: Mapping[str, str], host: Host
) -> str | None:
    """Returns what shows it, None if it is not there."""
    wanted = (condition.several_hosts, host.several), (condition.nvlink, host.nvlink), (condition.nvls, host.nvls)
    if any(needed and not there for needed, there in wanted):
        return None
    shown: list[list[str]] = []
    if condition.transport is not None:
        lines = [one for data in seen for one in data["transports"] if re.match(condition.transport, one["name"])]
        names = ", ".join(dict.fromkeys(one["name"] for one in lines))
        gdr = condition.no_gdr and any(one["gdr"] for one in lines)
        shown.append([f"{sum(one['num'] for one in lines)} connections via {names}"] if lines and not gdr else [])
    if condition.statement is not None:
        shown.append([line for data in seen for line in data["statements"] if re.search(condition.statement, line)][:1])
    channels, nics = [one["channels"].get("coll", 0) for one in seen], [_nics(one["nics"]) for one in seen]
    if condition.channels_below_nics:
        shown.append(_fewer(channels, "channels", min(host.ranks, host.nics or 0), host))
    if condition.nics_below_system:
        shown.append(_fewer(nics, "NICs in use", host.nics or 0, host))
    for name, value in condition.variable.items():
        shown.append([f"{one}={text}" for one, text in variables.items() if _is(name, one) and _is(value, text)])
    return ", ".join(text for texts in shown for text in texts) if all(shown) else None


def _fewer(counts: Sequence[int], what: str, least: int, host: Host) -> list[str]:
    return [f"{max(counts)} {what}, {host.nics} NICs a host"] if 0 < max(counts, default=0) < least else []


def _nics(names: Iterable[str]) -> int:
    """Counts ports that carry collectives: a host may have others for storage, which only add."""
    return sum(1 for name in names if "<" not in name)  # with an address: an interface of sockets


def _is(pattern: str, text: str) -> bool:
    return re.fullmatch(pattern, text.strip()) is not None
