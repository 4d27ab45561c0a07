"""The arms of one launch, all of them running and idle but one.

For: starting them together, keeping count of who is left, and starting one anew that died or hangs: a library that
fails at 256 MB is still a peer at 8 B. Not for: one arm (driver.py), or what is run when (rounds.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.driver import Answer, ArmFailed, PeerArm, RunningArm, Work

RESTARTS = 2  # of an arm in a launch; what fails more often than that is given up until the next launch


@dataclass(frozen=True)
class Limits:
    """Seconds after which an arm is given up."""

    start: float = 90.0
    first: float = 20.0  # of the first calls at a size
    call: float = 2.0  # of one call up to 1 MB: an arm that needs more is not visited there
    visit: float = 10.0  # besides ten times what a visit was expected to take
    goodbye: float = 5.0


class Crew:
    """The running arms of a launch. `pids`: of every rank that was started; `versions`: what arms say that they are."""

    def __init__(
        self,
        peers: Mapping[str, PeerArm],
        num_ranks: int,
        cores: Sequence[int],
        folder: Path,
        limits: Limits,
        say: Callable[[str], None],
    ) -> None:
        """`folder`: an empty directory for sockets and files; `cores`: ranks are pinned to them in turn."""
        self._peers, self._num_ranks, self._cores, self._folder = peers, num_ranks, cores, folder
        self._limits, self._say = limits, say
        self._running: dict[str, RunningArm] = {}
        self._num_started: dict[str, int] = {}
        self.pids: list[int] = []
        self.versions: dict[str, str] = {}

    def __contains__(self, arm: str) -> bool:
        return arm in self._running

    def start(self, arms: Sequence[str]) -> dict[str, str]:
        """Starts `arms`, all at once, as most of a start is waiting; returns those that failed, and why."""
        failed: dict[str, str] = {}
        for arm in arms:
            directory = self._folder / str(sum(self._num_started.values()))
            directory.mkdir()
            self._num_started[arm] = self._num_started.get(arm, 0) + 1
            try:
                self._running[arm] = RunningArm(self._peers[arm], self._num_ranks, self._cores, directory)
            except ArmFailed as error:
                failed[arm] = str(error)
        for arm in arms:
            if arm in failed:
                continue
            try:
                self._running[arm].ready(self._limits.start)
            except ArmFailed as error:
                failed[arm] = str(error)
                self._running.pop(arm).close(0.0)
                continue
            self.pids += self._running[arm].pids
            self.versions[arm] = self._running[arm].version
        for arm, why in failed.items():
            self._say(f"{arm} did not start: {why}")
        return failed

    def run(self, arm: str, work: Work, timeout: float) -> Answer:
        """Does `work` on a running arm. Raises Refused, or ArmFailed: the arm is then started anew if it may be."""
        try:
            return self._running[arm].run(work, timeout)
        except ArmFailed as failed:
            self._running.pop(arm).close(0.0)
            if self._num_started[arm] <= RESTARTS:
                self._say(f"{arm} is started anew: {failed}")
                self.start([arm])
            else:
                self._say(f"{arm} is out of this launch: {failed}")
            raise

    def close(self) -> None:
        """Asks all to leave, and ends what does not."""
        while self._running:
            self._running.popitem()[1].close(self._limits.goodbye)
