"""Ratios from rounds: the right candidate wins through common disturbances, placements are kept apart.

For: ringtree.tune.scores. Not for: choices along sizes (test_tune_rules.py).
"""

from __future__ import annotations

import numpy as np
import pytest
from tune_support import FAR, NEAR

from ringtree.stats import Placements
from ringtree.tune.scores import TimedRound, score

ONE = Placements()
TWO = Placements((1e-7,))


def test_a_disturbance_that_meets_a_whole_round_changes_nothing() -> None:
    random = np.random.default_rng(3)
    rounds = [TimedRound({"a": 1.0 * slow, "b": 1.1 * slow, "c": 2.0 * slow}) for slow in random.lognormal(0, 1, 9)]
    scores = score(rounds, ["c", "b", "a"], ONE)
    assert scores is not None
    assert scores.labels == ["a", "b", "c"]
    assert scores.ratios[""] == pytest.approx({"a": 1.0, "b": 1.1, "c": 2.0})
    assert scores.num_rounds == {"": 9}


def test_a_candidate_that_was_disturbed_now_and_then_still_wins() -> None:
    rounds = [TimedRound({"a": 30.0 if i % 3 == 0 else 1.0, "b": 1.2}) for i in range(9)]
    scores = score(rounds, ["a", "b"], ONE)
    assert scores is not None
    assert scores.labels[0] == "a"
    # Pooled means would say the opposite, so the test could tell.
    assert np.mean([one.seconds["a"] for one in rounds]) > 1.2


def test_what_is_worst_in_one_placement_is_not_chosen() -> None:
    near = [TimedRound({"sprinter": 1.0, "steady": 1.1, "loser": 3.0}, [NEAR, NEAR])] * 4
    far = [TimedRound({"sprinter": 9.0, "steady": 5.5, "loser": 5.0}, [FAR, FAR])] * 3
    scores = score([*near, *far], ["sprinter", "steady", "loser"], TWO)
    assert scores is not None
    assert scores.num_rounds == {"far": 3, "near": 4}
    assert [scores.worst(label) for label in ("sprinter", "steady", "loser")] == pytest.approx([1.8, 1.1, 3.0])
    assert scores.labels[0] == "steady"
    assert scores.seconds["far"]["steady"] == pytest.approx(5.5)
    # Each placement's fastest goes on, however far apart the two are.
    assert sorted(scores.kept(1.01, 1)) == ["loser", "sprinter"]
    assert sorted(scores.kept(1.2, 9)) == ["loser", "sprinter", "steady"]


def test_rounds_in_which_the_cores_moved_count_only_where_nothing_else_does() -> None:
    moved = [TimedRound({"a": 1.0, "b": 2.0}, [NEAR, FAR])] * 5
    scores = score(moved, ["a", "b"], TWO)
    assert scores is not None
    assert scores.num_rounds == {"": 5}
    few = [TimedRound({"a": 2.0, "b": 1.0}, [NEAR, NEAR])] * 2
    scores = score([*few, *moved], ["a", "b"], TWO)
    assert scores is not None
    assert scores.num_rounds == {"": 7}
    scores = score([*few, few[0], *moved], ["a", "b"], TWO)
    assert scores is not None
    assert scores.num_rounds == {"near": 3}
    assert scores.labels[0] == "b"


def test_errors_tell_how_often_a_ratio_is_off() -> None:
    """Standard errors against what many cells of one machine really scatter by."""
    random = np.random.default_rng(8)
    found, said = [], []
    for _ in range(300):
        times = np.exp(random.normal([0.0, 0.3, 0.3], 0.1, (15, 3)) + random.normal(0, 1, (15, 1)))
        scores = score([TimedRound(dict(zip("abc", row, strict=True))) for row in times.tolist()], ["a", "b", "c"], ONE)
        assert scores is not None
        found.append(np.log(scores.ratios[""]["b"]))
        said.append(scores.errors[""]["b"])
        assert scores.errors[""]["a"] == 0.0
    assert np.median(said) == pytest.approx(np.std(found), rel=0.25)


def test_who_may_be_near_is_kept() -> None:
    steady = [TimedRound({"a": 1.0, "b": 1.2})] * 4
    scores = score(steady, ["a", "b"], ONE)
    assert scores is not None
    assert scores.kept(1.1, 9) == ["a"]
    shaky = [TimedRound({"a": 1.0, "b": 1.2 * factor}) for factor in (0.8, 0.9, 1.1, 1.3)]
    scores = score(shaky, ["a", "b"], ONE)
    assert scores is not None
    assert scores.kept(1.1, 9) == ["a", "b"]
    assert scores.kept(1.1, 1) == ["a"]


def test_rounds_without_probes_belong_to_no_placement() -> None:
    probed, not_probed = TimedRound({"a": 1.0, "b": 2.0}, [NEAR]), TimedRound({"a": 2.0, "b": 1.0})
    scores = score([probed] * 3 + [not_probed] * 4, ["a", "b"], TWO)
    assert scores is not None
    assert scores.num_rounds == {"near": 3}
    scores = score([probed] * 3 + [not_probed] * 4, ["a", "b"], ONE)
    assert scores is not None
    assert scores.num_rounds == {"": 7}


def test_only_rounds_that_hold_all_candidates_are_compared() -> None:
    rounds = [TimedRound({"a": 1.0}), TimedRound({"a": 5.0, "b": 4.0}), TimedRound({"b": 9.0})]
    scores = score(rounds, ["a", "b"], ONE)
    assert scores is not None
    assert (scores.labels[0], scores.num_rounds) == ("b", {"": 1})
    assert score(rounds, ["a", "b", "c"], ONE) is None
    assert score(rounds, [], ONE) is None


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan"), float("inf")])
def test_times_are_positive_and_finite(seconds: float) -> None:
    with pytest.raises(ValueError, match="positive and finite"):
        TimedRound({"a": seconds})
