"""How often a cell is visited in a launch, and how long a visit is.

For: spending a cell's time budget over rounds. Not for: the order of visits (plan.py) or running them
(visit_loop.py).

Visits are spread over the whole launch, so that a cell meets whatever the machine does meanwhile; a visit begins with
an untimed iteration where it matters that other cells have used the caches in between. A round pairs the arms that it
visits; an arm that is much slower than the others is visited in fewer rounds, and leaves them theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ringtree.measure.plan import MIN_ROUNDS
from ringtree.measure.warm_up import LARGE
from ringtree.results import SizePlan

# An iteration that takes longer, in seconds, does not notice cold caches: an untimed one would halve its samples.
REWARM_SECONDS = 0.005


def num_rewarming(size: SizePlan, seconds: float) -> int:
    """Returns the untimed iterations that begin a visit; `seconds`: of one iteration, with writing and checking.

    None at large sizes: rewriting the inputs, which comes before every iteration, has filled the caches anyway.
    """
    return 1 if size.size_bytes <= LARGE and seconds < REWARM_SECONDS else 0


@dataclass(frozen=True)
class Rounds:
    """The rounds of a size, and for each arm in every how many of them it is visited, from the first on."""

    number: int
    strides: tuple[int, ...]

    def visits(self, arm: int) -> int:
        """Returns how often an arm is visited."""
        return -(-self.number // self.strides[arm])


def share_rounds(size: SizePlan, seconds: Sequence[float], budget: float, reference: int | None = None) -> Rounds:
    """Returns as many rounds as the arms' time holds.

    `seconds`: of one iteration of each arm, with writing and checking; `budget`: seconds of one arm in the launch.
    Cheap arms take part in all rounds; one that its own budget does not hold as often in every second, fourth and so
    on, but at least MIN_ROUNDS times. The `reference` is visited whenever any arm is: what is not paired is worth
    little.
    """
    least = min(MIN_ROUNDS, size.max_rounds)
    costs = [max(one * (1 + num_rewarming(size, one)), 1e-9) for one in seconds]
    for number in range(size.max_rounds, least, -1):
        strides = [1 if arm == reference else _stride(number, cost, budget, least) for arm, cost in enumerate(costs)]
        for found in (Rounds(number, (1,) * len(costs)), Rounds(number, tuple(strides))):
            if sum(found.visits(arm) * cost for arm, cost in enumerate(costs)) <= budget * len(costs):
                return found
    return Rounds(least, (1,) * len(costs))


def _stride(number: int, cost: float, budget: float, least: int) -> int:
    stride = 1
    while -(-number // stride) * cost > budget and -(-number // (2 * stride)) >= least:
        stride *= 2
    return stride


def num_iterations(size: SizePlan, seconds: float, budget: float, visits: int) -> int:
    """Returns the timed iterations of each of an arm's visits; arguments as for `share_rounds`."""
    affordable = int(budget / (visits * max(seconds, 1e-9)))
    return max(1, min(size.max_iterations, affordable - num_rewarming(size, seconds)))


def is_visited(round_: int, rounds: int, num_rounds_of_launch: int, stride: int = 1) -> bool:
    """True if an arm is visited in round `round_`: a size's rounds are spread evenly over the launch."""
    return any(i * num_rounds_of_launch // rounds == round_ for i in range(0, rounds, stride))
