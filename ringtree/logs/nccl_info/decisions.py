"""What the words of a decision and of a call mean, release by release.

For: records of them. Not for: counting (call_lines.py).

What "N Bytes" is in a decision: up to 2.23 the larger of what a rank sends and receives (all ranks' parts together for
all_gather and reduce_scatter), from 2.24 on the call's count times the size of its type (one rank's part). The forms of
the line tell the releases apart, so no version line is needed.
"""

from __future__ import annotations

import re
from collections import Counter

from ringtree.logs.nccl_info.facts import Facts
from ringtree.logs.nccl_names import (
    OF_ONE_RANK,
    REDUCING,
    ROOTED,
    algorithm_by_number,
    collective,
    dtype_by_number,
    op_by_number,
    protocol_by_number,
    release,
    spelled,
)
from ringtree.logs.shapes.nccl import Decision, Operation

_N, _WORD = r"(\d{1,20})", r"\w{1,40}"
# 2.20: "4096 Bytes -> Algo 1 proto 0 time 12.3"; 2.23: the function in front.
_NUMBERED = re.compile(
    rf"(?:({_WORD}): )?{_N} Bytes -> Algo (\d{{1,4}}) proto (\d{{1,4}}) time (\d{{1,20}}\.\d{{1,9}})"
)
# 2.24: names and channels, no time.
_NAMED = re.compile(
    rf"({_WORD}): {_N} Bytes -> Algo ({_WORD}) proto ({_WORD})"
    r"(?: channel\{Lo\.\.Hi\}=\{(\d{1,6})\.\.(\d{1,6})\})?"
)
_SYMMETRIC = re.compile(rf"({_WORD}) \[Symmetric\]: {_N} Bytes -> Kernel (\w{{1,80}})(?: nchannels (\d{{1,6}}))?")
_COPY_ENGINE = re.compile(rf"({_WORD}) \[(Copy Engine|Hierarchical CE)\]: {_N} Bytes -> ")
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
        # The time is no part of what was chosen: it differs with the number of calls in a group.
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
        function, size, algorithm, protocol, time = found.groups()
        known = release(version) or (_WITH_PAT if function else _BEFORE_PAT)
        return _decision(
            function,
            int(size),
            False,
            num_ranks,
            algorithm=algorithm_by_number(int(algorithm), known),
            protocol=protocol_by_number(int(protocol)),
            modelled_us=float(time),
        )
    if (found := _NAMED.match(text)) is not None:
        function, size, algorithm, protocol, low, high = found.groups()
        channels = {} if low is None else {"channel_low": int(low), "channel_high": int(high)}
        num = {} if low is None else {"num_channels": int(high) - int(low) + 1}
        names = {"algorithm": spelled(algorithm), "protocol": spelled(protocol)}
        return _decision(function, int(size), True, num_ranks, **names, **channels, **num)
    if (found := _SYMMETRIC.match(text)) is not None:
        function, size, kernel, num_channels = found.groups()
        channels = {} if num_channels is None else {"num_channels": int(num_channels)}
        return _decision(function, int(size), True, num_ranks, path="symmetric", kernel=kernel, **channels)
    if (found := _COPY_ENGINE.match(text)) is not None:
        function, how, size = found.groups()
        path = "copy_engine" if how == "Copy Engine" else "hierarchical_copy_engine"
        return _decision(function, int(size), True, num_ranks, path=path)
    return None


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


def _decision(function: str | None, size: int, one_rank: bool, num_ranks: int | None, **others: object) -> Decision:
    name = collective(function) if function else None
    total: int | None = size
    if function is None or name is None:
        per_rank = None
        total = size if function is None else None
    else:
        per_rank = one_rank if name in OF_ONE_RANK else None
        if per_rank:
            total = size * num_ranks if num_ranks is not None else None
    record = {"path": "kernel", "algorithm": None, "protocol": None, **others}
    return Decision.model_validate(
        {"collective": name, "printed_bytes": size, "per_rank": per_rank, "size_bytes": total, "num": 0, **record}
    )


def _functions(facts: Facts) -> list[tuple[str, str]]:
    return [(function, name) for function, _ in facts.estimates if (name := collective(function)) is not None]


def _estimate(facts: Facts, decision: Decision, printed: float | None, functions: dict[str, str]) -> float | None:
    """Returns the model's time: of the line itself, or (from 2.31 on) of the line that told the model's input."""
    if printed is not None or decision.collective not in functions or decision.size_bytes is None:
        return printed
    return facts.estimates.get((functions[decision.collective], decision.size_bytes))


def _is_number(text: str) -> bool:
    return len(text) <= 9 and text.lstrip("-").isdecimal() and not text.startswith("--")
