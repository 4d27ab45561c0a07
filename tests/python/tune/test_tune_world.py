"""Worlds of a tuning: which are asked for, what is measured in them, and the rules for shared buffers that come of it.

For: ringtree.tune.world and what the request, the plan, the profile and a check make of it, on a made-up machine. Not
for: real ranks (test_tune_launch.py).
"""

from __future__ import annotations

from pathlib import Path

import pytest
from profile_support import make_profile, make_table
from tune_support import FAR, NEAR, SUPPORT, MadeUpMachine, configuration, make_request, true_seconds

from ringtree.comm.profile import own_cores
from ringtree.comm.profile_format import Configuration, Profile
from ringtree.errors import UsageError
from ringtree.measure.estimate import start_seconds
from ringtree.tune import request as requests
from ringtree.tune.build import build_profile
from ringtree.tune.history import History
from ringtree.tune.measured import LaunchDone, Round, TuneLaunch, TuneRequest
from ringtree.tune.plan import STAGES, next_launch, num_launches
from ringtree.tune.regret import regrets
from ringtree.tune.tuning import begin_or_resume, run
from ringtree.tune.world import SHARED_FROM, World

SIZES = [1 << k for k in range(3, 25, 2)]
TWO, TWO_SHARED = World(num_ranks=2), World(num_ranks=2, shared_buffers=True)


@pytest.fixture(autouse=True)
def made_up_support(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ringtree.tune.candidates.support", lambda: SUPPORT)


@pytest.fixture
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "own_cores", lambda num_ranks: num_ranks <= 2)


def poor_is_best(one: Configuration, size_bytes: int, num_ranks: int) -> float:
    """With shared buffers what is never chosen otherwise wins at every size."""
    return true_seconds(one, size_bytes, num_ranks) * (0.1 if one.algorithm == "poor" else 1.0)


def tune(state: Path, request: TuneRequest, machine: MadeUpMachine) -> tuple[Profile, History]:
    header, stored = begin_or_resume(state, request, False)
    history = run(state, header, stored, lambda launch, report: None, machine)
    return build_profile(header, history), history


def asked(
    buffers: str | None, ranks: str = "2,4", collectives: str = "all_reduce", sizes: str = "8:1M"
) -> list[tuple[int, bool]]:
    request = requests.make_request(requests.Asked(ranks, collectives, sizes, buffers, "10s", 1))
    return [(world.num_ranks, world.shared_buffers) for world in request.worlds]


@pytest.mark.usefixtures("two_cores")
def test_shared_buffers_are_tuned_where_every_rank_has_a_core() -> None:
    assert asked(None) == [(2, False), (4, False), (2, True)]
    assert asked("private") == [(2, False), (4, False)]
    assert asked("shared") == [(2, True), (4, True)], "what is asked for is done"
    assert asked(" shared,private") == [(2, False), (4, False), (2, True), (4, True)]


@pytest.mark.usefixtures("two_cores")
def test_no_ranks_are_started_for_shared_buffers_that_have_nothing_to_measure() -> None:
    assert asked(None, collectives="broadcast") == [(2, False), (4, False)]
    assert asked(None, sizes="8:512") == [(2, False), (4, False)]
    assert asked("shared", sizes="8:512") == [(2, True), (4, True)], "nobody else measures these sizes"
    for options in ({"collectives": "broadcast"}, {"sizes": "8:512"}):
        with pytest.raises(
            UsageError, match=r"tuned only for all_reduce, and together with private ones only from 1 KB up"
        ):
            asked("private,shared", **options)
    with pytest.raises(UsageError, match="'common' are not buffers; choose from: private, shared"):
        asked("private,common")


def test_a_world_says_who_it_is() -> None:
    assert [world.words for world in (TWO, TWO_SHARED)] == ["2 ranks", "2 ranks and shared buffers"]
    assert TWO_SHARED.private == TWO


def test_a_shared_world_gets_half_the_time_of_a_private_one() -> None:
    request, history, taken = make_request([2, 4], [2, 4], sizes=[1024], budget=1000.0), History(), list[float]()
    for number in range(4):
        launch = next_launch(request, history)
        assert launch is not None
        taken.append(launch.seconds + start_seconds(launch.world.num_ranks, "numpy"))
        history.add(launch)
        history.add(LaunchDone(launch=number, wall_seconds=taken[-1]))
    assert [seconds / taken[0] for seconds in taken] == pytest.approx([1.0, 1.5, 0.5, 0.75])


def test_shared_buffers_get_rules_of_their_own_and_small_sizes_those_of_private_ones(tmp_path: Path) -> None:
    request = make_request(shared=[2], collectives=["all_reduce", "broadcast"])
    machine = MadeUpMachine(shared=poor_is_best)
    profile, _ = tune(tmp_path / "state", request, machine)
    assert [(table.collective, table.shared_buffers) for table in profile.tables] == [
        ("all_reduce", False),
        ("all_reduce", True),
        ("broadcast", False),
    ]
    assert [launch.world for launch in machine.launches] == [TWO, TWO_SHARED] * len(STAGES)
    cells = {
        (cell.collective, cell.size_bytes >= SHARED_FROM)
        for launch in machine.launches
        if launch.world == TWO_SHARED
        for cell in launch.cells
    }
    assert cells == {("all_reduce", True)}
    private, shared, _ = profile.tables
    for size in SIZES:
        runs = shared.rule_for(size).configuration
        if size < SHARED_FROM:
            assert runs == private.rule_for(size).configuration
        else:
            assert runs.algorithm == "poor"
    small = [one for one in private.sizes if one.size_bytes < SHARED_FROM]
    assert [one for one in shared.sizes if one.size_bytes < SHARED_FROM] == small
    assert {one.size_bytes for one in shared.sizes} >= set(SIZES)
    assert not any(rule.configuration.algorithm == "poor" for rule in private.rules)


