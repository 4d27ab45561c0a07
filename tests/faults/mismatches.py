"""One rank calls something else than the others: size, dtype, op, root, collective, order, a call left out.

For: bar 6: every rank is told who called what, at once. Not for: texts (tests/python/comm/test_faults_mismatch.py).
"""

from __future__ import annotations

from dataclasses import replace

from fault_ranks import Call, Failed

from faults.bodies import call_in_turn
from faults.deaths import note_descriptors
from faults.stage import staged
from faults.trial import Cell, Survivor, Trial


def wrong_calls(what: str, collective: str) -> tuple[list[Call], list[Call]]:
    """What most call, and what one does."""
    usual = Call(collective)
    other = Call("all_gather" if collective == "all_reduce" else "all_reduce")
    differences = {
        "size": ([usual], [replace(usual, count=1001)]),
        "dtype": ([usual], [replace(usual, dtype="int32")]),
        "op": ([usual], [replace(usual, op="max")]),
        "root": ([usual], [replace(usual, root=1)]),
        "collective": ([usual], [other]),
        "order": ([usual, other], [other, usual]),
        "skipped call": ([usual, usual], [usual]),
    }
    return differences[what]


def mismatch(cell: Cell, what: str) -> Trial:
    odd_rank = cell.world.ranks - 1
    usual, odd = wrong_calls(what, cell.collective)
    with staged(cell.world, call_in_turn, usual, odd, odd_rank) as stage:
        everybody = range(stage.ranks)
        for rank in everybody:
            assert stage.job.hear(rank) == "ready"
        for rank in everybody:
            stage.job.tell(rank, "call")
        heard: list[tuple[Failed, float]] = [stage.job.hear(rank) for rank in everybody]
        since = max(began for _, began in heard)  # nobody can know before all have called
        name = stage.job.name(odd_rank).removesuffix(")")
        survivors = [
            Survivor(rank, failed.error, failed.text, max(failed.at - since, 0.0), named=name in failed.text)
            for rank, (failed, _) in enumerate(heard)
        ]
        note_descriptors(stage, cell, list(everybody))
    return Trial(cell, survivors, left=stage.left)
