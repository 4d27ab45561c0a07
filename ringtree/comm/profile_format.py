"""The record of a measured profile: rules, the times that they were found by, and the machine that it holds for.

For: the shape of profile.json, reading it strictly, its rules as the engine's text (core/engine/profile.h describes
that). Not for: where a profile lies and whether it is used (profile.py), or measuring one (ringtree.tune).

Sizes are bytes of the whole vector (all blocks where there is one a rank; of an all_to_all those that one rank sends),
times are seconds of one call.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from bisect import bisect_left
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ringtree.comm.cpuinfo import cpu_model
from ringtree.errors import UsageError

FORMAT_NAME = "ringtree.profile"
FORMAT = f"{FORMAT_NAME}/2"
AUTO = "auto"
REST = "rest"


class Part(BaseModel):
    """Base of all parts of a profile: immutable, strict about unknown fields."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Configuration(Part):
    """How a collective is run. `AUTO` as its algorithm leaves all of it to the engine; no rule says so."""

    algorithm: str = Field(pattern=r"^[a-z0-9_]{1,64}$")
    protocol: str = Field(pattern=r"^[a-z0-9_]{1,64}$")
    slice_bytes: int = Field(default=0, ge=0, le=16 << 20, multiple_of=64, description="0: as the plan cuts")
    streaming: bool = Field(default=False, description="bulk copies go past the caches")
    channels: int = Field(default=1, ge=1, le=64)

    @property
    def label(self) -> str:
        """Names it in tables and records: "two_shot/simple", "two_shot/simple/32K/streaming/2ch"."""
        if self.algorithm == AUTO:
            return AUTO
        parts = [self.algorithm, self.protocol]
        if self.slice_bytes:
            whole, rest = divmod(self.slice_bytes, 1024)
            parts.append(f"{self.slice_bytes}B" if rest else f"{whole}K")
        parts += ["streaming"] if self.streaming else []
        parts += [f"{self.channels}ch"] if self.channels > 1 else []
        return "/".join(parts)


class ProfileRule(Part):
    """Sizes up to and including `until_bytes`, of those above the rule before, run `configuration`."""

    until_bytes: int | None = Field(ge=0, description="None: all sizes above the rule before")
    configuration: Configuration


class Candidate(Part):
    """What one configuration took at one size.

    `seconds[placement]`: one call in a typical round under that placement of the cores, "" where all were alike.
    """

    configuration: Configuration
    seconds: dict[str, float]
    ratio: float = Field(ge=1, description="to the fastest of its placement, the placement in which it is worst")


class MeasuredSize(Part):
    """The rounds of one size: the candidates of the last launches, the one with the smallest ratio first."""

    size_bytes: int = Field(ge=1)
    num_rounds: dict[str, int] = Field(description="of each placement")
    candidates: list[Candidate]
    num_dropped: int = Field(ge=0, description="candidates that had clearly lost before the last launches")


def describe_world(num_ranks: int, own_cores: bool, shared_buffers: bool, num_hosts: int = 1) -> str:
    """Returns what else than its size decides how a collective is run: "2 ranks, a core each, shared buffers"."""
    ranks = f"{num_ranks} ranks{f' on {num_hosts} hosts' if num_hosts > 1 else ''}"
    cores = "a core each" if own_cores else "fewer cores than ranks"
    return f"{ranks}, {cores}, {'shared' if shared_buffers else 'private'} buffers"


class ProfileTable(Part):
    """The rules of one collective on so many ranks with such buffers, and what they were found by.

    Below the sizes at which shared buffers can matter, `sizes` holds what was measured with private ones.
    """

    collective: str
    num_ranks: int = Field(ge=1)
    num_hosts: int = Field(default=1, ge=1, description="equal, consecutive ranks per host")
    own_cores: bool = Field(description="a core for every rank")
    shared_buffers: bool = Field(
        default=False, description="for communicators whose buffers peers read in place (ringtree.empty)"
    )
    rules: list[ProfileRule] = Field(min_length=1)
    sizes: list[MeasuredSize]
    measured_utc: str | None = Field(default=None, description="None: with the profile; else kept from an earlier one")

    @property
    def world(self) -> tuple[str, int, int, bool, bool]:
        """What no two tables of a profile share."""
        return (self.collective, self.num_ranks, self.num_hosts, self.own_cores, self.shared_buffers)

    @property
    def title(self) -> str:
        """Names it for people: "all_reduce, 2 ranks, a core each, private buffers"."""
        world = describe_world(self.num_ranks, self.own_cores, self.shared_buffers, self.num_hosts)
        return f"{self.collective}, {world}"

    @model_validator(mode="after")
    def _rules_cover_every_size_once(self) -> ProfileTable:
        until = [rule.until_bytes for rule in self.rules]
        known = [size for size in until[:-1] if size is not None]
        if until[-1] is not None or len(known) != len(until) - 1 or known != sorted(set(known)):
            raise ValueError(f"rules ascend and only the last is open-ended, not {until}")
        if any(rule.configuration.algorithm == AUTO for rule in self.rules):
            raise ValueError("a rule names an algorithm; auto is what asks it")
        if self.num_ranks % self.num_hosts:
            raise ValueError(f"{self.num_ranks} ranks are not as many on each of {self.num_hosts} hosts")
        return self

    def rule_for(self, size_bytes: int) -> ProfileRule:
        """Returns the rule of a size, as the engine finds it."""
        return self.rules[bisect_left([rule.until_bytes or 0 for rule in self.rules[:-1]], size_bytes)]


