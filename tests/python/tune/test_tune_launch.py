"""Tuning with real ranks: what is measured becomes a profile that a communicator runs by; failures name the rank.

For: ringtree.tune.launch, and the way from tune to auto. Not for: which choice is right.
"""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from forked_ranks import forked_ranks
from lab_support import children_of, is_running, start_ringtree, wait_until
from profile_support import make_profile, make_table
from tune_support import configuration, make_request

import ringtree
from ringtree.comm.profile import load, own_cores
from ringtree.comm.profile_format import Configuration, Profile, ProfileRule
from ringtree.measure.messages import ProgressReport
from ringtree.measure.rank_group import LaunchFailed
from ringtree.traits import COLLECTIVES
from ringtree.tune.build import build_profile
from ringtree.tune.candidates import LEAVE_TO_ENGINE
from ringtree.tune.history import History
from ringtree.tune.launch import measure_launch
from ringtree.tune.measured import CellPlan, Chosen, Dropped, Measured, Round, TuneLaunch
from ringtree.tune.plan import STAGES
from ringtree.tune.regret import regrets
from ringtree.tune.tuning import begin_or_resume, run, unfinished
from ringtree.tune.which import explain
from ringtree.tune.world import World

__all__ = ["forked_ranks"]

pytestmark = pytest.mark.slow
SIZES = [8, 128 << 10]


@pytest.fixture(autouse=True, scope="module")
def few_candidates() -> Iterator[None]:
    """Four candidates a collective: what is made of them matters here, not how many there are."""
    everything = [row for row in ringtree.support() if not row[3]]
    few = [row for of in ("all_reduce", "all_gather") for row in [one for one in everything if one[0] == of][:4]]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ringtree.tune.candidates.support", lambda: few)
        yield


@pytest.fixture(scope="module")
def tuned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Profile]:
    """A profile of all_reduce and all_gather for two ranks, measured in the least time."""
    folder = tmp_path_factory.mktemp("tuned")
    request = make_request(collectives=["all_reduce", "all_gather"], sizes=SIZES, budget=1.0)
    header, stored = begin_or_resume(folder / "state", request, False)
    profile = build_profile(header, run(folder / "state", header, stored, lambda launch, report: None))
    (folder / "profile.json").write_text(profile.model_dump_json(indent=1))
    return folder / "profile.json", profile


def test_every_cell_was_measured_with_its_own_result_verified(tuned: tuple[Path, Profile]) -> None:
    profile = tuned[1]
    assert [(table.collective, table.num_ranks) for table in profile.tables] == [("all_reduce", 2), ("all_gather", 2)]
    for table in profile.tables:
        assert {size.size_bytes for size in table.sizes} >= set(SIZES)
        assert all(size.candidates and sum(size.num_rounds.values()) >= 5 for size in table.sizes)
    assert profile.wall_seconds > 0


