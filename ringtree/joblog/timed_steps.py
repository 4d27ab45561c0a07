"""Which steps of a job are timed.

For: the first, which may be all that there is, then one of so many, after the steps that are left out; and fewer of
them where timing is dear. Not for: what timing a step is (tracer.py, on_gpu/steps.py).
"""

from __future__ import annotations

DEFAULT_TIME_EVERY = 10
BUDGET = 0.01  # of the job's time, for timing steps on GPUs
_MOST = 1 << 12  # times as sparse


class TimedSteps:
    """One step of `every`; None: of ten, or of 20, 40, … where the tracer would take more than BUDGET of the job.

    Ranks choose by their own clocks. As each spacing holds the steps of the next, those that choose differently still
    meet in the sparser one's steps.
    """

    def __init__(self, every: int | None) -> None:
        self._every = every or DEFAULT_TIME_EVERY
        self._may_spread = every is None
        self._spread = 1

    def is_timed(self, step: int) -> bool:
        return step == 0 or step % (self._every * self._spread) == min(2, self._every - 1)

    def pay(self, cost: float, step_time: float) -> None:
        """Takes note of the seconds that timing a step added to the job, whose steps take `step_time`."""
        if self._may_spread and step_time > 0.0:
            while self._spread < _MOST and cost > BUDGET * step_time * self._every * self._spread:
                self._spread *= 2
