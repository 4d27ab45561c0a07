"""What ml-engineering's benchmarks print around their Markdown tables.

For: all_reduce_bench.py and torch-dist-bench.py, whose sentences above a table say collective, ranks and trials, and
whose "Environment:" says versions. Not for: the tables (markdown.py), sentences of versions without tables
(logs/all_reduce_bench.py).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ringtree.logs.quantities import unit_of
from ringtree.logs.records import Table
from ringtree.logs.tables.caption import Caption
from ringtree.logs.words import collective_in

_SENTENCE = re.compile(
    r"The (?:(?P<size>\d+(?:\.\d+)?GiB) payload|average) bandwidth(?: and the per-call latency)?"
    r" of (?P<what>[\w ]{1,40}?)"
    r" over (?P<ranks>\d{1,7}) ranks(?: \((?P<trials>[^()]{1,200})\))?:?\s*$"
)
_SUMMARY = re.compile(r"Summary of \d+ collectives over (?P<ranks>\d{1,7}) ranks:?\s*$")
_TRIALS = re.compile(r"(\d+) warmups / (\d+) trials")
_VERSION = re.compile(r"\b(torch|cuda|nccl)=(\([\d, ]+\)|[\w.+-]+)")
_DEVICE = re.compile(r"\bname='([^']{1,100})'")
_OLD_PAYLOAD = re.compile(r"\s*\d+[KMGT]B\s*")
_HEADINGS = ["payload", "busbw", "algbw"]
_TOOL = "ml-engineering's all_reduce_bench.py"
_OTHER_TOOL = "ml-engineering's torch-dist-bench.py"


class BenchSentences:
    """Keeps the versions that were printed last."""

    def __init__(self) -> None:
        self._versions: dict[str, str] = {}
        self._device = ""

    def take(self, text: str) -> bool:
        """Takes a line of the environment; False if it is none."""
        if text.startswith("- software: "):
            self._versions = {name: _plain_version(value) for name, value in _VERSION.findall(text[:500])}
            return bool(self._versions)
        if text.startswith(("- hardware: ", "Device info: ")):
            found = _DEVICE.search(text[:500])
            self._device = found.group(1) if found is not None else text.partition(": ")[2].strip()[:100]
            return True
        return False

    def explain(self, caption: Caption, line: str, headings: Sequence[str], first: Sequence[str]) -> None:
        """Adds to the caption what the sentence in `line`, or the headings, say."""
        found = _SENTENCE.match(line.strip())
        if found is not None:
            why = "the sentence above the table"
            caption.tool = _OTHER_TOOL if "latency" in found.group(0) or len(headings) > len(_HEADINGS) else _TOOL
            caption.say("num_ranks", int(found.group("ranks")), why)
            caption.say("collective", collective_in(found.group("what")), why)
            caption.say("size", found.group("size"), why)
            trials = found.group("trials") or ""
            if trials:
                caption.settings["trials"] = trials
            if (numbers := _TRIALS.search(trials)) is not None:
                caption.settings["warmup"], caption.settings["iterations"] = numbers.groups()
            caption.time_unit = unit_of("us")
            caption.kind = None
        elif _SUMMARY.match(line.strip()) is not None:
            caption.tool, caption.kind = _OTHER_TOOL, None
        elif list(headings) == _HEADINGS:
            caption.tool = _TOOL
            if caption.collective is None:
                caption.say("collective", "all_reduce", f"these headings are those of {_TOOL}")
        if caption.tool == _TOOL and first and _OLD_PAYLOAD.fullmatch(first[0]) is not None:
            caption.rate_factor = 2**30 / 1e9

    def put(self, table: Table, caption: Caption) -> None:
        """Fills a new table of these benchmarks with what is known of its run."""
        if caption.tool is None:
            return
        table.conclude("tool", caption.tool, "its sentence or its headings")
        table.settings.update(caption.settings)
        versions = dict(self._versions)
        nccl = versions.pop("nccl", None)
        if nccl is not None:
            table.library, table.library_version = "nccl", nccl
        table.settings.update(versions)
        if self._device:
            table.devices = [self._device]
        if caption.rate_factor != 1:
            why = "versions that print payloads as KB and MB divide by 1024^3"
            table.infer("unit of GBps", "2^30 bytes/s", why)


def _plain_version(value: str) -> str:
    """Returns (2, 26, 2) as 2.26.2."""
    return ".".join(re.findall(r"\d+", value)) if value.startswith("(") else value
