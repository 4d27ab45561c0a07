"""algbw and busbw: a time and a size as rates.

For: the two rates that people of this field compare. algbw = size / time; busbw = algbw × a factor of the collective
that makes the figure comparable with the speed of a link, whatever the number of ranks. send_recv: every rank sends to
the next one.
Not for: limits of hardware, averaging rates (average times, then take the rate).

Factors and the meaning of size are those of nccl-tests, doc/PERFORMANCE.md, and of its programs for what that page
leaves out (gather, scatter, send_recv): where there is a block a rank the size is that of n blocks.
"""

from __future__ import annotations


def bus_factor(collective: str, num_ranks: int) -> float:
    """Returns busbw / algbw of `collective` with `num_ranks` ranks. Raises ValueError for an unknown collective."""
    if num_ranks < 1:
        raise ValueError(f"a collective has at least one rank, not {num_ranks}")
    n = float(num_ranks)
    factors = {
        "all_reduce": 2 * (n - 1) / n,
        "reduce_scatter": (n - 1) / n,
        "all_gather": (n - 1) / n,
        "all_to_all": (n - 1) / n,
        "gather": (n - 1) / n,
        "scatter": (n - 1) / n,
        "send_recv": 1.0,
        "broadcast": 1.0,
        "reduce": 1.0,
    }
    if collective not in factors:
        raise ValueError(f"no bus factor for {collective!r}; choose from: {', '.join(sorted(factors))}")
    return factors[collective]


def algbw(size_bytes: int, seconds: float) -> float:
    """Returns size / time in bytes/s."""
    if size_bytes < 0 or not seconds > 0:
        raise ValueError(f"algbw needs a size and a positive time, not {size_bytes} bytes in {seconds} s")
    return size_bytes / seconds


def busbw(collective: str, size_bytes: int, seconds: float, num_ranks: int) -> float:
    """Returns the bus bandwidth in bytes/s."""
    return algbw(size_bytes, seconds) * bus_factor(collective, num_ranks)
