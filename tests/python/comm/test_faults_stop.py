"""A rank is stopped (SIGSTOP) while the others call: at the deadline each of them is told who has not come; the stopped
one is told so when it comes back.

For: every collective × 2, 3 and 4 processes. Not for: death, which is noticed at once (test_faults_death.py).
"""

from __future__ import annotations

import re
import time

import pytest
from engine_case import COLLECTIVES
from fault_ranks import Call, call_or_stop
from fault_support import Job

pytestmark = pytest.mark.alone

LAST_CALL = 4  # of the rank that stops
DEADLINE_S = 0.3


@pytest.mark.parametrize("collective", COLLECTIVES)
@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_the_deadline_names_who_has_not_come(collective: str, ranks: int) -> None:
    victim = ranks - 1
    with Job(ranks, call_or_stop, Call(collective), victim, LAST_CALL, DEADLINE_S) as job:
        assert job.hear(victim) == "stops"
        stopped_at = time.monotonic()
        texts = set()
        for rank in range(victim):
            failed = job.hear(rank)
            assert failed.error == "DeadlineError", failed
            assert failed.at - stopped_at < DEADLINE_S + 1.0
            texts.add(failed.text)
        for text in texts:
            assert re.match(
                rf"{collective} #\d+ was not complete on rank \d \(pid \d+\) after {DEADLINE_S} s: ", text
            ), text
            newest = re.search(re.escape(job.name(victim)) + r" has only begun call #(\d+)", text)
            assert newest, text
            assert int(newest[1]) <= LAST_CALL
        job.resume(victim)
        failed = job.hear(victim)
        assert failed.error == "DeadlineError", failed
        assert failed.text in texts
