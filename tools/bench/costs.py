"""How many calls, batches and rounds a cell gets.

For: turning a first timing of each arm at each size into visits that fit the launch's time. Not for: the order of
visits (rounds.py), or what is measured (plans.py).

A launch goes over its cells in PASSES; at each stay an arm is visited ROUNDS_A_STAY times. Cheap arms take part in all
passes, dear ones (8 to 24 ms a call, as of libraries that spin with more ranks than cores) in one half, quarter or
eighth of them. These sets are nested, so wherever an arm is visited the engine is too, and they are paired.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench.cases import SMALLEST, is_power_of_two
from ringtree.lab.plan import BATCH_LIMIT
from ringtree.lab.visits import num_rewarming
from ringtree.results import SizePlan

PASSES = 8  # over all cells of a launch, a power of two
ROUNDS_A_STAY = 3  # rounds in a row at one cell: enough for a launch to count under the placement that they met
MOST_BATCHES = 5  # of a visit
BATCH_SECONDS = 200e-6  # of calls timed together, on a core each: a barrier's skew is small against it
MOST_CALLS = 4096
VISIT_SECONDS = 0.03  # beyond it a visit is as few batches as there can be
PROBE_SECONDS = 0.001  # between visits: a probe, and what it takes to talk to the ranks
FLOOR_SHARE = 0.75  # of a launch's time may go to the fewest visits of each cell
HOPELESS_TIMES, HOPELESS_SECONDS = 100.0, 5e-3  # beyond both an arm is only visited at every eighth power of two


@dataclass(frozen=True)
class Visiting:
    """How an arm is visited at one size. `seconds`: about what a visit takes, wall clock."""

    calls: int
    batches: int
    warm_up: int
    seconds: float

    @property
    def stay_seconds(self) -> float:
        """Seconds of one stay."""
        return self.seconds * ROUNDS_A_STAY


def visiting(size: SizePlan, call: float, around: float, ranks_a_core: float) -> Visiting:
    """Returns how to visit an arm whose call takes `call` seconds; `around`: seconds of a batch besides its calls.

    With several ranks on a core a barrier's skew grows by the time slices of the others, and batches with it.
    """
    target = BATCH_SECONDS * max(1.0, ranks_a_core)
    calls = max(1, min(MOST_CALLS, round(target / call))) if size.size_bytes <= BATCH_LIMIT else 1
    batch = calls * call + around
    warm_up = num_rewarming(size, batch)
    batches = max(1, min(size.max_iterations, int(VISIT_SECONDS / batch) - warm_up))
    return Visiting(calls, batches, warm_up, (warm_up + batches) * batch + PROBE_SECONDS)


def is_hopeless(call: float, of_engine: float) -> bool:
    """True for a call that is slower than the engine's beyond doubt, and whose visits would cost all others theirs."""
    return call > max(HOPELESS_SECONDS, HOPELESS_TIMES * of_engine)


def is_sampled(size_bytes: int) -> bool:
    """True for the sizes at which hopeless arms are measured all the same, so that tables tell how slow they are."""
    return size_bytes.bit_length() % 8 == SMALLEST.bit_length() % 8 and is_power_of_two(size_bytes)


def affordable(floors: Mapping[int, float], seconds: float) -> list[int]:
    """Returns the sizes that a launch of `seconds` can measure, ascending: the largest are given up first.

    `floors[size]`: seconds of one stay at that size, all arms together. The smallest size always stays.
    """
    sizes = sorted(floors)
    while len(sizes) > 1 and sum(floors[size] for size in sizes) > FLOOR_SHARE * seconds:
        sizes.pop()
    return sizes


def share_out(stays: Sequence[float], seconds: float) -> list[int]:
    """Returns the number of stays (a power of two up to PASSES) of each arm and size, in order.

    `stays`: seconds of one stay. Each gets as many as fit under a common limit of time, so that the cheap ones have all
    and what they leave goes to the dear ones; the limit is the highest that keeps the sum within `seconds`, or one stay
    each if that is too much already.
    """
    limits = sorted({stay * 2**power for stay in stays for power in range(PASSES.bit_length())})
    best = [1] * len(stays)
    for limit in limits:
        counts = [_stays_within(stay, limit) for stay in stays]
        if sum(count * stay for count, stay in zip(counts, stays, strict=True)) > seconds:
            break
        best = counts
    return best


def in_pass(pass_: int, stays: int, offset: int) -> bool:
    """True if a cell with `stays` stays is visited in a pass; `offset` moves a cell's passes, for all arms alike."""
    return (pass_ + offset) % PASSES % (PASSES // stays) == 0


def _stays_within(stay: float, limit: float) -> int:
    count = 1
    while count < PASSES and 2 * count * stay <= limit * (1 + 1e-12):
        count *= 2
    return count
