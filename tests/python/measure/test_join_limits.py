"""How long agents wait for each other, and what derives from it."""

from __future__ import annotations

import pytest

from ringtree.errors import UsageError
from ringtree.measure.join_limits import JOIN_LIMIT, JOIN_SECONDS, JoinLimits, join_limits, limits_of_a_refusal


@pytest.mark.parametrize("seconds", ["x", "0", "-1", "nan", "inf", "1e9", "9" * 5000])
def test_a_time_to_wait_that_is_none_is_refused(seconds: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(JOIN_SECONDS, seconds)
    with pytest.raises(UsageError, match=f"invalid RINGTREE_JOIN_SECONDS '{seconds[:40]}.*: give seconds"):
        join_limits()
    assert limits_of_a_refusal() == JoinLimits(), "who says so still has limits"


@pytest.mark.parametrize(("seconds", "limit"), [("", JOIN_LIMIT), ("20", 20.0), ("86400", 86400.0)])
def test_how_long_agents_wait(seconds: str, limit: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(JOIN_SECONDS, seconds)
    assert join_limits().join == limits_of_a_refusal().join == limit


@pytest.mark.parametrize(
    ("join", "tell", "listen", "disagree"),
    [(0.5, 0.5, 0.5, 0.5), (300.0, 30.0, 10.0, 6.0), (3000.0, 300.0, 100.0, 60.0)],
)
def test_all_limits_follow_the_one_that_a_user_sets(join: float, tell: float, listen: float, disagree: float) -> None:
    limits = JoinLimits(join)
    assert (limits.tell, limits.listen, limits.disagree) == pytest.approx((tell, listen, disagree))
