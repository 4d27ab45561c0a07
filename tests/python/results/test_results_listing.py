"""Which runs there are, and the one that is meant.

For: list_runs and find_run over stores with everything that may lie in one. Not for: the command (test_cli_runs.py).
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from lab_support import make_cell, make_launch, make_plan, make_run

from ringtree.errors import UsageError
from ringtree.measure.plan import planned_launches
from ringtree.results import ArmPlan, Plan, RunWriter, find_run, list_runs, num_planned

IDS = ("20260101T000000Z-aaaaaa", "20260102T000000Z-bbbbbb", "20260102T000000Z-bcbcbc")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    for number, run_id in enumerate(IDS):
        with RunWriter(tmp_path, make_run(make_plan(), run_id=run_id)) as writer:
            for launch in range(number):
                writer.append(make_launch(launch, [make_cell("a", 1024, 0.1)]))
    return tmp_path


def test_runs_are_listed_newest_first_with_their_launches(store: Path) -> None:
    listings = list_runs(store)
    assert [listing.run_id for listing in listings] == list(reversed(IDS))
    assert [listing.num_stored for listing in listings] == [2, 1, 0]
    assert all(listing.problem is None and listing.num_planned == 6 for listing in listings)


def test_what_is_damaged_is_listed_with_the_reason_and_hides_nothing(store: Path) -> None:
    for name, content in (("damaged", "{"), ("future", '{"format": "ringtree.run/3"}')):
        (store / name).mkdir()
        (store / name / "run.json").write_text(content)
    (store / "unfinished").mkdir()
    (store / "unfinished" / "launches.jsonl").write_text("")
    (store / "notes").mkdir()
    (store / "readme.txt").write_text("no run")
    (store / IDS[2] / "launches.jsonl").unlink()
    listings = {listing.path.name: listing for listing in list_runs(store)}
    assert set(listings) == {*IDS, "damaged", "future", "unfinished"}
    assert listings[IDS[2]].num_stored == 0
    for name, said in (("damaged", "not valid JSON"), ("future", "newer than"), ("unfinished", "holds no run")):
        assert listings[name].run is None
        assert said in (listings[name].problem or "")


def test_a_torn_line_is_not_counted(store: Path) -> None:
    file = store / IDS[2] / "launches.jsonl"
    file.write_bytes(file.read_bytes()[:-1])
    assert list_runs(store)[0].num_stored == 1


def test_no_store_is_an_empty_one_and_a_file_is_none(tmp_path: Path) -> None:
    assert list_runs(tmp_path / "nowhere") == []
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="--runs"):
        list_runs(tmp_path / "file")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (IDS[0], IDS[0]),
        ("20260101", IDS[0]),
        ("20260102T000000Z-bc", IDS[2]),
        ("bbbbbb", IDS[1]),
        ("last", IDS[2]),
    ],
)
def test_a_run_is_found_by_id_beginning_or_last(store: Path, text: str, found: str) -> None:
    assert find_run(store, text) == store / found


def test_a_run_is_found_by_path_wherever_it_lies(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_run(Path("nowhere"), str(store / IDS[0])) == store / IDS[0]
    monkeypatch.chdir(store)
    assert find_run(Path("nowhere"), IDS[0]) == Path(IDS[0])


def test_last_is_the_newest_that_can_be_read(store: Path) -> None:
    (store / "zzz").mkdir()
    (store / "zzz" / "run.json").write_text("{")
    assert find_run(store, "last") == store / IDS[2]


@pytest.mark.parametrize(
    ("text", "said"),
    [("2026", "may mean"), ("20260102", IDS[1]), ("nonsense", f"there are: {IDS[2]}"), ("", "no run ''")],
)
def test_what_is_not_clear_names_candidates(store: Path, text: str, said: str) -> None:
    with pytest.raises(UsageError) as error:
        find_run(store, text)
    assert said in str(error.value)


def test_what_is_no_run_is_called_what_it_is(store: Path) -> None:
    (store / "a.log").write_text("# a log")
    (store / "empty").mkdir()
    for text, said in (
        (str(store / "a.log"), "is a file and no measured run"),
        (str(store / "empty"), "is a directory without run.json"),
        ("nosuch.log", "no file nosuch.log, and no run"),
        ("nosuch", "no run 'nosuch'"),
    ):
        with pytest.raises(UsageError, match=said):
            find_run(store, text)


def test_an_empty_store_says_so(tmp_path: Path) -> None:
    for text in ("last", "2026"):
        with pytest.raises(UsageError, match="--runs"):
            find_run(tmp_path, text)


def test_launches_are_counted_as_the_lab_plans_them() -> None:
    plan = make_plan(arms=("a", "b", "c"))
    apart = [*plan.arms[:2], ArmPlan(label="c", name="c", environment={"X": "1"})]
    for each in (plan, Plan.model_validate({**plan.model_dump(), "arms": apart})):
        assert num_planned(each) == len(planned_launches(each))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_run_is_listed(store: Path) -> None:
    (store / IDS[0] / "run.json").chmod(0)
    assert "Permission denied" in (list_runs(store)[-1].problem or "")