def test_auto_runs_what_the_profile_says(tuned: tuple[Path, Profile]) -> None:
    path, profile = tuned
    by_size = {size: profile.tables[0].rule_for(size).configuration for size in (8, 2048, 1 << 20)}

    def executed(comm: ringtree.Communicator) -> list[tuple[str, str]]:
        found = []
        for size in by_size:
            comm.all_reduce(np.ones(size // 4, dtype=np.float32))
            found.append((comm.last_call()["algorithm"], comm.last_call()["protocol"]))
        return found

    wanted = [(one.algorithm, one.protocol) for one in by_size.values()]
    assert ringtree.run(executed, 2, profile=str(path)) == [wanted, wanted]
    choice = ringtree.run(lambda comm: comm.choice("all_reduce", 512), 2, profile=str(path))[0]
    assert choice.slice_bytes == by_size[2048].slice_bytes
    assert "profile" in choice.reason
    assert explain(load(path), "all_reduce", 2, 2048).configuration == by_size[2048]


def test_numbers_of_ranks_that_were_not_tuned_are_the_models(tuned: tuple[Path, Profile]) -> None:
    (reason, *_) = ringtree.run(lambda comm: comm.choice("all_reduce", 512).reason, 3, profile=str(tuned[0]))
    assert "model" in reason


def test_a_check_measures_auto_beside_the_candidates(tuned: tuple[Path, Profile], tmp_path: Path) -> None:
    path, profile = tuned
    request = make_request(purpose="check", profile=str(path), sizes=[96], budget=1.0)
    header, stored = begin_or_resume(tmp_path / "state", request, False)
    history = run(tmp_path / "state", header, stored, lambda launch, report: None)
    found = regrets(request, history)
    assert {one.size_bytes for one in found} == {96}
    for one in found:
        assert one.auto == profile.tables[0].rule_for(one.size_bytes).configuration.label
        assert one.regret > -1
        assert one.auto_seconds > 0


def test_every_collective_is_measured_and_right_with_real_ranks() -> None:
    cells = [
        CellPlan(collective=collective, size_bytes=size, candidates=[configuration(f"{algorithm}/simple")])
        for collective in COLLECTIVES
        for algorithm in ringtree.algorithms.names(collective)[:1]
        for size in (96, 96 << 10)
    ]
    launch = TuneLaunch(
        number=0,
        stage="decide",
        world=World(num_ranks=3),
        cells=cells,
        seconds=0.0,
        min_sweeps=1,
        max_sweeps=1,
        drop_above=None,
    )
    said: list[Measured | ProgressReport] = []
    measure_launch(make_request(ranks=[3], collectives=list(COLLECTIVES)), launch, 0, said.append)
    assert [one for one in said if isinstance(one, Dropped)] == []
    measured = {(one.collective, one.size_bytes) for one in said if isinstance(one, Round)}
    assert measured == {(cell.collective, cell.size_bytes) for cell in cells}


@pytest.fixture
def two_kinds(tmp_path: Path) -> tuple[Path, Profile]:
    """A profile whose rules differ with the buffers."""
    labels = [f"{algorithm}/{protocol}" for of, algorithm, protocol, _ in ringtree.support() if of == "all_reduce"]
    tables = [
        make_table(
            own_cores=own_cores(2),
            shared_buffers=shared_buffers,
            rules=[ProfileRule(until_bytes=None, configuration=configuration(label))],
        )
        for shared_buffers, label in zip((False, True), labels, strict=False)
    ]
    path, profile = tmp_path / "profile.json", make_profile(tables=tables)
    path.write_text(profile.model_dump_json())
    return path, profile


@pytest.mark.parametrize("shared_buffers", [False, True])
def test_auto_runs_the_rules_for_its_buffers(two_kinds: tuple[Path, Profile], shared_buffers: bool) -> None:
    path, profile = two_kinds
    for kept in (profile.tables, profile.tables[:1], profile.tables[1:]):
        some = profile.model_copy(update={"tables": kept})
        path.write_text(some.model_dump_json())
        (found, _) = ringtree.run(
            lambda comm: comm.choice("all_reduce", 512), 2, profile=str(path), shared_buffers=shared_buffers
        )
        table = some.table("all_reduce", 2, own_cores(2), shared_buffers)
        if table is None:
            assert "model" in found.reason
        else:
            chosen = table.rule_for(2048).configuration
            assert (found.algorithm, found.protocol) == (chosen.algorithm, chosen.protocol)


@pytest.mark.parametrize("shared_buffers", [False, True])
def test_a_launch_measures_auto_as_it_chooses_for_its_buffers(
    two_kinds: tuple[Path, Profile], shared_buffers: bool
) -> None:
    path, profile = two_kinds
    wanted = profile.tables[int(shared_buffers)].rules[0].configuration
    launch = TuneLaunch(
        number=0,
        stage=STAGES[0].name,
        world=World(num_ranks=2, shared_buffers=shared_buffers),
        cells=[CellPlan(collective="all_reduce", size_bytes=128 << 10, candidates=[LEAVE_TO_ENGINE, wanted])],
        seconds=0.0,
        min_sweeps=1,
        max_sweeps=1,
        drop_above=None,
    )
    said: list[Measured | ProgressReport] = []
    measure_launch(make_request(purpose="check", profile=str(path)), launch, 0, said.append)
    assert [one.label for one in said if isinstance(one, Chosen)] == [wanted.label]
    assert not [one for one in said if isinstance(one, Dropped)]
    assert [set(one.seconds) for one in said if isinstance(one, Round)] == [{"auto", wanted.label}] * 2


def test_what_the_engine_refuses_is_dropped_on_all_ranks() -> None:
    request = make_request(sizes=[1024])
    (good, *_) = [one for one in ringtree.support() if one[0] == "all_reduce" and not one[3]]
    candidates = [
        Configuration(algorithm=good[1], protocol=good[2]),
        Configuration(algorithm="no_such", protocol=good[2]),
    ]
    launch = TuneLaunch(
        number=0,
        stage=STAGES[0].name,
        world=World(num_ranks=2),
        cells=[CellPlan(collective="all_reduce", size_bytes=1024, candidates=candidates)],
        seconds=0.0,
        min_sweeps=1,
        max_sweeps=1,
        drop_above=None,
    )
    said: list[Measured | ProgressReport] = []
    measure_launch(request, launch, 0, said.append)
    dropped = [one for one in said if isinstance(one, Dropped)]
    assert [one.label for one in dropped] == [f"no_such/{good[2]}"]
    assert "unknown arm 'no_such/" in dropped[0].reason
    rounds = [one for one in said if isinstance(one, Round)]
    assert len(rounds) == 4
    assert all(list(one.seconds) == [candidates[0].label] for one in rounds)
    assert not [one for one in said if isinstance(one, Chosen)]


def test_a_launch_that_fails_names_its_stage_and_leaves_nothing_running(monkeypatch: pytest.MonkeyPatch) -> None:
    before = set(children_of(os.getpid()))
    monkeypatch.setattr("ringtree.measure.rank_group.RANK_ENVIRONMENT", {"PYTHONHASHSEED": "nonsense"})
    request = make_request(sizes=[1024])
    launch = TuneLaunch(
        number=0,
        stage="screen",
        world=World(num_ranks=2),
        cells=[],
        seconds=0.0,
        min_sweeps=1,
        max_sweeps=1,
        drop_above=None,
    )
    with pytest.raises(LaunchFailed, match=r"screen with 2 ranks failed: rank 0 \(pid \d+\) .*PYTHONHASHSEED"):
        measure_launch(request, launch, 0, lambda said: None)
    assert set(children_of(os.getpid())) <= before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_tuning_that_is_stopped_keeps_its_rounds_and_leaves_no_rank(tmp_path: Path, number: signal.Signals) -> None:
    place = tmp_path / "profile.json"
    state = tmp_path / "profile.json.tuning"
    process = start_ringtree("tune", "--ranks", "2", "--sizes", "8:64K", "--budget", "60s", "-o", str(place))
    try:
        file = state / "tuning.jsonl"
        assert wait_until(lambda: file.exists() and b'"kind":"round"' in file.read_bytes(), 120) is not None
        ranks = children_of(process.pid)
        assert len(ranks) >= 2
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
    finally:
        process.kill()
    assert wait_until(lambda: not any(is_running(rank) for rank in ranks), 20) is not None
    assert not place.exists()
    if number == signal.SIGINT:
        assert process.returncode == 130
        (line,) = [line for line in said.splitlines() if line.startswith("ringtree: ")]
        assert re.search(rf"[0-9]+ rounds? stored in {state}; repeat the command to continue$", line)
    stored = unfinished(state)
    assert stored is not None
    assert History(stored.lines).num_rounds > 0
