"""Rates of a time and a size, by hand.

For: the factors of busbw. Not for: how rates are printed.
"""

from __future__ import annotations

import pytest

from ringtree.stats import algbw, bus_factor, busbw


def test_busbw_is_the_rate_of_the_busiest_link_whatever_the_number_of_ranks() -> None:
    # A ring moves 2(n-1)/n of the data through each link, an all_gather or reduce_scatter half of that.
    for n in (1, 2, 3, 8, 64):
        assert bus_factor("all_reduce", n) == pytest.approx(2 * (n - 1) / n)
        assert bus_factor("all_gather", n) == bus_factor("reduce_scatter", n) == pytest.approx((n - 1) / n)
        for collective in ("all_to_all", "gather", "scatter"):
            assert bus_factor(collective, n) == pytest.approx((n - 1) / n)
        for collective in ("broadcast", "reduce", "send_recv"):
            assert bus_factor(collective, n) == 1.0
    assert algbw(1_000_000, 0.5) == 2e6
    assert busbw("all_reduce", 1_000_000, 0.5, 4) == pytest.approx(3e6)


def test_unknown_collective_and_zero_time_have_no_rate() -> None:
    with pytest.raises(ValueError, match="all_gather"):
        bus_factor("allreduce", 4)
    with pytest.raises(ValueError, match="positive time"):
        algbw(8, 0.0)
