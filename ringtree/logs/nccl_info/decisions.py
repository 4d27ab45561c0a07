"""What the words of a decision and of a call mean, release by release.

For: records of them. Not for: counting (call_lines.py).

What "N Bytes" is in a decision: up to 2.23 the larger of what a rank sends and receives (all ranks' parts together for
all_gather and reduce_scatter), from 2.24 on the call's count times the size of its type (one rank's part). The forms of
the line tell the releases apart, so no version line is needed.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from ringtree.logs.nccl_info.facts import Facts
from ringtree.logs.nccl_info.shapes import Decision, Operation
from ringtree.nccl.names import (
    algorithm_by_number,
    collective,
    dtype_by_number,
    op_by_number,
    protocol_by_number,
    spelled,
)
from ringtree.nccl.releases import release
from ringtree.traits import BLOCKED, REDUCING, ROOTED

_BYTES, _WORD = r"(?P<printed_bytes>\d{1,20}) Bytes", r"\w{1,40}"
# 2.20: "4096 Bytes -> Algo 1 proto 0 time 12.3"; 2.23: the function in front.
_NUMBERED = re.compile(
    rf"(?:(?P<function>{_WORD}): )?{_BYTES} -> Algo (?P<algorithm>\d{{1,4}}) proto (?P<protocol>\d{{1,4}}) "
    r"time (?P<modelled_us>\d{1,20}\.\d{1,9})"
)
# 2.24: names and channels, no time; symmetric kernels and copies by the copy engine.
_NAMED = (
    re.compile(
        rf"(?P<function>{_WORD}): {_BYTES} -> Algo (?P<algorithm>{_WORD}) proto (?P<protocol>{_WORD})"
        r"(?: channel\{Lo\.\.Hi\}=\{(?P<channel_low>\d{1,6})\.\.(?P<channel_high>\d{1,6})\})?"
    ),
    re.compile(
        rf"(?P<function>{_WORD}) \[(?P<path>Symmetric)\]: {_BYTES} -> "
        r"Kernel (?P<kernel>\w{1,80})(?: nchannels (?P<num_channels>\d{1,6}))?"
    ),
    re.compile(rf"(?P<function>{_WORD}) \[(?P<path>Copy Engine|Hierarchical CE)\]: {_BYTES} -> "),
)
_PATHS = {"Symmetric": "symmetric", "Copy Engine": "copy_engine", "Hierarchical CE": "hierarchical_copy_engine"}
_BEFORE_PAT, _WITH_PAT = (2, 20), (2, 23)


def decisions_of(facts: Facts, version: str | None, num_ranks: int | None) -> list[Decision]:
    """Returns what was chosen, by what was printed; texts that were cut are counted as left out."""
    counts: Counter[Decision] = Counter()
    first: dict[Decision, float | None] = {}
    for text, num in facts.decisions.items():
        decision = parse_decision(text, version, num_ranks)
        if decision is None:
            facts.left_out["decisions that were cut"] += num
            continue
        # The time is not a part of what was chosen: it differs with the number of calls in a group.
        bare = decision.model_copy(update={"modelled_us": None})
        counts[bare] += num
        first.setdefault(bare, decision.modelled_us)
    functions = {name: function for function, name in _functions(facts)}
    return [
        decision.model_copy(
            update={"num": num, "modelled_us": _estimate(facts, decision, first[decision], functions)},
        )
        for decision, num in sorted(counts.items(), key=lambda item: (item[0].collective or "", item[0].printed_bytes))
    ]


def parse_decision(text: str, version: str | None, num_ranks: int | None) -> Decision | None:
    """Returns what one line says, with num 0; None if it is none or was cut."""
    if (found := _NUMBERED.match(text)) is not None:
        said = found.groupdict()
        known = release(version) or (_WITH_PAT if said["function"] else _BEFORE_PAT)
        said["algorithm"] = algorithm_by_number(int(said["algorithm"]), known)
        said["protocol"] = protocol_by_number(int(said["protocol"]))
        return _decision(said, False, num_ranks)
    found = next((found for pattern in _NAMED if (found := pattern.match(text)) is not None), None)
    if found is None:
        return None
    said = found.groupdict()
    if "algorithm" in said:
        said |= {name: spelled(said[name]) for name in ("algorithm", "protocol")}
        if said["channel_low"] is not None:
            said["num_channels"] = int(said["channel_high"]) - int(said["channel_low"]) + 1
    return _decision(said, True, num_ranks)


def _decision(said: dict[str, Any], one_rank: bool, num_ranks: int | None) -> Decision:
    """`one_rank`: of functions that cut the size into blocks, NCCL means one rank's part."""
    function, size = said.pop("function"), int(said["printed_bytes"])
    name = collective(function) if function else None
    per_rank = one_rank if name in BLOCKED else None
    total: int | None = size if name is not None or not function else None
    if per_rank:
        total = size * num_ranks if num_ranks is not None else None
    record = {"algorithm": None, "protocol": None, **said, "path": _PATHS.get(said.get("path", ""), "kernel")}
    return Decision(collective=name, per_rank=per_rank, size_bytes=total, num=0, **record)


def operations_of(facts: Facts) -> list[Operation]:
    """Returns the calls by what they have in common."""
    operations = []
    for (function, count, dtype, op, root, nranks), num in sorted(facts.operations.items()):
        name = collective(function.rstrip(":")) or function.rstrip(":")[:40]
        operations.append(
            Operation(
                collective=name,
                count=int(count),
                dtype=dtype_by_number(int(dtype[:9])),
                op=op_by_number(int(op)) if name in REDUCING and _is_number(op) else None,
                root=int(root) if name in (*ROOTED, "send", "recv") and _is_number(root) else None,
                num_ranks=int(nranks[8:-1]) if nranks.startswith("[nranks=") and _is_number(nranks[8:-1]) else None,
                num=num,
            )
        )
    return operations


def _functions(facts: Facts) -> list[tuple[str, str]]:
    return [(function, name) for function, _ in facts.estimates if (name := collective(function)) is not None]


def _estimate(facts: Facts, decision: Decision, printed: float | None, functions: dict[str, str]) -> float | None:
    """Returns the model's time: of the line itself, or (from 2.31 on) of the line that told the model's input."""
    if printed is not None or decision.collective not in functions or decision.size_bytes is None:
        return printed
    return facts.estimates.get((functions[decision.collective], decision.size_bytes))


def _is_number(text: str) -> bool:
    return len(text) <= 9 and text.lstrip("-").isdecimal() and not text.startswith("--")
