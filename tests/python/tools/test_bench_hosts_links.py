"""α and β of links, shares of a rate, and where the model has algorithms change places: from made-up times."""

from __future__ import annotations

import pytest
from bench.hosts.crossover import predict, seconds
from bench.hosts.links import LARGE, MIDDLE, SMALL, link_of
from bench.hosts.rate import ACKNOWLEDGED_SHARE, PAYLOAD_SHARE, most, share_of

from ringtree.errors import RingtreeError

ALPHA, BETA = 1e-3, 1e6


def one_way(alpha: float = ALPHA, beta: float = BETA) -> dict[int, list[float]]:
    return {size: [alpha + size / beta] * 8 for size in (SMALL, MIDDLE, LARGE)}


def test_alpha_and_beta_are_those_of_the_times() -> None:
    link = link_of(one_way())
    assert link.alpha.median == pytest.approx(ALPHA, rel=0.01)
    assert link.beta.median == pytest.approx(BETA)
    assert link.alpha.num_launches == 8


def test_times_that_do_not_grow_are_no_link() -> None:
    with pytest.raises(RingtreeError, match="not times of a link"):
        link_of({size: [1.0] * 8 for size in (SMALL, MIDDLE, LARGE)})


def test_shares_of_a_rate() -> None:
    assert pytest.approx(1448 / 1514) == PAYLOAD_SHARE
    assert PAYLOAD_SHARE > ACKNOWLEDGED_SHARE > 0.93
    assert share_of(16 << 20, 16 * 2**20 * 8 / 1e9, 2) == pytest.approx(1.0), "two ranks send each a whole vector"
    assert share_of(16 << 20, 1.5 * 16 * 2**20 * 8 / 1e9, 4) == pytest.approx(1.0)
    at_most = [most(16 << 20, 2), most(16 << 20, 4), most(256 << 20, 4)]
    assert at_most == sorted(at_most, reverse=True), "a burst counts for less where more is sent"
    assert at_most[0] < 1.0
    assert at_most[-1] > PAYLOAD_SHARE


def test_the_model_has_the_tree_ahead_below_and_the_ring_above() -> None:
    predicted = predict("tree", "ring", 4, 1, link_of(one_way()))
    assert predicted is not None
    assert predicted.faster_below == "tree"
    assert predicted.low <= predicted.estimate <= predicted.high
    for size, first in ((predicted.estimate / 2, "tree"), (predicted.estimate * 2, "ring")):
        times = {name: seconds(name, 4, 1, int(size), ALPHA, BETA) for name in ("tree", "ring")}
        assert min(times, key=times.__getitem__) == first


def test_an_uncertain_link_makes_the_prediction_a_range() -> None:
    times = one_way()
    times[SMALL] = [ALPHA * (1 + 0.1 * block) for block in range(8)]
    predicted = predict("tree", "ring", 4, 1, link_of(times))
    assert predicted is not None
    assert predicted.low < predicted.estimate < predicted.high


def test_an_algorithm_does_not_change_places_with_itself() -> None:
    assert predict("ring", "ring", 4, 1, link_of(one_way())) is None
