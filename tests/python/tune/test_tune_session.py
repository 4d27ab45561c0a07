"""A whole tuning on a made-up machine: the rules are right, and an interruption loses nothing.

For: ringtree.tune.tuning, plan, history, build and state together. Not for: ranks (test_tune_rounds.py).
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tune_support import SUPPORT, MadeUpMachine, configuration, make_request, true_seconds

from ringtree.comm.profile_format import Configuration, Profile
from ringtree.errors import RingtreeError, UsageError
from ringtree.tune.build import build_profile
from ringtree.tune.history import History
from ringtree.tune.measured import Dropped, TuneLaunch, TuneRequest
from ringtree.tune.plan import STAGES, num_launches
from ringtree.tune.request import unseen_sizes
from ringtree.tune.state import STATE_FILE, read_state
from ringtree.tune.tuning import begin_or_resume, run


@pytest.fixture(autouse=True)
def made_up_support(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ringtree.tune.candidates.support", lambda: SUPPORT)


def tune(state: Path, request: TuneRequest, machine: MadeUpMachine, fresh: bool = False) -> tuple[Profile, History]:
    header, stored = begin_or_resume(state, request, fresh)
    history = run(state, header, stored, lambda launch, report: None, machine)
    return build_profile(header, history), history


def best_seconds(size: int, num_ranks: int) -> float:
    return min(
        true_seconds(
            Configuration(algorithm=algorithm, protocol=protocol, streaming=streaming, slice_bytes=slice_bytes),
            size,
            num_ranks,
        )
        for _, algorithm, protocol, reason in SUPPORT
        if not reason
        for streaming in (False, True)
        for slice_bytes in (0, 16 << 10)
    )


def test_the_rules_are_nearly_best_at_sizes_that_were_not_measured(tmp_path: Path) -> None:
    profile, history = tune(tmp_path / "state", make_request(ranks=[2, 8]), MadeUpMachine())
    assert [table.num_ranks for table in profile.tables] == [2, 8]
    assert all(3 <= len(table.rules) <= 5 for table in profile.tables)
    for table in profile.tables:
        measured = [one.size_bytes for one in table.sizes]
        losses = [
            true_seconds(table.rule_for(size).configuration, size, table.num_ranks)
            / best_seconds(size, table.num_ranks)
            - 1
            for size in unseen_sizes(measured)
        ]
        assert len(losses) > 15
        assert max(losses) < 0.10
        assert sum(losses) / len(losses) < 0.03
    assert "poor" not in profile.rules_text()
    assert history.wall_seconds >= 0


def test_where_the_choice_changes_a_size_is_added(tmp_path: Path) -> None:
    profile, _ = tune(tmp_path / "state", make_request(), MadeUpMachine())
    asked = set(make_request().sizes)
    added = [one.size_bytes for one in profile.tables[0].sizes if one.size_bytes not in asked]
    assert added
    # quick is overtaken by wide where 1 us + s/4 GB/s = 4 us + s/10 GB/s: at 20,000 bytes.
    assert any(8192 < size < 32768 for size in added)


def test_losers_are_dropped_early_and_variants_come_late(tmp_path: Path) -> None:
    machine = MadeUpMachine()
    tune(tmp_path / "state", make_request(), machine)
    assert [launch.stage for launch in machine.launches] == [stage.name for stage in STAGES]
    count = {
        launch.stage: {cell.size_bytes: len(cell.candidates) for cell in launch.cells} for launch in machine.launches
    }
    assert count["screen"][1 << 23] == 5
    assert count["variants"][1 << 23] == 8, "wide/simple with four slice sizes, ordinary and streaming"
    assert count["confirm"][1 << 23] <= 6, "four, and the choices of two neighbours"
    assert count["variants"][8] == 1, "quick/ll wins clearly, and slices can't matter"
    assert all(not one.slice_bytes and not one.streaming for one in machine.launches[0].cells[-1].candidates)


def test_equal_candidates_make_one_rule(tmp_path: Path) -> None:
    machine = MadeUpMachine(lambda one, size, ranks: 1e-6 + size / 1e9, sigma=0.02)
    profile, _ = tune(tmp_path / "state", make_request(sizes=[1 << k for k in range(3, 15)]), machine)
    assert len(profile.tables[0].rules) <= 2, "noise must not make a rule for every size"


@pytest.mark.parametrize("stop_after", [0, 1, 100, 300])
def test_an_interrupted_tuning_goes_on(tmp_path: Path, stop_after: int) -> None:
    state, request = tmp_path / "state", make_request(sizes=[8, 1024, 1 << 20])
    whole, wanted = tune(tmp_path / "whole", request, MadeUpMachine())
    machine = MadeUpMachine()
    machine.stop_after = stop_after
    with pytest.raises(
        KeyboardInterrupt, match=f"{stop_after} rounds? stored in {state}; repeat the command to continue"
    ):
        tune(state, request, machine)
    stored = read_state(state)
    assert stored is not None
    assert History(stored.lines).num_rounds == stop_after
    machine.stop_after = None
    profile, history = tune(state, request.model_copy(update={"seed": 99}), machine)
    assert profile.seed == request.seed, "it goes on with its own seed"
    assert 0 <= history.num_rounds - wanted.num_rounds < 10, "only the interrupted sweep is measured again"
    assert len({launch.number for launch in machine.launches}) == num_launches(request)
    assert profile.tables[0].rules[0].configuration == whole.tables[0].rules[0].configuration


def test_a_torn_line_is_dropped(tmp_path: Path) -> None:
    state, request, machine = tmp_path / "state", make_request(sizes=[8]), MadeUpMachine()
    machine.stop_after = 10
    with pytest.raises(KeyboardInterrupt):
        tune(state, request, machine)
    file = state / STATE_FILE
    file.write_bytes(file.read_bytes()[:-5])
    stored = read_state(state)
    assert stored is not None
    assert History(stored.lines).num_rounds == 9
    machine.stop_after = None
    tune(state, request, machine)
    again = read_state(state)
    assert again is not None
    assert again.lines[: len(stored.lines)] == stored.lines


def test_an_interrupted_tuning_of_something_else_is_not_overwritten(tmp_path: Path) -> None:
    state, machine = tmp_path / "state", MadeUpMachine()
    machine.stop_after = 5
    with pytest.raises(KeyboardInterrupt):
        tune(state, make_request(), machine)
    machine.stop_after = None
    with pytest.raises(UsageError, match=r"all_reduce with 2 ranks, 8 B–8 MB is stored in .*--resume.*--fresh"):
        tune(state, make_request(ranks=[3]), machine)
    profile, _ = tune(state, make_request(ranks=[3]), machine, fresh=True)
    assert [table.num_ranks for table in profile.tables] == [3]
    with pytest.raises(UsageError, match="no interrupted tuning"):
        begin_or_resume(state, None, False)


def test_a_tuning_under_other_conditions_does_not_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state, machine = tmp_path / "state", MadeUpMachine()
    machine.stop_after = 5
    with pytest.raises(KeyboardInterrupt):
        tune(state, make_request(), machine)
    header, stored = begin_or_resume(state, None, False)
    assert (header.request, stored is not None) == (make_request(), True)
    monkeypatch.setenv("RINGTREE_MADE_UP", "1")
    with pytest.raises(UsageError, match=r"RINGTREE_MADE_UP was not set .* and is 1; discard it with --fresh"):
        begin_or_resume(state, None, False)


def test_a_finished_tuning_is_begun_anew(tmp_path: Path) -> None:
    state, request = tmp_path / "state", make_request(sizes=[8])
    tune(state, request, MadeUpMachine())
    assert begin_or_resume(state, request, False)[1] is None


def test_a_damaged_state_is_named(tmp_path: Path) -> None:
    state, request = tmp_path / "state", make_request(sizes=[8])
    tune(state, request, MadeUpMachine())
    file = state / STATE_FILE
    text = file.read_text()
    file.write_text(text.replace("ringtree.tuning/2", "ringtree.tuning/9", 1))
    with pytest.raises(UsageError, match=r"tuning/9.*--fresh"):
        read_state(state)
    file.write_text(text.replace("ringtree.tuning/2", "ringtree.tuning/1", 1).replace('"worlds"', '"ranks"', 1))
    with pytest.raises(UsageError, match=r"has format 'ringtree.tuning/1', not ringtree.tuning/2: .*--fresh"):
        read_state(state)
    file.write_text(text.replace('"kind":"round"', '"kind":"square"', 1))
    with pytest.raises(UsageError, match=r"damaged.*--fresh"):
        read_state(state)


def test_two_tunings_do_not_write_one_state(tmp_path: Path) -> None:
    state, request = tmp_path / "state", make_request(sizes=[8])

    class Rival(MadeUpMachine):
        def __call__(self, *arguments: object) -> None:
            with pytest.raises(UsageError, match="is being written by process"):
                run(state, header, None, lambda launch, report: None, MadeUpMachine())
            raise KeyboardInterrupt

    header, _ = begin_or_resume(state, request, False)
    with pytest.raises(KeyboardInterrupt):
        run(state, header, None, lambda launch, report: None, Rival())


def test_a_candidate_that_fails_everywhere_is_no_choice(tmp_path: Path) -> None:
    class Broken(MadeUpMachine):
        """Every rank refuses all candidates but one; for broadcast all of them."""

        def __call__(self, request: TuneRequest, launch: TuneLaunch, first: int, on_measured: object) -> None:
            kept = []
            for cell in launch.cells:
                for one in cell.candidates:
                    good = cell.collective == "all_reduce" and one.label == "quick/simple"
                    if not good:
                        fields = {"launch": launch.number, "collective": cell.collective, "label": one.label}
                        on_measured(  # type: ignore[operator]
                            Dropped(**fields, size_bytes=cell.size_bytes, reason="its result was wrong")
                        )
                if cell.collective == "all_reduce":
                    alone = [one for one in cell.candidates if one.label == "quick/simple"]
                    kept.append(cell.model_copy(update={"candidates": alone}))
            super().__call__(request, launch.model_copy(update={"cells": kept}), first, on_measured)  # type: ignore[arg-type]

    request = make_request(sizes=[8, 1024], collectives=["all_reduce", "broadcast"])
    profile, _ = tune(tmp_path / "state", request, Broken())
    (table,) = profile.tables
    assert [(rule.until_bytes, rule.configuration) for rule in table.rules] == [(None, configuration("quick/simple"))]
    with pytest.raises(RingtreeError, match="no candidate could be measured"):
        tune(tmp_path / "other", make_request(collectives=["broadcast"]), Broken())


def test_sizes_of_block_collectives_are_whole_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    everywhere = [
        ("all_gather", algorithm, protocol, why) for of, algorithm, protocol, why in SUPPORT if of == "broadcast"
    ]
    monkeypatch.setattr("ringtree.tune.candidates.support", lambda: everywhere)
    profile, _ = tune(
        tmp_path / "state", make_request(ranks=[3], collectives=["all_gather"], sizes=[4, 8, 64, 1024]), MadeUpMachine()
    )
    assert [one.size_bytes for one in profile.tables[0].sizes if one.size_bytes in (12, 72, 1032)] == [12, 72, 1032]
    assert all(one.size_bytes % 12 == 0 for one in profile.tables[0].sizes)


def test_an_engine_without_algorithms_is_a_usage_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ringtree.tune.candidates.support", list)
    with pytest.raises(UsageError, match="no algorithm runs 'all_reduce'"):
        tune(tmp_path / "state", make_request(), MadeUpMachine())
