"""One rank calls something else than the others: every rank gets a MismatchError, in this call or its next, that says
who called what; never a hang, never a wrong result.

For: count, dtype, op, collective and root × every collective that has them × 2, 3 and 4 processes. Not for: what only
the engine knows of (algorithms, protocols, slices: tests/core/engine/test_mismatch.cpp), or counts of uneven blocks
(test_blocks.py).
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from engine_case import COLLECTIVES, REDUCING, ROOTED
from fault_ranks import Call, call_once
from fault_support import Job

Difference = tuple[
    Call, Call, str, str
]  # what most call and what one calls, and by what the error must tell them apart


def differences() -> list[tuple[str, Difference]]:
    found: list[tuple[str, Difference]] = []
    for collective in COLLECTIVES:
        usual = Call(collective)
        other = "all_gather" if collective == "all_reduce" else "all_reduce"
        odd = {
            "count": (replace(usual, count=1001), "count=1000, ", "count=1001, "),
            "dtype": (replace(usual, dtype="int32"), ", float32", ", int32"),
            "collective": (replace(usual, collective=other), f"{collective}(", f"{other}("),
        }
        if collective in REDUCING:
            odd["op"] = (replace(usual, op="max"), ", sum", ", max")
        if collective in ROOTED:
            odd["root"] = (replace(usual, root=1), ", root 0", ", root 1")
        found += [(f"{collective}-{what}", (usual, *each)) for what, each in odd.items()]
    return found


@pytest.mark.parametrize("difference", [each for _, each in differences()], ids=[name for name, _ in differences()])
@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_every_rank_is_told_who_called_what(difference: Difference, ranks: int) -> None:
    usual, odd, says_usual, says_odd = difference
    odd_rank = ranks - 1
    with Job(ranks, call_once, usual, odd, odd_rank) as job:
        for rank in range(ranks):
            failed = job.hear(rank)
            assert failed.error == "MismatchError", failed
            head, _, said = failed.text.partition(": ")
            assert head == "the ranks disagree about call #2", failed
            # "rank 0 (pid 7), rank 1 (pid 8) called all_reduce(…), rank 2 (pid 9) called …", in either order
            of_odd = said[said.index(job.name(odd_rank)) :].split(")", 2)[1]
            assert of_odd.startswith(f" called {odd.collective}("), failed
            assert says_odd in of_odd, failed
            assert f" called {usual.collective}(" in said
            assert says_usual in said.replace(of_odd, "")
