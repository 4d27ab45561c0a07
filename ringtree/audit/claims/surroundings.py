"""What is known about a table besides its cells: a description beside it, the number of ranks, hosts and GPUs.

For: what a sentence leaves out because its table says it. Not for: limits that follow (physics.py).

A folder's README.md may describe its files in a Markdown table whose first cell names them; the row's text is the
description. Names of files count too, where they follow the habit "h100x16-…": 16 GPUs of that kind.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_FILE_NAME = re.compile(
    r"(?:^|[-_.])(?P<gpu>[abhv]\d{2,3}|gh200|gb\d{3}|mi\d{3}x?)(?:x(?P<count>\d{1,5}))?(?=[-_.]|$)", re.I
)
_GPU = re.compile(
    r"\b(?:(?P<count>\d{1,5})\s*[x×]?\s+)?(?P<gpu>(?:NVIDIA |AMD )?"
    r"(?:[AHVBLP]\d{2,3}S?|GH200|GB\d{3}|MI\d{3}X?)(?:[- ](?:SXM\d?|PCIe|NVL|\d{2,3} ?GB|HBM\d\w?|DGX))*)s?\b"
)
_HOSTS = re.compile(r"\b(\d{1,4})\s*(?:[x×]\s|\bnodes?\b|\bhosts?\b|\bservers?\b)", re.IGNORECASE)
_MAX_DESCRIPTION = 1 << 16


@dataclass(frozen=True)
class Surroundings:
    """`description`: what is said about the table, may be empty. `gpu`: its name as stated. None: not known."""

    description: str = ""
    gpu: str | None = None
    num_ranks: int | None = None
    ranks_per_host: int | None = None
    num_hosts: int | None = None


def surroundings(folder: Path, table: str) -> Surroundings:
    """What is known about the file `table` in `folder`."""
    return describe(table, _description(folder, table))


def describe(table: str, description: str) -> Surroundings:
    """The same from a description."""
    by_name = _FILE_NAME.search(Path(table).stem)
    by_text = _GPU.search(description)
    gpu = by_text["gpu"] if by_text else by_name["gpu"] if by_name else None
    ranks = int(by_name["count"]) if by_name and by_name["count"] else None
    on_a_host = int(by_text["count"]) if by_text and by_text["count"] else None
    hosts = _num_hosts(description, on_a_host)
    if ranks is None and on_a_host is not None and hosts is not None:
        ranks = on_a_host * hosts
    if on_a_host is None and ranks is not None and hosts:
        on_a_host = ranks // hosts
    if hosts is None and ranks is not None and on_a_host:
        hosts = max(1, ranks // on_a_host)
    return Surroundings(description, gpu, ranks, on_a_host, hosts)


def _num_hosts(description: str, on_a_host: int | None) -> int | None:
    """Only where it is one number: "2 × …" before the GPUs are named, not "2 and 8 nodes" or "1..8 ×"."""
    found = {int(match[1]) for match in _HOSTS.finditer(description) if int(match[1]) != on_a_host}
    if re.search(r"\d\s*(?:\.\.|-|–|and|to)\s*\d+\s*(?:[x×]|nodes|hosts)", description):
        return None
    first = _HOSTS.match(description.strip())
    if first is not None and int(first[1]) != on_a_host:
        return int(first[1])
    return found.pop() if len(found) == 1 else None


def _description(folder: Path, table: str) -> str:
    """The row of README.md that names the file, without the name."""
    try:
        with open(folder / "README.md", encoding="utf-8", errors="replace") as file:
            text = file.read(_MAX_DESCRIPTION)
    except OSError:
        return ""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.lstrip().startswith("|") and len(cells) > 1 and table in re.findall(r"[\w.\-]+", cells[0]):
            return " | ".join(reversed(cells[1:]))
    return ""
