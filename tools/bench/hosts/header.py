"""The directory of a run between hosts: what was chosen, and what else stands beside the raw launches.

    docs/benchmarks/hosts-<machine>-<date>/
      hosts.json                  what was chosen: budget, parts, how arms were started, what was left out
      links.json                  messages to and fro, and plain sockets, on the links of some parts
      raw/<part>/                 as in bench.stored
      index.md, *.svg, notes.md   as in bench.stored

For: writing and reading these two files. Not for: the launches (bench.stored).
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TypeVar

from pydantic import Field, ValidationError

from bench.hosts.links import Links
from bench.stored import RAW, machine_name
from ringtree.errors import UsageError
from ringtree.results import Record
from ringtree.results.files import write_whole

FORMAT = "ringtree.bench-hosts/1"
HEADER, LINKS = "hosts.json", "links.json"
RecordT = TypeVar("RecordT", bound=Record)


class HostsHeader(Record):
    """What was chosen, fixed before the first launch, and in `left_out` what could not be measured after all."""

    format: str = FORMAT
    machine: str
    created_utc: str
    command: str
    budget: float = Field(description="seconds aimed at for all of it")
    num_launches: int
    seed: int
    cores: list[int] = Field(description="that ranks of native parts were pinned to in turn")
    parts: list[str]
    arms: dict[str, list[str]] = Field(description="part and arm -> the command that started it, shortened")
    left_out: dict[str, str]
    rules: list[str] = Field(default=[], description="the hosts for which the profile had measured rules: 2x1")


def default_directory(benchmarks: Path, num_cores: int) -> Path:
    """Returns where a run that starts today belongs."""
    return benchmarks / f"hosts-{machine_name(num_cores)}-{time.strftime('%Y-%m-%d', time.gmtime())}"


def begin(directory: Path, header: HostsHeader) -> None:
    """Writes the header of a new run. Raises UsageError if the directory holds a run already or can't be written."""
    if (directory / HEADER).exists():
        raise UsageError(f"{directory} holds a run: remove it, or choose another --out")
    try:
        (directory / RAW).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"can't write into {directory}: {error.strerror}") from error
    write(directory / HEADER, header)


def write(file: Path, record: Record) -> None:
    """Writes a record as JSON, whole or not at all."""
    write_whole(file, record.model_dump_json(indent=1).encode() + b"\n")


def read_header(directory: Path) -> HostsHeader:
    """Raises UsageError for what is not a run, is damaged or has another format."""
    header = _read(directory / HEADER, HostsHeader)
    if header.format != FORMAT:
        raise UsageError(f"{directory / HEADER} has the format {header.format}, this is {FORMAT}")
    return header


def read_links(directory: Path) -> Links:
    """Raises UsageError if the file is damaged; none is one of no links."""
    return _read(directory / LINKS, Links) if (directory / LINKS).exists() else Links()


def _read(file: Path, kind: type[RecordT]) -> RecordT:
    try:
        return kind.model_validate_json(file.read_bytes())
    except OSError as error:
        raise UsageError(f"can't read {file}: {error.strerror}") from error
    except ValidationError as error:
        raise UsageError(f"{file} is damaged: {error.errors()[0]['msg']}") from error
