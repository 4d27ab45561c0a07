"""What auto loses: found where it loses, near zero where it does not, whatever the scatter.

For: ringtree.tune.regret and the sizes of a check, on a made-up machine. Not for: printing (test_cli_tune.py).
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tune_support import FAR, NEAR, SUPPORT, MadeUpMachine, configuration, make_request

from ringtree.comm.profile_format import Configuration
from ringtree.tune.candidates import LEAVE_TO_ENGINE
from ringtree.tune.history import History
from ringtree.tune.measured import CellPlan, LaunchDone, Round, TuneLaunch
from ringtree.tune.regret import CellRegret, mean_regret, regrets, worst_regret
from ringtree.tune.request import unseen_sizes
from ringtree.tune.tuning import begin_or_resume, run
from ringtree.tune.world import World

SIZES = [1 << k for k in range(3, 19)]


@pytest.fixture(autouse=True)
def made_up_support(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ringtree.tune.candidates.support", lambda: SUPPORT)


def check(state: Path, machine: MadeUpMachine) -> list[CellRegret]:
    request = make_request(purpose="check", profile="profile.json", sizes=SIZES)
    header, stored = begin_or_resume(state, request, False)
    return regrets(request, run(state, header, stored, lambda launch, report: None, machine))


def alike(one: Configuration, size_bytes: int, num_ranks: int) -> float:
    """Everything takes the same, but poor, which takes 1.5 times as long."""
    return (1e-6 + size_bytes / 1e9) * (1.5 if one.algorithm == "poor" else 1.0)


def test_a_right_choice_has_no_regret_in_spite_of_many_equals(tmp_path: Path) -> None:
    machine = MadeUpMachine(alike, sigma=0.1, auto=lambda *cell: configuration("quick/simple"))
    found = check(tmp_path, machine)
    assert [one.size_bytes for one in found] == SIZES
    # The best of so many equals is luckier than auto by about its scatter, 10 %, over the root of the rounds. Chosen
    # and judged by the same rounds, regrets would be above 0 nearly everywhere.
    assert abs(mean_regret(found)) < 0.01
    assert sum(one.regret < 0 for one in found) >= 4
    assert {one.auto for one in found} == {"quick/simple"}


def test_a_wrong_choice_is_found_with_its_size(tmp_path: Path) -> None:
    def auto(collective: str, size: int, num_ranks: int) -> Configuration:
        return configuration("poor/simple" if size >= 1 << 16 else "quick/simple")

    found = check(tmp_path, MadeUpMachine(alike, sigma=0.02, auto=auto))
    for one in found:
        assert one.regret == pytest.approx(0.5 if one.size_bytes >= 1 << 16 else 0.0, abs=0.03)
        assert "poor" not in one.best
    assert worst_regret(found) == pytest.approx(0.5, abs=0.03)
    assert one.auto_seconds == pytest.approx(1.5 * (1e-6 + SIZES[-1] / 1e9), rel=0.5)


def test_rounds_of_moving_cores_count_where_there_are_no_others() -> None:
    """Each launch has two rounds under either placement, too few for a regret of its own."""
    request = make_request(purpose="check", profile="profile.json", sizes=[8])
    one = configuration("quick/simple")
    cell = CellPlan(collective="all_reduce", size_bytes=8, candidates=[LEAVE_TO_ENGINE, one])
    history = History()
    for number, stage in enumerate(("decide", "confirm")):
        fields = {"launch": number, "collective": "all_reduce", "size_bytes": 8}
        history.add(
            TuneLaunch(
                number=number,
                stage=stage,
                world=World(num_ranks=2),
                cells=[cell],
                seconds=1.0,
                min_sweeps=1,
                max_sweeps=1,
                drop_above=None,
            )
        )
        for i in range(4):
            seconds = {"auto": 1.1, one.label: 1.0}
            handoffs = [NEAR if i % 2 else FAR] * 3
            history.add(Round(**fields, round=i, seconds=seconds, handoffs=handoffs, wall_seconds=1.0))
        history.add(LaunchDone(launch=number, wall_seconds=4.0))
    assert history.placements(2).names == ("near", "far")
    (found,) = regrets(request, history)
    assert (found.placement, found.regret, found.num_rounds) == ("", pytest.approx(0.1), 8)


def test_sizes_of_a_check_were_not_measured() -> None:
    measured = [1 << k for k in range(3, 27)] + [3 << 10]
    sizes = unseen_sizes(measured)
    assert not set(sizes) & set(measured)
    assert all(size % 4 == 0 and 8 < size < 1 << 26 for size in sizes)
    assert len(sizes) >= 20
    assert 24 in sizes
    assert any(size % 8 for size in sizes), "not only what powers of two divide"
    assert unseen_sizes([4096]) == [4096]
