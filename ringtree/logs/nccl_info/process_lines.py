"""What NCCL says of a process: variables it read, network and plugins, its version.

For: lines that hold for all communicators of a process. Not for: one communicator's lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ringtree.logs.nccl_info.communicators import Thread

_VERSION = re.compile(r"\b([NR])CCL version ?[: ] ?v?(\d{1,4}\.\d{1,4}(?:\.\d{1,4})?)(?:-\d+)?(\+\S*)?")
_SET = re.compile(r"([NR]CCL_\w+) set (?:by environment )?to (.*)")
# What is said, the word that begins the message, the rest of it, and whether a later line does not replace it.
_SAID = (
    ("network", "Using", re.compile(r"Using network (.{0,100})"), False),
    ("tuner", "Using", re.compile(r"Using tuner plugin[ :']*(.{0,100})"), False),
    ("plugin", "NET/Plugin", re.compile(r"NET/Plugin: Loaded net plugin (.{1,95}? \(v\d+\))"), False),
    ("plugin", "NET/Plugin", re.compile(r".*(internal)"), True),
    ("tuner", "TUNER/Plugin", re.compile(r".*?Using tuner plugin [ ']*(.{0,100})"), False),
    ("tuner", "TUNER/Plugin", re.compile(r".*(?:nternal tuner plugin|Could not find)"), True),
    ("nics", "NET/IB", re.compile(r".*?: Using ([^;]{1,2000})"), False),
    ("nics", "NET/Socket", re.compile(r".*?: Using ([^;]{1,2000})"), False),
)
_MAX_VALUE = 300
_MAX_VERSIONS = 100


class Versions:
    """The versions that the file names: (library, version), in the order of their lines."""

    def __init__(self) -> None:
        self.seen: dict[str, str] = {}

    def line(self, text: str) -> bool:
        """Takes the line "NCCL version 2.18.3+cuda12.2", which has no prefix before 2.21."""
        found = _VERSION.match(text.lstrip())
        return found is not None and bool(self._keep(found))

    def message(self, text: str) -> str | None:
        """Returns the version in a message."""
        found = _VERSION.search(text)
        return None if found is None else self._keep(found)

    def _keep(self, found: re.Match[str]) -> str:
        version = found.group(2)
        if version in self.seen or len(self.seen) < _MAX_VERSIONS:
            self.seen.setdefault(version, "rccl" if found.group(1) == "R" else "nccl")
        return version


class ProcessLines:
    """Readers of these lines, by the first word of the message."""

    def __init__(self, versions: Versions) -> None:
        self._versions = versions
        self.handlers: dict[str, Callable[[Thread, str, int], bool]] = {
            "NCCL": self._version,
            "RCCL": self._version,
            **{word + end: self._said for _, word, _, _ in _SAID for end in ("", ":")},
        }

    def variable(self, thread: Thread, message: str) -> None:
        """Takes "NCCL_ALGO set by environment to Ring", also with a full stop, which releases put there or not."""
        found = _SET.match(message)
        if found is not None:
            value = found.group(2).strip()
            thread.process.set_variable(found.group(1)[:100], value.rstrip(".")[:_MAX_VALUE])

    def _version(self, thread: Thread, message: str, number: int) -> bool:
        version = self._versions.message(message)
        if version is not None:
            thread.process.version = version
        return version is not None

    def _said(self, thread: Thread, message: str, number: int) -> bool:
        """Takes what is one of _SAID. Of lines that begin with "Using" others say other things."""
        word = message.partition(" ")[0].rstrip(":")
        said = thread.process.said
        for what, first, pattern, only_first in _SAID:
            if first == word and (found := pattern.match(message)) is not None:
                value = found.group(1).replace("[RO]", "").strip(" '") if pattern.groups else "internal"
                said[what] = said.get(what, value) if only_first else value
                return True
        return word != "Using"