class ProfileMachine(Part):
    """What decides whether a profile may be used: the same processor and number of cores."""

    cpu_model: str
    num_cores: int = Field(ge=1)
    host: str = Field(description="hash of the host's name; for people who hold several profiles, not compared")
    kernel: str


class Profile(Part):
    """One machine's measured choices."""

    format: str = FORMAT
    created_utc: str
    machine: ProfileMachine
    versions: dict[str, str | None]
    git_commit: str | None
    command: list[str]
    dtype: str = Field(description="element type that was measured; the rules hold for all, by bytes")
    seed: int
    wall_seconds: float = Field(description="of all launches that found it")
    tables: list[ProfileTable]

    def table(
        self, collective: str, num_ranks: int, own_cores: bool, shared_buffers: bool, num_hosts: int = 1
    ) -> ProfileTable | None:
        """Returns the table that counts for a collective, as the engine finds it; None: the model decides.

        Where shared buffers were not measured it is that of private ones; its `shared_buffers` tells.
        """
        world = (collective, num_ranks, num_hosts, own_cores)
        by_buffers = {one.shared_buffers: one for one in self.tables if one.world[:-1] == world}
        return by_buffers.get(shared_buffers) or by_buffers.get(False)

    def rules_text(self) -> str:
        """Returns the rules as the engine reads them (core/engine/profile.h)."""
        lines = []
        for table in self.tables:
            many = table.num_hosts > 1
            ranks = f"{table.num_hosts}x{table.num_ranks // table.num_hosts}" if many else table.num_ranks
            cores = "own" if table.own_cores else "shared"
            buffers = "shared" if table.shared_buffers else "private"
            for rule in table.rules:
                chosen = rule.configuration
                until = REST if rule.until_bytes is None else rule.until_bytes
                how = "streaming" if chosen.streaming else "ordinary"
                lines.append(
                    f"{table.collective} {ranks} {cores} {buffers} {until} "
                    f"{chosen.algorithm} {chosen.protocol} {chosen.slice_bytes} {how} {chosen.channels}\n"
                )
        return "".join(lines)


def with_tables_kept(profile: Profile, before: Profile) -> Profile:
    """Returns `profile` with those tables of `before` for which it has none itself, if they hold for its machine."""
    if why_not_here(before.machine, profile.machine) is not None or before.dtype != profile.dtype:
        return profile
    own = {table.world for table in profile.tables}
    kept = [
        table.model_copy(update={"measured_utc": table.measured_utc or before.created_utc})
        for table in before.tables
        if table.world not in own
    ]
    return profile.model_copy(update={"tables": [*profile.tables, *kept]})


def read_profile(path: Path) -> Profile:
    """Reads a profile. Raises UsageError with one line that names the file."""
    try:
        content: Any = json.loads(path.read_bytes())
    except OSError as error:
        raise UsageError(f"can't read the profile {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not valid JSON: {error}") from error
    found = content.get("format") if isinstance(content, dict) else None
    if found != FORMAT:
        raise UsageError(f"{path} has format {found!r}; this ringtree reads {FORMAT}: run `ringtree tune` again")
    try:
        return Profile.model_validate(content)
    except ValidationError as error:
        problem = error.errors()[0]
        place = ".".join(str(part) for part in problem["loc"]) or "profile"
        raise UsageError(f"{path} is damaged: {place}: {problem['msg']}") from error


def why_not_here(measured: ProfileMachine, here: ProfileMachine) -> str | None:
    """Returns why a profile of `measured` must not be used on `here`; None if it may."""
    if measured.cpu_model != here.cpu_model:
        return f"it was measured on {measured.cpu_model!r}, this is {here.cpu_model!r}"
    if measured.num_cores != here.num_cores:
        return f"it was measured with {measured.num_cores} cores, here are {here.num_cores}"
    return None


def this_machine() -> ProfileMachine:
    """Returns the identity of this machine. Its cores are all that are online, not those of this process's affinity."""
    return ProfileMachine(
        cpu_model=cpu_model() or platform.machine() or "unknown",
        num_cores=os.cpu_count() or 1,
        host=hashlib.sha256(platform.node().encode()).hexdigest()[:12],
        kernel=platform.release(),
    )
