"""The directory of a run of the bench.

    docs/benchmarks/<machine>-<date>/
      bench.json                      what was chosen, which arms there were and how they were started
      raw/<part>/run.json             a run in the format of ringtree.results: plan and provenance …
      raw/<part>/launches.jsonl.xz    … and its launches, one a line; not packed while it is being measured
      index.md, *.svg                 views of the raw data, made by `bench page`
      notes.md                        written by people, taken over into the page

For: writing and reading these files. Not for: what is measured (parts.py), or the page (page.py).

A run directory whose launches are unpacked (`unxz launches.jsonl.xz`) is one that `ringtree show` reads.
"""

from __future__ import annotations

import lzma
import re
import tempfile
import time
from pathlib import Path

from pydantic import Field, ValidationError

from ringtree.comm.cpuinfo import cpu_model
from ringtree.errors import UsageError
from ringtree.measure.environment import capture
from ringtree.results import Launch, Provenance, Record, RunWriter, StoredRun, read_run
from ringtree.results.files import LAUNCHES_FILE, RUN_FILE, write_whole

FORMAT = "ringtree.bench/1"
HEADER, RAW, NOTES, PAGE = "bench.json", "raw", "notes.md", "index.md"
PACKED = f"{LAUNCHES_FILE}.xz"


class ArmNote(Record):
    """One arm: why it is not there, or how it was started with two ranks; paths below the clone are relative."""

    name: str
    missing: str | None = None
    command: list[str] = Field(default_factory=list)
    environment: dict[str, str] = Field(default_factory=dict)


class Header(Record):
    """What was chosen, fixed before the first launch."""

    format: str = FORMAT
    machine: str
    created_utc: str
    budget: float = Field(description="seconds aimed at for all of it")
    num_launches: int
    seed: int
    cores: list[int] = Field(description="that ranks were pinned to in turn")
    parts: list[str]
    arms: list[ArmNote]
    left_out: dict[str, str]


def machine_name(num_cores: int) -> str:
    """Returns a name without a host's: "amd-epyc-2-cores"."""
    model = re.sub(r"\(\w+\)|\bCPU\b|\bProcessor\b|@.*", " ", cpu_model() or "unknown")
    return f"{'-'.join(re.findall(r'[a-z0-9]+', model.lower()))}-{num_cores}-cores"


def default_directory(benchmarks: Path, num_cores: int) -> Path:
    """Returns where a run that starts today belongs."""
    return benchmarks / f"{machine_name(num_cores)}-{time.strftime('%Y-%m-%d', time.gmtime())}"


def provenance(machine: str, root: Path) -> Provenance:
    """Returns where launches that start now come from, without the host's name or paths: the raw data are published."""
    found = capture(emulated=False, rank_defaults={})
    command = ["bench", *(relative(word, root) for word in found.command[1:])]
    return found.model_copy(update={"host_name": machine, "command": command})


def relative(text: str, root: Path) -> str:
    """Returns `text` with the paths of the clone and of the home directory shortened."""
    return text.replace(f"{root}/", "").replace(str(root), ".").replace(str(Path.home()), "~")


def write_header(directory: Path, header: Header) -> None:
    """Writes bench.json; one that is there stays, if it is of the same choices. Raises UsageError if it is of others,
    or can't be written."""
    if (directory / HEADER).exists():
        known = read_bench(directory)
        mine, its = ((one.parts, one.budget, one.seed, one.cores) for one in (header, known))
        if mine != its:
            raise UsageError(f"{directory} holds a run with other choices: repeat those, or choose another --out")
        return
    try:
        (directory / RAW).mkdir(parents=True, exist_ok=True)
        write_whole(directory / HEADER, header.model_dump_json(indent=1).encode() + b"\n")
    except OSError as error:
        raise UsageError(f"can't write into {directory}: {error.strerror}") from error


def take_over(found: StoredRun, directory: Path, name: str, root: Path, **changes: object) -> None:
    """Stores a run of the lab as a part: under its name, packed, and without what tells of this machine."""
    origin = provenance(machine_name(len(found.run.provenance.affinity)), root)
    run = found.run.model_copy(update={"run_id": name, "provenance": origin, **changes})
    with RunWriter(part_path(directory, name).parent, run) as writer:
        for launch in found.launches:
            writer.append(rounded(launch))
    pack(directory, name)


def read_bench(directory: Path) -> Header:
    """Reads bench.json. Raises UsageError for what is none, is damaged or has another format."""
    file = directory / HEADER
    try:
        header = Header.model_validate_json(file.read_bytes())
    except OSError as error:
        raise UsageError(f"{directory} holds no run of the bench: can't read {HEADER}: {error.strerror}") from error
    except ValidationError as error:
        raise UsageError(f"{file} is damaged: {error.errors()[0]['msg']}") from error
    if header.format != FORMAT:
        raise UsageError(f"{file} has the format {header.format}, this is {FORMAT}")
    return header


def part_path(directory: Path, part: str) -> Path:
    """Returns the run directory of a part."""
    return directory / RAW / part


def read_part(directory: Path, part: str) -> StoredRun | None:
    """Returns the launches of a part that are stored; None if it has not begun. Raises UsageError for damage."""
    path = part_path(directory, part)
    if not (path / PACKED).exists():
        return read_run(path) if (path / RUN_FILE).exists() else None
    with tempfile.TemporaryDirectory() as folder:
        unpacked = Path(folder)
        (unpacked / RUN_FILE).write_bytes((path / RUN_FILE).read_bytes())
        try:
            (unpacked / LAUNCHES_FILE).write_bytes(lzma.decompress((path / PACKED).read_bytes()))
        except (OSError, lzma.LZMAError) as error:
            raise UsageError(f"{path / PACKED} is damaged: {error}") from error
        return read_run(unpacked)


def rounded(launch: Launch) -> Launch:
    """Returns the launch with times in whole nanoseconds and probes in hundredths: more digits than that are noise, and
    would be half of the file."""
    cells = []
    for cell in launch.cells:
        visits = [
            visit.model_copy(update={"handoff": visit.handoff and tuple(round(probe, 11) for probe in visit.handoff)})
            for visit in cell.visits
        ]
        times = [[round(time, 9) for time in of_rank] for of_rank in cell.times]
        cells.append(cell.model_copy(update={"times": times, "visits": visits}))
    return launch.model_copy(update={"cells": cells})


def pack(directory: Path, part: str) -> None:
    """Compresses the launches of a part; what is packed already stays. The bytes depend on nothing but the launches."""
    plain = part_path(directory, part) / LAUNCHES_FILE
    if plain.exists():
        write_whole(plain.with_name(PACKED), lzma.compress(plain.read_bytes(), preset=9))
        plain.unlink()
