"""A rank is killed while all make calls: every survivor is told within a second who died, in which call of which
collective, and those that are left can go on without it.

For: every collective × 2, 3 and 4 processes × the first rank (the root, who also serves the store) or the last. Not
for: algorithms (tests/core/engine/test_death.cpp). Survivors stay alive, so that none is told by another's end.
"""

from __future__ import annotations

import re

import pytest
from engine_case import COLLECTIVES
from fault_ranks import Call, Failed, call_on_and_on
from fault_support import Job

pytestmark = pytest.mark.alone

FIRST_CALL_TO_DIE_IN = 5
COUNT = 50_000  # float32: more than a slot holds, so that calls last


@pytest.mark.parametrize("collective", COLLECTIVES)
@pytest.mark.parametrize("ranks", [2, 3, 4])
@pytest.mark.parametrize("who", ["first", "last"])
def test_every_survivor_is_told_within_a_second_and_goes_on(collective: str, ranks: int, who: str) -> None:
    victim = 0 if who == "first" else ranks - 1
    survivors = [rank for rank in range(ranks) if rank != victim]
    with Job(ranks, call_on_and_on, Call(collective, COUNT, op="max"), victim, FIRST_CALL_TO_DIE_IN) as job:
        assert job.hear(victim) == "in call"
        killed_at = job.kill(victim)
        for rank in survivors:
            failed = job.hear(rank)
            assert isinstance(failed, Failed)
            assert failed.error == "PeerError", failed
            found = re.match(
                re.escape(job.name(victim)) + rf" died before it completed {collective} #(\d+): ", failed.text
            )
            assert found, failed
            assert int(found[1]) >= FIRST_CALL_TO_DIE_IN
            assert failed.at - killed_at < 1.0, failed
        for place, rank in enumerate(survivors):
            assert job.hear(rank) == (place, ranks - 1, ranks - 1.0)
