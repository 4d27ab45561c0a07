"""Lists of hosts as schedulers write them: Slurm's brackets, PBS's node file, LSF's names with counts.

For: names in order, each once. Not for: which variable holds a list (allocation.py), or whether a name resolves.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from pathlib import Path

from ringtree.errors import UsageError, os_errors

MOST_HOSTS = 1 << 16  # a list that expands to more is a mistake
_PART = re.compile(r"\[([^\[\]]*)\]|([^\[\],\s]+)")
_RANGE = re.compile(r"(\d{1,18})(?:-(\d{1,18}))?")  # of digits as an integer has
_REPEATED = re.compile(r"(\d{1,18})(?:\(x(\d{1,18})\))?")


def expand(text: str) -> tuple[str, ...]:
    """Returns the names of a Slurm host list: "node[01-03,07],gpu[1-2]-ib" are six. Numbers keep their leading zeros;
    a name may have several brackets, of which the last counts fastest. Raises UsageError."""
    names: list[str] = []
    for item in _split(text):
        names += _expand_one(item, text)
        if len(names) > MOST_HOSTS:
            raise UsageError(f"host list {text!r} names more than {MOST_HOSTS} hosts")
    return tuple(dict.fromkeys(names))


def tasks_per_node(text: str) -> list[int]:
    """Returns the tasks of each node, as Slurm writes them: "2(x3),1" is [2, 2, 2, 1]. Raises UsageError."""
    counts: list[int] = []
    for item in text.split(","):
        match = _REPEATED.fullmatch(item)
        if match is None or int(match[2] or 1) > MOST_HOSTS:
            raise UsageError(f"invalid tasks per node {text!r}: expected a list like 2(x3),1")
        counts += [int(match[1])] * int(match[2] or 1)
    return counts


def from_file(path: str) -> tuple[str, ...]:
    """Returns the names in a node file, a line a slot as PBS writes it. Raises UsageError if it can't be read."""
    with os_errors(f"can't read the node file {path}"):
        lines = Path(path).read_text(errors="replace").splitlines()
    return in_order(line.split()[0] for line in lines if line.strip())


def with_counts(text: str) -> tuple[str, ...]:
    """Returns the names of "host1 4 host2 4", as LSF writes them. Raises UsageError."""
    words = text.split()
    if len(words) % 2 or not all(count.isdigit() for count in words[1::2]):
        raise UsageError(f"invalid host list {text!r}: expected names, each followed by its number of slots")
    return in_order(words[::2])


def in_order(names: Iterable[str]) -> tuple[str, ...]:
    """Returns each name once, in the order of its first appearance."""
    return tuple(dict.fromkeys(names))


def _split(text: str) -> list[str]:
    """Splits at the commas outside of brackets."""
    items, depth = [""], 0
    for char in text.strip():
        depth += {"[": 1, "]": -1}.get(char, 0)
        if depth not in (0, 1):
            raise UsageError(f"invalid host list {text!r}: brackets do not match")
        if char == "," and depth == 0:
            items.append("")
        else:
            items[-1] += char
    if depth or not all(items):
        raise UsageError(f"invalid host list {text!r}: {'brackets do not match' if depth else 'a name is empty'}")
    return items


def _expand_one(item: str, text: str) -> list[str]:
    parts: list[list[str]] = []
    end = 0
    for match in _PART.finditer(item):
        if match.start() != end:
            break
        end = match.end()
        parts.append([match[2]] if match[2] else _numbers(match[1], text))
    if end != len(item):
        raise UsageError(f"invalid host list {text!r}: {item!r} is not a name")
    total = 1
    for part in parts:
        total *= len(part)
    if total > MOST_HOSTS:
        raise UsageError(f"host list {text!r} names more than {MOST_HOSTS} hosts")
    return ["".join(words) for words in itertools.product(*parts)]


def _numbers(ranges: str, text: str) -> list[str]:
    found: list[str] = []
    for one in ranges.split(","):
        match = _RANGE.fullmatch(one)
        if match is None:
            raise UsageError(f"invalid host list {text!r}: [{ranges}] must hold numbers and ranges, as in [01-03,07]")
        first, last = match[1], match[2] or match[1]
        if int(last) < int(first) or int(last) - int(first) >= MOST_HOSTS:
            raise UsageError(f"invalid host list {text!r}: {one} is not a range of at most {MOST_HOSTS} hosts")
        found += [str(number).zfill(len(first)) for number in range(int(first), int(last) + 1)]
    return found
