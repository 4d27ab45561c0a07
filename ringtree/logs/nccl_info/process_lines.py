"""What NCCL says of a process: variables it read, network and plugins, its version.

For: lines that hold for all communicators of a process. Not for: one communicator's lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ringtree.logs.nccl_info.communicators import Communicators, Thread

_VERSION = re.compile(r"\b([NR])CCL version ?[: ] ?v?(\d{1,4}\.\d{1,4}(?:\.\d{1,4})?)(?:-\d+)?(\+\S*)?")
_SET = re.compile(r"([NR]CCL_\w+) set (?:by environment )?to (.*)")
_LOADED = re.compile(r"NET/Plugin: Loaded net plugin (.+?) \((v\d+)\)")
_MAX_VALUE = 300
_MAX_VERSIONS = 100


class Versions:
    """The versions that the file names: (library, version), in the order of their lines."""

    def __init__(self) -> None:
        self.seen: dict[str, str] = {}
        self.last: str | None = None

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
        self.last = version
        return version


class ProcessLines:
    """Readers of these lines, by the first word of the message."""

    def __init__(self, communicators: Communicators, versions: Versions) -> None:
        self._communicators = communicators
        self._versions = versions
        self.handlers: dict[str, Callable[[Thread, str, int], bool]] = {
            "NCCL": self._version,
            "RCCL": self._version,
            "Using": self._using,
            "NET/Plugin:": self._net_plugin,
            "NET/Plugin": self._net_plugin,
            "NET/IB": self._nics,
            "NET/Socket": self._nics,
            "TUNER/Plugin:": self._tuner_plugin,
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

    def _using(self, thread: Thread, message: str, number: int) -> bool:
        said = thread.process.said
        if message.startswith("Using network "):
            said["network"] = message[len("Using network ") :].strip()[:100]
        elif message.startswith("Using tuner plugin"):
            said["tuner"] = message.partition("plugin")[2].strip(" :'")[:100]
        else:
            return False
        return True

    def _net_plugin(self, thread: Thread, message: str, number: int) -> bool:
        said = thread.process.said
        found = _LOADED.match(message)
        if found is not None:
            said["plugin"] = f"{found.group(1)} ({found.group(2)})"[:100]
        elif "internal" in message:
            said.setdefault("plugin", "internal")
        return True

    def _tuner_plugin(self, thread: Thread, message: str, number: int) -> bool:
        said = thread.process.said
        if "Using tuner plugin " in message:
            said["tuner"] = message.partition("Using tuner plugin ")[2].strip(" '")[:100]
        elif "nternal tuner plugin" in message or "Could not find" in message:
            said.setdefault("tuner", "internal")
        return True

    def _nics(self, thread: Thread, message: str, number: int) -> bool:
        words = message.partition(": Using ")[2]
        if words:
            thread.process.said["nics"] = words.partition(";")[0].replace("[RO]", "").strip()[:2000]
        return True
