"""The raw launches of a page: docs/benchmarks/<page>/raw/<part>/run.json and launches.jsonl.xz.

For: storing a run of the lab as a part, and reading it again. Not for: measuring (runner.py), or the page (page.py).
Unpacked (`unxz launches.jsonl.xz`) the directory is a run that `ringtree show` reads.
"""

from __future__ import annotations

import lzma
import re
import time
from pathlib import Path

from pydantic import ValidationError

from ringtree.comm.cpuinfo import cpu_model
from ringtree.errors import UsageError
from ringtree.measure.probe import usable_cores
from ringtree.results import Launch, Provenance, StoredRun
from ringtree.results.files import LAUNCHES_FILE, RUN_FILE, write_whole
from ringtree.results.reading import read_header

RAW, PACKED = "raw", f"{LAUNCHES_FILE}.xz"


def machine_name(num_cores: int | None = None) -> str:
    """Returns a name without a host's: "amd-epyc-2-cores"."""
    model = re.sub(r"\(\w+\)|\bCPU\b|\bProcessor\b|@.*", " ", cpu_model() or "unknown")
    return f"{'-'.join(re.findall(r'[a-z0-9]+', model.lower()))}-{num_cores or len(usable_cores())}-cores"


def dated(kind: str) -> str:
    """Returns the name of a page that is measured today; `kind`: what stands before the machine."""
    return f"{kind}{machine_name()}-{time.strftime('%Y-%m-%d', time.gmtime())}"


def published(origin: Provenance, root: Path) -> Provenance:
    """Returns where launches come from without the host's name and the paths of this machine."""
    words = [word.replace(f"{root}/", "").replace(str(Path.home()), "~") for word in origin.command[1:]]
    command = ["bench", *words]
    return origin.model_copy(update={"host_name": machine_name(len(origin.affinity)), "command": command})


def keep(found: StoredRun, directory: Path, name: str, root: Path) -> None:
    """Stores a run of the lab as the part `name`. The packed bytes depend on nothing but the launches."""
    part = directory / RAW / name
    part.mkdir(parents=True, exist_ok=True)
    run = found.run.model_copy(update={"run_id": name, "provenance": published(found.run.provenance, root)})
    lines = "".join(f"{rounded(launch).model_dump_json()}\n" for launch in found.launches)
    write_whole(part / PACKED, lzma.compress(lines.encode(), preset=9))
    write_whole(part / RUN_FILE, run.model_dump_json(indent=1).encode() + b"\n")


def rounded(launch: Launch) -> Launch:
    """Returns the launch with times in whole nanoseconds: more digits are noise, and would be half of the file."""
    cells = [
        cell.model_copy(update={"times": [[round(time, 9) for time in of_rank] for of_rank in cell.times]})
        for cell in launch.cells
    ]
    return launch.model_copy(update={"cells": cells})


def read_parts(directory: Path) -> dict[str, StoredRun]:
    """Returns the parts of a page that have launches. Raises UsageError if there are none, or for damage."""
    found = {}
    for path in sorted(file.parent for file in (directory / RAW).glob(f"*/{PACKED}")):
        try:
            lines = lzma.decompress((path / PACKED).read_bytes()).splitlines()
            launches = [Launch.model_validate_json(line) for line in lines]
        except (OSError, lzma.LZMAError, ValidationError) as error:
            raise UsageError(f"{path / PACKED} is damaged: {str(error).splitlines()[0]}") from error
        if launches:
            found[path.name] = StoredRun(path, read_header(path), launches, [])
    if not found:
        raise UsageError(f"{directory} holds no run of the bench: there is no {RAW}/*/{PACKED}")
    return found
