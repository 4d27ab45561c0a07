"""The records and their reader: what was written is what is read, and what is damaged or foreign is one clear line.

For: round trip, torn lines, damage, formats, invariants. Not for: writers that die (test_results_writer.py), what the
figures mean.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from lab_support import make_cell, make_launch, make_plan, make_run
from pydantic import ValidationError

from ringtree.errors import UsageError
from ringtree.results import (
    FORMAT,
    ArmPlan,
    Cell,
    EmulatedCluster,
    Launch,
    Plan,
    RunWriter,
    WrongElement,
    new_run_id,
    read_run,
)


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[RunWriter]:
    cluster = EmulatedCluster(hosts=2, ranks_per_host=8, alpha=1e-3, beta=2e7)
    with RunWriter(tmp_path / "runs", make_run(make_plan(emulation=cluster))) as writer:
        yield writer


def launches(count: int) -> list[Launch]:
    return [make_launch(i, [make_cell("a", 1024, 0.1 * (i + 1)), make_cell("b", 1024, 0.3)]) for i in range(count)]


def test_round_trip_is_exact(writer: RunWriter) -> None:
    written = launches(3)
    for launch in written:
        writer.append(launch)
    stored = read_run(writer.path)
    assert stored.launches == written
    assert stored.run.plan.emulation == EmulatedCluster(hosts=2, ranks_per_host=8, alpha=1e-3, beta=2e7)
    assert stored.run.format == FORMAT == "ringtree.run/2"
    assert stored.notes == []


def test_wrong_elements_that_are_no_numbers_survive(writer: RunWriter) -> None:
    wrong = WrongElement(rank=1, iteration=0, call=0, index=5, expected=3.0, found=math.nan)
    writer.append(make_launch(0, [make_cell("a", 1024, 0.1, verified=False, first_wrong=wrong)]))
    (launch,) = read_run(writer.path).launches
    found = launch.cells[0].first_wrong
    assert found is not None
    assert math.isnan(found.found)
    assert found.expected == 3.0


def test_every_torn_end_loses_only_the_torn_launch(writer: RunWriter) -> None:
    written = launches(2)
    for launch in written:
        writer.append(launch)
    file = writer.path / "launches.jsonl"
    whole = file.read_bytes()
    first_end = whole.index(b"\n") + 1
    for cut in range(first_end + 1, len(whole)):
        file.write_bytes(whole[:cut])
        stored = read_run(writer.path)
        assert stored.launches == written[:1]
        assert stored.notes == [f"dropped a torn last line of {cut - first_end} bytes in launches.jsonl"]


def test_damage_in_the_middle_is_an_error_that_names_the_line(writer: RunWriter) -> None:
    for launch in launches(3):
        writer.append(launch)
    file = writer.path / "launches.jsonl"
    lines = file.read_bytes().split(b"\n")
    lines[1] = lines[1][: len(lines[1]) // 2]
    file.write_bytes(b"\n".join(lines))
    with pytest.raises(UsageError, match="line 2"):
        read_run(writer.path)


def test_a_launch_that_is_stored_twice_is_named(writer: RunWriter) -> None:
    for launch in launches(3):
        writer.append(launch)
    file = writer.path / "launches.jsonl"
    file.write_bytes(file.read_bytes() + file.read_bytes().split(b"\n")[1] + b"\n")
    with pytest.raises(UsageError, match="launch 1 twice, in lines 2 and 4"):
        read_run(writer.path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ringtree.run/3", "newer than ringtree.run/2: read it with a newer ringtree"),
        ("ringtree.run/10", "newer than"),
        ("ringtree.run/1", "older than ringtree.run/2"),
        ("ringtree.run/²", "has format 'ringtree.run/²'"),
        ("other/2", "has format 'other/2'"),
        ("ringtree.run", "names no format"),
        (2, "names no format"),
    ],
)
def test_other_formats_are_refused_by_name(writer: RunWriter, text: object, said: str) -> None:
    file = writer.path / "run.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "format": text, "what_is_new": 1}))
    with pytest.raises(UsageError) as error:
        read_run(writer.path)
    assert said in str(error.value)


@pytest.mark.parametrize("launcher", [None, "srun --ntasks {ranks}"])
def test_runs_that_name_a_launcher_are_read(writer: RunWriter, launcher: str | None) -> None:
    before = read_run(writer.path).run
    file = writer.path / "run.json"
    run = json.loads(file.read_text())
    file.write_text(json.dumps({**run, "plan": {**run["plan"], "launcher": launcher}}))
    assert read_run(writer.path).run == before
    for plan in ({**run["plan"], "launched_by": launcher}, "srun"):
        file.write_text(json.dumps({**run, "plan": plan}))
        with pytest.raises(UsageError, match=r"damaged: plan"):
            read_run(writer.path)


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff\xfe", b"[" * 100_000, b'{"format": "ringtree.run/2"}'])
def test_what_is_no_run_is_one_clear_line(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "run.json").write_bytes(content)
    with pytest.raises(UsageError) as error:
        read_run(tmp_path)
    assert "\n" not in str(error.value)
    assert "run.json" in str(error.value)


def test_missing_directory_and_unwritable_place_are_user_errors(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no run"):
        read_run(tmp_path / "nowhere")
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="--runs"):
        RunWriter(tmp_path / "file", make_run(make_plan()))


def test_a_run_is_never_written_over(writer: RunWriter) -> None:
    before = (writer.path / "run.json").read_bytes()
    with pytest.raises(UsageError, match="File exists"):
        RunWriter(writer.path.parent, make_run(make_plan()))
    assert (writer.path / "run.json").read_bytes() == before


def test_run_ids_sort_by_time_and_differ() -> None:
    assert new_run_id(0.0).startswith("19700101T000000Z-")
    assert len({new_run_id(0.0) for _ in range(50)}) == 50


def test_a_record_takes_by_name_what_it_requires_and_keeps_its_defaults() -> None:
    plan = make_plan()
    taken = ArmPlan.from_fields_of(SimpleNamespace(label="a", name="ring", environment={"X": "1"}), label="b")
    assert taken == ArmPlan(label="b", name="ring")
    with pytest.raises(AttributeError, match="label"):
        ArmPlan.from_fields_of(plan)


def test_records_hold_their_invariants() -> None:
    with pytest.raises(ValidationError, match="same number"):
        make_cell("a", 8, 1.0, times=[[1.0], [1.0, 2.0]])
    with pytest.raises(ValidationError, match="account for every iteration"):
        make_cell("a", 8, 1.0, visits=[])
    with pytest.raises(ValidationError, match="not verified"):
        make_cell("a", 8, 1.0, error="boom")
    with pytest.raises(ValidationError, match="not verified"):
        make_cell("a", 8, 1.0, times=[])
    with pytest.raises(ValidationError, match="unique"):
        make_plan(arms=("a", "a"))
    with pytest.raises(ValidationError, match="Extra"):
        Cell.model_validate({**make_cell("a", 8, 1.0).model_dump(), "unknown": 1})
    with pytest.raises(ValidationError, match="reference"):
        Plan.model_validate({**make_plan().model_dump(), "reference": "c"})
