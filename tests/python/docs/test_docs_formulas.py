"""The formulas of the explanation pages, against the schedules, the models and the constants that they are about.

For: tables and sums of docs/explanation. Not for: sentences (ringtree.audit.claims judges those).
"""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from ringtree import Emulation, schedule
from ringtree.audit.claims import counting
from ringtree.audit.claims.formulas import formula
from ringtree.nccl.constants import HOP_LATENCIES, PROTOCOLS
from ringtree.schedules.model import time_on_cluster
from ringtree.stats import bus_factor

PAGES = Path(__file__).parents[3] / "docs" / "explanation"
ALPHA, RATE = 10e-6, 25e9  # those of the pages' examples
RANKS = {
    "all": counting.SAMPLES,
    "from 3": tuple(n for n in counting.SAMPLES if n >= 3),
    "from 4": tuple(n for n in counting.SAMPLES if n >= 4),
    "from 5": tuple(n for n in counting.SAMPLES if n >= 5),
    "powers of two": counting.POWERS,
}


def table(page: str, heading: str) -> list[list[str]]:
    """The rows of the table whose first line begins so."""
    text = (PAGES / page).read_text()
    (found,) = re.findall(rf"^\| {re.escape(heading)}.*\n\|[-:| ]+\n((?:\|.*\n)+)", text, re.MULTILINE)
    return [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in found.splitlines()]


def value(text: str, **names: float) -> float:
    return formula(text).value(**names)


COSTS = [(page, *row) for page in ("ring.md", "trees.md") for row in table(page, "collective | algorithm | for n")]


@pytest.mark.parametrize(("page", "collective", "algorithm", "ranks", "hops", "sent"), COSTS)
def test_steps_and_bytes_are_those_of_the_schedules(
    page: str, collective: str, algorithm: str, ranks: str, hops: str, sent: str
) -> None:
    for n in RANKS[ranks]:
        assert value(hops, ranks=n) == counting.hops(collective, algorithm, n), n
        assert value(sent, ranks=n, size=1.0) == pytest.approx(counting.share(collective, algorithm, n)), n


def test_a_wrong_formula_would_be_found() -> None:
    assert len(COSTS) == 8
    assert value("2n−1", ranks=8) != counting.hops("all_reduce", "ring", 8)
    assert math.isnan(value("(n−1)/n · S", ranks=8))  # a size is wanted and was not given


def alone(num_ranks: int, algorithm: str, size: int, alpha: float = ALPHA, rate: float = RATE) -> float:
    """The recurrence's time with each rank a host of its own."""
    made = schedule("all_reduce", algorithm, num_ranks)
    return time_on_cluster(made, size // 4, 4, Emulation(num_ranks, 1, alpha, rate))


@pytest.mark.parametrize("n", [2, 3, 8, 16])
def test_a_ring_of_whole_chunks_takes_the_formula_and_one_of_slices_less(n: int) -> None:
    size = n * (4 << 10)  # a chunk is one slice
    assert alone(n, "ring", size) == pytest.approx(2 * (n - 1) * (ALPHA + size / (n * RATE)))
    # In slices, on links whose slots hold more than is under way (here αB is 20 KB, a slot 64 KB).
    alpha, rate, large = 1e-3, 20e6, n * (1 << 20)
    chunk, one_slice = large / (n * rate), alpha + (64 << 10) / rate
    assert alone(n, "ring", large, alpha, rate) == pytest.approx(2 * (n - 1) * max(chunk, one_slice), rel=0.05)


def test_where_the_ring_takes_over() -> None:
    for n, units, size in table("trees.md", "n | S* in units of αB"):
        by_formula = int(n) * (int(n) - 1 - math.ceil(math.log2(int(n))))
        assert by_formula == int(units.replace(",", ""))
        assert size == f"{by_formula * ALPHA * RATE / 1e6:.0f} MB"
        equal = by_formula * ALPHA * RATE
        ring = 2 * (int(n) - 1) * (ALPHA + equal / (int(n) * RATE))
        assert ring == pytest.approx(2 * math.ceil(math.log2(int(n))) * ALPHA + 2 * equal / RATE)
    # An upper end, as the page says: in slices the ring of 8 is ahead at half of it.
    half = 16 * ALPHA * RATE
    assert alone(8, "ring", int(half)) < 6 * ALPHA + 2 * half / RATE


def test_the_factors_of_busbw() -> None:
    named = set()
    for collectives, said, _ in table("busbw.md", "collective | f | because"):
        for collective in re.findall(r"\w+", collectives):
            named.add(collective)
            for n in counting.SAMPLES:
                assert value(said, ranks=n) == pytest.approx(bus_factor(collective, n))
    assert len(named) == 8
    for ranks, factor, algbw, busbw in table("busbw.md", "n | f | algbw"):
        assert float(factor) == pytest.approx(bus_factor("all_reduce", int(ranks)), abs=5e-4)
        assert float(algbw) == pytest.approx(float(busbw) / bus_factor("all_reduce", int(ranks)), abs=0.05)


def test_protocols_and_where_they_change() -> None:
    for link, *latencies in table("protocols.md", "link | LL, µs"):
        assert tuple(map(float, latencies)) == HOP_LATENCIES[link]["Ring"]
    latency = dict(zip(("LL", "LL128", "Simple"), HOP_LATENCIES["NVLink"]["Ring"], strict=True))
    rows = table("protocols.md", "from | to | b* of one hop")
    assert len(rows) == 3
    for first, second, size in rows:
        e1, e2 = PROTOCOLS[first].share, PROTOCOLS[second].share
        change = (latency[second] - latency[first]) * 1e-6 * RATE * e1 * e2 / (e2 - e1)
        assert float(size.removesuffix(" KB")) == pytest.approx(change / 1e3, abs=0.51)
        times = [1e-6 * latency[name] + change / (PROTOCOLS[name].share * RATE) for name in (first, second)]
        assert times[0] == pytest.approx(times[1])


def test_the_least_p_of_so_many_launches() -> None:
    for launches, least, enough in table("statistics.md", "launches | smallest p"):
        assert float(least) == pytest.approx(2.0 ** (1 - int(launches)), abs=6e-5)
        assert (enough == "yes") == (2.0 ** (1 - int(launches)) <= 0.05)
