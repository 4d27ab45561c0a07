"""Whole small runs of the bench against made-up drivers: stored launch by launch, resumed, packed, shown."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from bench import session
from bench.crew import RESTARTS
from bench.effects import World
from bench.page import page_text, worlds_of
from bench.plans import NATIVE, TORCH, Choices
from bench.plans import World as PlannedWorld
from bench.rounds import NativeLaunch
from bench.session import resume, run
from bench.stored import read_bench, read_part
from bench.tracks import WRONG
from bench_support import IMPATIENT, QUICK, ROOT, FakeArm, small_world

from ringtree.errors import UsageError
from ringtree.lab.rank_group import LaunchFailed
from ringtree.probe import Handoff
from ringtree.results import Launch

ENGINE = FakeArm("engine")
CHOICES = Choices(budget=10.0, num_launches=2, worlds=[small_world()])

pytestmark = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="ranks need two cores")


def silent(_: str) -> None:
    pass


def launches(directory: Path, part: str = "native-2") -> list[Launch]:
    stored = read_part(directory, part)
    assert stored is not None
    return stored.launches


def errors(measured: Sequence[Launch], label: str) -> list[dict[int, str | None]]:
    """Size -> error, for each launch."""
    return [{cell.size_bytes: cell.error for cell in launch.cells if cell.arm == label} for launch in measured]


def test_every_arm_is_timed_in_every_launch_and_round(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Handoff, "measure", lambda _: 3.123456e-8)
    peers = [ENGINE, FakeArm("mpich5", 2.0), FakeArm("oneccl", why_missing="not installed")]
    run(CHOICES, tmp_path / "run", peers, ROOT, silent, QUICK)
    measured = launches(tmp_path / "run")
    assert [launch.launch for launch in measured] == [0, 1]
    assert {(cell.arm, cell.size_bytes) for cell in measured[0].cells} == {
        (arm, size) for arm in ("engine", "mpich5") for size in (8, 64, 512, 4096)
    }
    for cell in measured[0].cells:
        assert cell.verified
        assert cell.executed == {"version": "Fake 1.0"}
        assert len(cell.times) == 2
        rounds = [visit.round for visit in cell.visits]
        assert len(rounds) == len(set(rounds)) >= 3
        assert {visit.handoff for visit in cell.visits} == {(3.123e-8, 3.123e-8)}
    assert len(set(measured[0].pids)) == 4
    assert measured[0].seed != measured[1].seed
    header = read_bench(tmp_path / "run")
    assert header.left_out == {"oneccl": "not installed"}
    assert header.arms[1].environment == {"I_MPI_THREAD_YIELD": "2"}
    assert header.arms[1].command[1] == "tests/python/bench_fake_driver.py"


def test_what_is_stored_names_neither_host_nor_paths(tmp_path: Path) -> None:
    run(CHOICES, tmp_path / "run", [ENGINE], ROOT, silent, QUICK)
    stored = read_part(tmp_path / "run", "native-2")
    assert stored is not None
    assert stored.run.provenance.host_name == read_bench(tmp_path / "run").machine
    for file in tmp_path.rglob("*.json"):
        assert str(ROOT) not in file.read_text()


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    peers, directory = [ENGINE, FakeArm("mpich5", 2.0)], tmp_path / "run"
    measure = NativeLaunch.measure

    def interrupted(self: NativeLaunch) -> Launch:
        if launches(directory):
            raise KeyboardInterrupt
        return measure(self)

    monkeypatch.setattr(NativeLaunch, "measure", interrupted)
    with pytest.raises(KeyboardInterrupt, match="--resume"):
        run(CHOICES, directory, peers, ROOT, silent, QUICK)
    first = launches(directory)
    assert len(first) == 1
    monkeypatch.undo()
    resume(directory, peers, ROOT, silent, QUICK)
    assert launches(directory)[0] == first[0]
    assert len(launches(directory)) == 2
    assert (directory / "raw" / "native-2" / "launches.jsonl.xz").exists()
    said: list[str] = []
    resume(directory, peers, ROOT, said.append, QUICK)
    assert said == []
    assert len(launches(directory)) == 2


def test_a_run_does_not_go_on_with_another_version(tmp_path: Path) -> None:
    directory = tmp_path / "run"
    run(CHOICES, directory, [ENGINE], ROOT, silent, QUICK)
    file = directory / "raw" / "native-2" / "run.json"
    record = json.loads(file.read_text())
    record["provenance"]["kernel"] = "1.0"
    file.write_text(json.dumps(record))
    with pytest.raises(UsageError, match=r"the kernel was 1\.0"):
        resume(directory, [ENGINE], ROOT, silent, QUICK)


def test_a_directory_is_not_measured_into_twice(tmp_path: Path) -> None:
    run(CHOICES, tmp_path, [ENGINE], ROOT, silent, QUICK)
    with pytest.raises(UsageError, match="--resume"):
        run(CHOICES, tmp_path, [ENGINE], ROOT, silent, QUICK)


@pytest.mark.parametrize("behaviour", ["hang:512", "die:512", "break:512", "garbage:512"])
def test_an_arm_that_fails_at_a_size_is_still_measured_below_it(tmp_path: Path, behaviour: str) -> None:
    said: list[str] = []
    run(CHOICES, tmp_path, [ENGINE, FakeArm("mpich5", 2.0, behaviour)], ROOT, said.append, IMPATIENT)
    for of_launch in errors(launches(tmp_path), "mpich5"):
        assert of_launch[8] is None
        assert of_launch[64] is None
        assert of_launch[512] is not None
        assert of_launch[512].endswith("at 512 B")
        assert of_launch[4096] == of_launch[512]
    assert all(error is None for of_launch in errors(launches(tmp_path), "engine") for error in of_launch.values())
    assert any("mpich5 is started anew" in line for line in said)


def test_several_arms_are_started_anew_and_given_up_after_some_times(tmp_path: Path) -> None:
    said: list[str] = []
    peers = [ENGINE, FakeArm("mpich5", 2.0, "odd:8"), FakeArm("impi", 2.0, "odd:8")]
    worlds = [PlannedWorld(NATIVE, 2, 1.0, 64, 3, (9, 10, 11, 12))]
    run(Choices(budget=10.0, num_launches=1, worlds=worlds), tmp_path, peers, ROOT, said.append, QUICK)
    for arm in ("mpich5", "impi"):
        found = errors(launches(tmp_path), arm)[0]
        assert sum(f"{arm} is started anew" in line for line in said) == RESTARTS
        assert sum(f"{arm} is out of this launch" in line for line in said) == 1
        assert found[9] == "rank 0: peer is gone at 9 B"
        assert all(error is not None for error in found.values())


def test_an_odd_size_that_fails_stands_for_itself(tmp_path: Path) -> None:
    choices = Choices(budget=10.0, num_launches=2, worlds=[PlannedWorld(NATIVE, 2, 1.0, 4096, 3, (1000,))])
    run(choices, tmp_path, [ENGINE, FakeArm("mpich5", 2.0, "odd:8")], ROOT, silent, QUICK)
    for of_launch in errors(launches(tmp_path), "mpich5"):
        assert [size for size, error in of_launch.items() if error is not None] == [1000]
        assert sorted(of_launch) == [8, 64, 512, 1000, 4096]


def test_what_failed_in_two_launches_is_not_waited_for_in_a_third(tmp_path: Path) -> None:
    said: list[str] = []
    choices = Choices(budget=15.0, num_launches=3, worlds=[small_world()])
    run(choices, tmp_path, [ENGINE, FakeArm("mpich5", 2.0, "hang:8")], ROOT, said.append, IMPATIENT)
    assert sum("mpich5 is started anew" in line for line in said) == 2
    assert errors(launches(tmp_path), "mpich5")[2] == errors(launches(tmp_path), "mpich5")[1]


def test_wrong_sums_are_no_measurement(tmp_path: Path) -> None:
    run(CHOICES, tmp_path, [ENGINE, FakeArm("mpich5", 0.5, "wrong:512")], ROOT, silent, QUICK)
    for of_launch in errors(launches(tmp_path), "mpich5"):
        assert of_launch[64] is None
        assert of_launch[512] == f"{WRONG}3 elements on rank 1"
    stored = read_part(tmp_path, "native-2")
    assert stored is not None
    world = World(stored)
    assert all(size < 512 for size, label, *_ in world.verdicts() if label == "mpich5")


def test_a_refused_size_leaves_the_others(tmp_path: Path) -> None:
    run(CHOICES, tmp_path, [ENGINE, FakeArm("mpich5", 2.0, "refuse:512")], ROOT, silent, QUICK)
    assert errors(launches(tmp_path), "mpich5")[0] == {
        8: None,
        64: None,
        512: "rank 0: unsupported",
        4096: "rank 0: unsupported",
    }


def test_a_part_has_its_collective_and_an_arm_may_lack_it(tmp_path: Path) -> None:
    worlds = [small_world(), small_world(collective="all_gather")]
    peers = [ENGINE, FakeArm("mpich5", 2.0, "only:all_gather")]
    run(Choices(budget=10.0, num_launches=2, worlds=worlds), tmp_path, peers, ROOT, silent, QUICK)
    found = worlds_of(tmp_path)
    assert {name: world.collective for name, world in found.items()} == {
        "native-2": "all_reduce",
        "native-2-all_gather": "all_gather",
    }
    for name, why in (("native-2", "rank 0: unsupported"), ("native-2-all_gather", None)):
        for of_launch in errors(launches(tmp_path, name), "mpich5"):
            assert set(of_launch.values()) == {why}


def test_an_arm_that_takes_seconds_a_call_is_left_out(tmp_path: Path) -> None:
    run(CHOICES, tmp_path, [ENGINE, FakeArm("mpich5", 2.0, "slow:512")], ROOT, silent, QUICK)
    found = errors(launches(tmp_path), "mpich5")[0]
    assert found[64] is None
    assert found[512] is not None
    assert found[512].startswith("left out as too slow: a call took 3")


def test_a_hopelessly_slow_arm_is_measured_at_a_few_sizes_only(tmp_path: Path) -> None:
    choices = Choices(budget=10.0, num_launches=2, worlds=[small_world(step=1)])
    run(choices, tmp_path, [ENGINE, FakeArm("mpich5", 1e5)], ROOT, silent, QUICK)
    for of_launch in errors(launches(tmp_path), "mpich5"):
        assert [size for size, error in of_launch.items() if error is None] == [8, 2048]
        assert set(of_launch.values()) == {None, "left out as too slow, as at smaller sizes"}
    stored = read_part(tmp_path, "native-2")
    assert stored is not None
    assert {size for size, label, *_ in World(stored).verdicts() if label == "mpich5"} == {8, 2048}


def test_an_arm_that_does_not_start_is_out_with_its_reason(tmp_path: Path) -> None:
    run(CHOICES, tmp_path, [ENGINE, FakeArm("mpich5", 2.0, "stillborn")], ROOT, silent, QUICK)
    assert all("no such device" in str(error) for error in errors(launches(tmp_path), "mpich5")[0].values())


def test_the_engine_must_be_there_and_names_must_exist(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nothing to compare with: not built"):
        run(CHOICES, tmp_path, [FakeArm("engine", why_missing="not built")], ROOT, silent, QUICK)
    with pytest.raises(UsageError, match="there is no arm mpi"):
        run(Choices(worlds=[small_world()], arms=["mpi"]), tmp_path, [ENGINE], ROOT, silent, QUICK)


def test_a_part_through_the_lab_stands_beside_the_native_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Arms of the engine alone, so that the test needs no PyTorch.
    monkeypatch.setattr("bench.plans.TORCH_GLOO", "ring")
    worlds = [small_world(), PlannedWorld(TORCH, 2, 1.0, 64, 3)]
    run(Choices(budget=10.0, num_launches=2, worlds=worlds), tmp_path, [ENGINE], ROOT, silent, QUICK)
    found = worlds_of(tmp_path)
    assert list(found) == ["native-2", "torch-2"]
    through = found["torch-2"]
    assert (through.engine, through.peers, through.num_launches) == ("auto", ["ring"], 2)
    assert any(judged.ratio > 0 for *_, judged in through.verdicts())
    text = page_text(read_bench(tmp_path), found, "")
    assert "## all_reduce, 2 ranks, through PyTorch" in text
    assert "| size | *n* | auto | ring |" in text


def test_a_launch_of_the_lab_that_fails_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.plans.TORCH_GLOO", "ring")

    def failing(*_: object) -> Launch:
        raise LaunchFailed("rank 1 was killed")

    said: list[str] = []
    choices = Choices(budget=10.0, num_launches=2, worlds=[PlannedWorld(TORCH, 2, 1.0, 64, 3)])
    with monkeypatch.context() as patched:
        patched.setattr(session, "measure_launch", failing)
        run(choices, tmp_path, [], ROOT, said.append, QUICK)
    assert "left out: rank 1 was killed" in said
    assert launches(tmp_path, "torch-2") == []
    resume(tmp_path, [], ROOT, said.append, QUICK)
    assert len(launches(tmp_path, "torch-2")) == 2
