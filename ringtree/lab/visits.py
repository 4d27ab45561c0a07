"""How often a cell is visited in a launch, and how long a visit is.

For: spending a cell's time budget over rounds. Not for: the order of visits (plan.py) or running them (measure.py).

Visits are spread over the whole launch, so that a cell meets whatever the machine does meanwhile; a visit begins with
an untimed iteration where it matters that other cells have used the caches in between. Arms of one size are visited in
the same rounds, so that every round pairs all of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from ringtree.lab.plan import MIN_ROUNDS
from ringtree.lab.warm_up import LARGE
from ringtree.results import SizePlan

# An iteration that takes longer, in seconds, does not notice cold caches: an untimed one would halve its samples.
REWARM_SECONDS = 0.005


def num_rewarming(size: SizePlan, seconds: float) -> int:
    """Returns the untimed iterations that begin a visit; `seconds`: of one iteration, with writing and checking.

    None at large sizes: rewriting the inputs, which comes before every iteration, has filled the caches anyway.
    """
    return 1 if size.size_bytes <= LARGE and seconds < REWARM_SECONDS else 0


def num_rounds(size: SizePlan, seconds: Sequence[float], budget: float) -> int:
    """Returns the rounds in which a size is visited.

    `seconds`: of one iteration of each arm, with writing and checking; `budget`: seconds of one arm in the launch.
    """
    least = min(MIN_ROUNDS, size.max_rounds)
    if not seconds:
        return least
    shortest_round = sum(one * (1 + num_rewarming(size, one)) for one in seconds)
    return max(least, min(size.max_rounds, int(budget * len(seconds) / max(shortest_round, 1e-9))))


def num_iterations(size: SizePlan, seconds: float, budget: float, rounds: int) -> int:
    """Returns the timed iterations of each visit of an arm; arguments as for `num_rounds`."""
    affordable = int(budget / (rounds * max(seconds, 1e-9)))
    return max(1, min(size.max_iterations, affordable - num_rewarming(size, seconds)))


def is_visited(round_: int, rounds: int, num_rounds_of_launch: int) -> bool:
    """True if a size with `rounds` rounds is visited in round `round_`: they are spread evenly over the launch."""
    return any(i * num_rounds_of_launch // rounds == round_ for i in range(rounds))