def test_without_private_buffers_all_sizes_are_measured_with_shared_ones(tmp_path: Path) -> None:
    profile, _ = tune(tmp_path / "state", make_request([], [2]), MadeUpMachine(shared=poor_is_best))
    (table,) = profile.tables
    assert table.shared_buffers
    assert table.sizes[0].size_bytes == 8
    assert {rule.configuration.algorithm for rule in table.rules} == {"poor"}


@pytest.mark.parametrize("stop_after", [0, 60, 300])
def test_an_interrupted_tuning_goes_on_with_both_kinds(tmp_path: Path, stop_after: int) -> None:
    request = make_request(shared=[2], sizes=[8, 1024, 1 << 20])
    _, wanted = tune(tmp_path / "whole", request, MadeUpMachine(shared=poor_is_best))
    machine = MadeUpMachine(shared=poor_is_best)
    machine.stop_after = stop_after
    with pytest.raises(KeyboardInterrupt, match=f"{stop_after} rounds stored"):
        tune(tmp_path / "state", request, machine)
    with pytest.raises(UsageError, match=r"all_reduce with 2 ranks, 2 ranks and shared buffers, 8 B–1 MB is stored in"):
        tune(tmp_path / "state", make_request(sizes=request.sizes), machine)
    machine.stop_after = None
    profile, history = tune(tmp_path / "state", request, machine)
    assert 0 <= history.num_rounds - wanted.num_rounds < 10, "only the interrupted sweep is measured again"
    assert len({launch.number for launch in machine.launches}) == num_launches(request) == 2 * len(STAGES)
    assert [table.rule_for(1 << 20).configuration.algorithm for table in profile.tables] == ["wide", "poor"]


def test_a_check_takes_the_kinds_that_the_profile_has(tmp_path: Path) -> None:
    own = own_cores(2)
    tables = [make_table(own_cores=own), make_table(own_cores=own, shared_buffers=True)]
    profile = make_profile(tables=[*tables, make_table(own_cores=not own, num_ranks=3, shared_buffers=True)])

    def worlds(buffers: str | None, of: Profile = profile) -> list[World]:
        asked = requests.Asked(ranks="2", buffers=buffers, budget="10s", seed=1)
        return requests.check_request(of, "profile.json", asked).worlds

    assert worlds(None) == [TWO, TWO_SHARED]
    assert worlds("shared") == [TWO_SHARED]
    assert worlds(None, make_profile(tables=tables[:1])) == [TWO]
    with pytest.raises(UsageError, match=r"profile\.json holds no rules for these ranks and buffers"):
        worlds("shared", make_profile(tables=tables[:1]))


def test_a_choice_that_is_wrong_for_shared_buffers_only_is_found_there(tmp_path: Path) -> None:
    """What auto runs is right with private buffers, and takes twice as long as the best with shared ones."""

    def shared(one: Configuration, size_bytes: int, num_ranks: int) -> float:
        return 1e-5 * (2.0 if one.label == "quick/simple" else 1.0)

    def private(one: Configuration, size_bytes: int, num_ranks: int) -> float:
        return 1e-5 * (1.0 if one.label == "quick/simple" else 2.0)

    machine = MadeUpMachine(private, 0.02, auto=lambda *cell: configuration("quick/simple"), shared=shared)
    request = make_request(shared=[2], purpose="check", profile="profile.json", sizes=[8, 1536, 6144])
    _, history = tune(tmp_path / "state", request, machine)
    found = {(one.shared_buffers, one.size_bytes): one.regret for one in regrets(request, history)}
    assert list(found) == [(False, 8), (False, 1536), (False, 6144), (True, 1536), (True, 6144)]
    for (shared_buffers, _), regret in found.items():
        assert regret == pytest.approx(1.0 if shared_buffers else 0.0, abs=0.05)


def test_placements_of_the_cores_are_those_of_all_rounds_with_so_many_ranks() -> None:
    history = History()
    for number, (world, handoff) in enumerate(((TWO, NEAR), (TWO_SHARED, FAR), (World(num_ranks=4), FAR))):
        history.add(
            TuneLaunch(
                number=number,
                stage="screen",
                world=world,
                cells=[],
                seconds=1.0,
                min_sweeps=1,
                max_sweeps=1,
                drop_above=None,
            )
        )
        fields = {"launch": number, "collective": "all_reduce", "size_bytes": 1024, "seconds": {"a": 1.0}}
        for i in range(8):
            history.add(Round(**fields, round=i, handoffs=[handoff] * 3, wall_seconds=1.0))
    assert history.placements(2).names == ("near", "far")
    assert history.placements(4).names == ()
