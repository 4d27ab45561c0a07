"""A job that a cluster is to run: one agent a host, each with its share of the ranks.

For: the record that every kind of job file is made of, and what none of them may hold. Not for: any cluster's own words
(a module a kind beside this one), or writing and submitting files (ringtree.cli.launch).
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ringtree.errors import UsageError

SECRET_FILE = "RINGTREE_SECRET_FILE"
DEFAULT_PORT = 29500
DEFAULT_SECONDS = 1800
# What all kinds accept as the name of a job: a label of DNS, with room for a number behind it.
_NAME = re.compile(r"[a-z]([a-z0-9-]{0,38}[a-z0-9])?")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class JobFile:
    """A file of a job. `is_secret`: only its owner may read it."""

    name: str
    text: str
    is_secret: bool = False


@dataclass(frozen=True)
class Job:
    """`words`: those of ringtree ("compare", "--ranks", "8", …). `host_names`: where the cluster does not choose them.
    `seconds`: the most that it may take. `python`: the hosts' interpreter; None: as the kind has it. `environment`: of
    every process. `secret`: made for this job, unless `environment` names a file that hosts have already. `port`: where
    ranks meet on the first host, if no scheduler's job id chooses one. `image`: of containers; `claim`: of the volume
    that keeps runs. `wheel`: what to install first. Raises UsageError."""

    words: tuple[str, ...]
    num_hosts: int
    name: str = "ringtree"
    host_names: tuple[str, ...] = ()
    ranks_per_host: int = 1
    seconds: int = DEFAULT_SECONDS
    python: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    secret: str = field(default_factory=lambda: secrets.token_hex(32), repr=False)
    port: int = DEFAULT_PORT
    image: str | None = None
    claim: str | None = None
    wheel: Path | None = None

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise UsageError(f"invalid name {self.name!r}: use at most 40 of a-z, 0-9 and -, and a letter first")
        if self.num_hosts < 1:
            raise UsageError("a job needs at least one host")
        if self.seconds < 1:
            raise UsageError("a job needs at least a second")
        if self.host_names and len(self.host_names) != self.num_hosts:
            raise UsageError(f"{self.num_hosts} hosts, but {len(self.host_names)} names")
        for name in self.environment:
            if not _VARIABLE.fullmatch(name):
                raise UsageError(f"invalid variable {name!r}: write NAME=VALUE")
        if "RINGTREE_SECRET" in self.environment:
            raise UsageError(f"a job file must not hold your secret: set {SECRET_FILE} to a file on the hosts")
        said = (*self.words, *self.environment.values(), *self.host_names, self.python, self.image, self.claim)
        for word in said:
            if word is not None and not word.isprintable():
                raise UsageError(f"{word!r} can't stand in a job file: it has a newline or another control character")

    @property
    def makes_secret(self) -> bool:
        """Whether the job brings its own secret, as no file of the hosts' was named."""
        return SECRET_FILE not in self.environment

    @property
    def num_ranks(self) -> int:
        """Ranks on all hosts."""
        return self.num_hosts * self.ranks_per_host

    def keep_runs_in_place(self) -> None:
        """Raises UsageError if runs go to a folder of their own, where the kind looks for them in runs/."""
        if any(word == "--runs" or word.startswith("--runs=") for word in self.words):
            raise UsageError("--runs: such a job keeps its runs in runs/ of its own folder: leave --runs out")
