"""NCCL's environment variables: what each does, which releases read it, with which default, and what makes it useless.

    known()["NCCL_NVLS_ENABLE"].default("2.17.1")
    without_effect(os.environ, "2.30.7")

For: `ringtree nccl vars`. The table is variables.toml, from NCCL's tagged sources. Not for: what a value of NCCL_ALGO
or NCCL_PROTO leaves to a collective (grammar.py).
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, field_validator

from ringtree.errors import UsageError
from ringtree.nccl.releases import Version, version
from ringtree.results import Record

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

NOT_SET = "not set"
UNDOCUMENTED = "not in the manual"  # the group of which only the sources are known
PREFIX = "NCCL_"
# Read by programs beside the library: nccl-tests, and NCCL's own example of a tuner and its Inspector. NVIDIA's images
# set NCCL_VERSION: it says which package is in them.
OF_OTHERS = ("NCCL_VERSION", "NCCL_TESTS_*", "NCCL_TUNER_CONFIG_FILE", "NCCL_INSPECTOR_*", "NCCL_PROFILE_*")

State = Literal["read", "not yet", "gone"]


class NcclVariable(Record):
    """A variable of the environment."""

    name: str
    group: str
    since: str | None = Field(None, description="first release that reads it; None: one before those that were read")
    gone: str | None = Field(None, description="first release that does not read it any more")
    defaults: tuple[tuple[str, str], ...] = Field((), description="(release, value from it on)")
    manual: bool = Field(False, description="NVIDIA's manual describes it")
    does: str | None = None
    values: str | None = None
    with_: str | None = Field(None, alias="with", description="what it depends on, or changes beside what it is for")

    def state(self, at: Version) -> State:
        """Whether a release reads it."""
        if self.gone is not None and at >= _number(self.gone):
            return "gone"
        return "read" if self.since is None or at >= _number(self.since) or self.since == first_read() else "not yet"

    def default(self, at: Version) -> str | None:
        """The value that a release takes where the variable is not set; None: NCCL decides, or the source has no plain
        value."""
        values = [value for since, value in self.defaults if _number(since) <= at]
        return values[-1] if values and values[-1] != NOT_SET else None


class _Rule(Record):
    where: str
    names: tuple[str, ...]
    because: str


class _Table(Record):
    first_read: str
    newest_read: str
    variable: tuple[NcclVariable, ...]
    without_effect: tuple[_Rule, ...]

    @field_validator("variable", mode="before")
    @classmethod
    def _without_groups(cls, groups: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
        return [
            {"name": name, "group": group, "manual": group != UNDOCUMENTED, **facts}
            for group, variables in groups.items()
            for name, facts in variables.items()
        ]


def known() -> Mapping[str, NcclVariable]:
    """Every variable by its name, in the order of the table."""
    return {each.name: each for each in _table().variable}


def first_read() -> str:
    """The oldest release that was read: "since" it means it or an older one."""
    return _table().first_read


def newest_read() -> str:
    """The newest release that was read."""
    return _table().newest_read


def find(name: str) -> NcclVariable:
    """The variable called `name`, in any case, with or without NCCL_. Raises UsageError with similar ones."""
    full = name.upper() if name.upper().startswith(PREFIX) else PREFIX + name.upper()
    if full in known():
        return known()[full]
    near = get_close_matches(full, known(), n=3, cutoff=0.75) or [one for one in known() if full in one][:3]
    hint = f"; did you mean {', '.join(near)}?" if near else "; `ringtree nccl vars` lists all variables"
    raise UsageError(f"NCCL {first_read()} to {newest_read()} reads no {full}{hint}")


def release_to_show(text: str | None) -> Version:
    """The release that `text` names ("2.21.5"; "2.21": its last one; None: the newest that was read). Raises UsageError
    for what is not a version, and for one that was not read."""
    at = version(text or newest_read())
    if at is None:
        raise UsageError(f"invalid version of NCCL {text!r}; write it as 2.21.5")
    if text is not None and text.count(".") == 1:
        at = (*at[:2], 9999)
    if at[:2] < _number(first_read())[:2]:
        raise UsageError(f"variables are known from NCCL {first_read()} on")
    return at


def without_effect(environment: Mapping[str, str], at: Version) -> dict[str, str]:
    """Variables that are set and do nothing in a release, with the reason. Of releases newer than those that were read,
    names that are not known are passed over."""
    found = {}
    for name in sorted(environment):
        if not name.startswith(PREFIX) or any(fnmatchcase(name, pattern) for pattern in OF_OTHERS):
            continue
        reason = _unread(name, at) or _overruled(name, environment)
        if reason is not None:
            found[name] = reason
    return found


def _unread(name: str, at: Version) -> str | None:
    if name not in known():
        if at[:2] > _number(newest_read())[:2]:  # may be new
            return None
        near = get_close_matches(name, known(), n=1, cutoff=0.85)
        return "NCCL itself does not read it" + (f"; did you mean {near[0]}?" if near else ", only a plugin could")
    variable = known()[name]
    state = variable.state(at)
    if state == "gone":
        return f"not read since {variable.gone}" + (f": {variable.with_}" if variable.with_ else "")
    return f"read from {variable.since} on" if state == "not yet" else None


def _overruled(name: str, environment: Mapping[str, str]) -> str | None:
    for rule in _table().without_effect:
        cause = rule.where.partition("!=")[0].partition("=")[0]
        if name != cause and _holds(rule.where, environment) and any(fnmatchcase(name, one) for one in rule.names):
            said = f"{cause}={environment[cause]}" if cause in environment else f"{cause} is not set"
            return f"{said}: {rule.because}"
    return None


def _holds(condition: str, environment: Mapping[str, str]) -> bool:
    name, unequal, value = condition.partition("!=")
    if unequal:
        return environment.get(name, "").upper() != value.upper()
    name, equal, value = condition.partition("=")
    return name in environment and (not equal or environment[name].upper() == value.upper())


def _number(text: str) -> Version:
    found = version(text)
    assert found is not None, text
    return found


@lru_cache(maxsize=1)
def _table() -> _Table:
    return _Table.model_validate(tomllib.loads((Path(__file__).parent / "variables.toml").read_text(encoding="utf-8")))
