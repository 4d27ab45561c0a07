"""What the machine can do at best, probed before the first launch, and the floor that this puts under every time.

For: "this time is so many times the limit". Not for: predicting what an algorithm reaches (ringtree.model), or limits
of links and GPUs from a catalogue.
"""

from __future__ import annotations

import time

from ringtree.measure.environment import available_memory
from ringtree.measure.probe import Handoff, copy_rates, usable_cores
from ringtree.results import ON_GPU, CopyRate, MachineLimits, Plan

# Calls of this size and above share one rate: it no longer depends on the size far beyond every cache.
LARGEST = 64 << 20
# Seconds of copying each size, all sizes together at most, and of each size at least.
COPY_SECONDS = 0.004
ALL_COPIES_SECONDS = 0.1
LEAST_COPY_SECONDS = 0.001
# Hand-offs are probed before and after each size, and until so many seconds have passed: a placement of virtual cores
# lasts a second or so, and the nearest one seen is the limit.
HANDOFF_SECONDS = 100e-6
HANDOFF_SPAN = 0.2
# Memory that copying may take, as a share of what is available: the floor of huge sizes is not worth swapping.
MEMORY_SHARE = 0.25


def probe_limits(plan: Plan) -> MachineLimits | None:
    """Probes hand-off and copy rate for the sizes of `plan`; takes a few tenths of a second.

    As many cores copy as ranks can use at the same time. Hand-off: the nearest of the probed pairs at its best moment.
    A size whose rate could not be found (memory is short, a core is taken) has none. None for an emulated plan: its
    times are those of links slowed on purpose, which nothing here bounds; for several hosts, of which this is one; for
    GPUs; for trainings.
    """
    if plan.emulation is not None or plan.hosts is not None or plan.boundary in ON_GPU or plan.training is not None:
        return None
    started = time.monotonic()
    num_copying = min(plan.num_ranks, len(usable_cores()))
    cap = int(available_memory() * MEMORY_SHARE)
    copied = sorted({copied_size(size.size_bytes) for size in plan.sizes if size.size_bytes > 0})
    copied = [size for size in copied if 2 * size * num_copying <= cap]
    seconds = min(COPY_SECONDS, max(LEAST_COPY_SECONDS, ALL_COPIES_SECONDS / max(1, len(copied))))
    handoff = Handoff()
    handoffs, rates = handoff.times(HANDOFF_SECONDS), []
    for size in copied:
        for rate in copy_rates([size], num_copying, seconds, cap).values():
            rates.append(CopyRate(size_bytes=size, bytes_per_second=rate))
        handoffs += handoff.times(HANDOFF_SECONDS)
    while handoff.pairs and time.monotonic() - started < HANDOFF_SPAN:
        handoffs += handoff.times(HANDOFF_SECONDS)
    return MachineLimits(
        num_copying=num_copying,
        copy_rates=rates,
        handoff=min((one_way for one_way in handoffs if one_way is not None), default=None),
    )


def time_limit(limits: MachineLimits | None, collective: str, num_ranks: int, size_bytes: int) -> float | None:
    """Returns seconds below which no all_reduce of `size_bytes` on `num_ranks` ranks of this host can be.

    Holds for ranks that are processes with private buffers and move their data with one thread each. The time of a call
    is its slowest rank's. Two things must happen in it:

    - Hand-off. With more than one rank, a result depends on every rank's input, so the rank that starts first must
      learn that the last one has started, at least one hand-off of a cache line later.
    - Writing. Each rank's result is `size_bytes` in a buffer of its own, and no byte of it is known before data of
      another rank has come in: as many bytes are read from somewhere and written there, at the copy rate at best.
      `num_copying` cores do it for all ranks, so the rank that ends last takes
      num_ranks × size_bytes / (num_copying × rate), and not less than size_bytes / rate. Not
      ceil(num_ranks / num_copying) rounds: a scheduler that moves ranks between cores in the middle of their work can
      do 3 ranks on 2 cores in 1.5.

    The larger of the two is a floor. Their sum is not strictly one: data may travel with the hand-off itself, and a
    rank may copy on speculation before it knows that its peer is ready.

    None: no limits are known (emulated, not probed at this size), the collective is another one, or one rank is alone,
    which need not move anything.
    """
    if limits is None or collective != "all_reduce" or num_ranks < 2:
        return None
    floors = [] if limits.handoff is None else [limits.handoff]
    if size_bytes > 0:
        rate = {each.size_bytes: each.bytes_per_second for each in limits.copy_rates}.get(copied_size(size_bytes))
        if rate is None:
            return None  # the hand-off of one line would pass for the limit of many
        floors.append(max(1.0, num_ranks / limits.num_copying) * size_bytes / rate)
    return max(floors, default=None)


def copied_size(size_bytes: int) -> int:
    """Returns the bytes that a core copies to find the rate for calls of `size_bytes`: half as many.

    A call in place touches `size_bytes` of a rank's memory. Copying half of them to the other half touches as much, so
    it finds the caches as good a help as the best call can; copying all of them elsewhere would leave the caches twice
    as early, and its rate would be no limit.
    """
    return max(1, min(size_bytes, LARGEST) // 2)
