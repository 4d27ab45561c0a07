"""Ranks that cannot be started: the lab says why, the agents listen again, and no descriptor stays open.

For: crew.py, crew_group.py and rank_group.py, with agents as threads. Not for: ranks that fail once they run
(test_compare_agents.py).
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import pytest
from lab_support import make_spec

from ringtree.launchers import Identity
from ringtree.measure import exchange, rank_start
from ringtree.measure.crew import Crew, Order, Outcome
from ringtree.measure.crew_group import CrewGroup
from ringtree.measure.messages import reports
from ringtree.measure.rank_group import LaunchFailed, RankGroup
from ringtree.results import Record


class NewerOrder(Record):
    """What the lab of another version could tell."""

    kind: str = "launch"
    news: str = "of another version"


class Started:
    """Ranks of an agent that run as long as they are not closed."""

    pids = (17,)

    def __init__(self) -> None:
        self.closed = False

    def close(self) -> None:
        self.closed = True


class FakedCrew(Crew):
    """A crew whose agents start only what a test counts."""

    def __init__(self, rank: int, job: str, start: Callable[[Order], Started]) -> None:
        self._fake = start
        super().__init__(Identity("test", rank, 2, job=job), 30.0)

    def start(self, order: Order) -> RankGroup:
        return self._fake(order)  # type: ignore[return-value]


def no_memory(order: Order) -> Started:
    raise OSError(12, "Cannot allocate memory")


def test_the_lab_says_why_an_agent_started_no_ranks_and_goes_on() -> None:
    job, mine = uuid4().hex, Started()
    with ThreadPoolExecutor() as pool:
        served = pool.submit(lambda: FakedCrew(1, job, no_memory).serve())
        with FakedCrew(0, job, lambda order: mine) as lab:
            for _ in range(2):  # the agent listens again
                with pytest.raises(LaunchFailed, match=r"^process 1 starts no ranks: .*Cannot allocate memory$"):
                    CrewGroup(lab, make_spec(), {})
                assert mine.closed
        served.result(30)


def test_an_order_of_another_version_is_answered() -> None:
    job = uuid4().hex
    with ThreadPoolExecutor() as pool:
        served = pool.submit(lambda: Crew(Identity("test", 1, 2, job=job), 30.0).serve())
        with FakedCrew(0, job, no_memory) as lab:
            exchange.tell(lab.comm, NewerOrder())
            answer = lab.gather(Outcome())[1]
            assert answer.failure is not None
            assert answer.failure.startswith("process 1 starts no ranks: rank 0 runs another version of ringtree: ")
        served.result(30)


def test_a_rank_that_cannot_be_started_leaves_no_descriptor_open(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(rank_start, "start_process", refuse)
    before = sorted(Path("/proc/self/fd").iterdir())
    with pytest.raises(OSError, match="Resource temporarily unavailable"):
        RankGroup("ringtree.measure.rank", [0], lambda rank, group: make_spec(), reports)
    assert sorted(Path("/proc/self/fd").iterdir()) == before
