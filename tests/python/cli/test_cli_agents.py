"""What rank 0 says while the other processes of its launcher have not come."""

from __future__ import annotations

import threading

import pytest

from ringtree.cli import agents
from ringtree.launchers import Identity


@pytest.fixture
def left_over(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("RANK", "0"), ("WORLD_SIZE", "3"), ("MASTER_ADDR", "127.0.0.1"), ("MASTER_PORT", "29400")):
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize(("rank", "says"), [("0", True), ("1", False)])
def test_rank_0_says_for_whom_it_waits(
    left_over: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], rank: str, says: bool
) -> None:
    """Meeting ends when the timer has run, so nothing depends on how long that takes."""
    monkeypatch.setenv("RANK", rank)
    timers: list[threading.Timer] = []

    class Watched(threading.Timer):
        def __init__(self, *arguments: object) -> None:
            super().__init__(*arguments)  # type: ignore[arg-type]
            timers.append(self)

    def never_comes() -> None:
        timers[0].join()

    monkeypatch.setattr(agents, "Timer", Watched)
    monkeypatch.setattr(agents, "crew_of_the_launcher", never_comes)
    assert agents._meet(0.0) is None
    said = capsys.readouterr().err
    assert said.startswith("ringtree: waiting for the other processes: ") is says
    if says:
        assert "rank 0 of 3 (RANK" in said
        assert "unset the variables that `ringtree launchers` lists" in said


def test_nothing_is_said_of_waiting_where_launchers_disagree(
    left_over: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Who tells the others so takes longer than the silence lasts; the timer's thread must not end in a traceback."""
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "4")
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "7")
    timers: list[threading.Timer] = []
    failed: list[object] = []

    class Watched(threading.Timer):
        def __init__(self, *arguments: object) -> None:
            super().__init__(*arguments)  # type: ignore[arg-type]
            timers.append(self)

    monkeypatch.setattr(agents, "Timer", Watched)
    monkeypatch.setattr(threading, "excepthook", failed.append)
    monkeypatch.setattr(agents, "crew_of_the_launcher", lambda: timers[0].join())
    agents._meet(0.0)
    assert (capsys.readouterr().err, failed) == ("", [])


def test_nothing_is_said_where_all_come(
    left_over: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(agents, "crew_of_the_launcher", lambda: None)
    assert agents._meet(3600.0) is None
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("missing", "whom"),
    [([], "the other processes"), ([0], "the other processes"), ([0, 3], "rank 3"), ([1, 2], "ranks 1, 2")],
)
def test_rank_0_waits_for_others_and_never_for_itself(missing: list[int], whom: str) -> None:
    line = agents.waiting_line(Identity("torchrun", 0, 4), missing)
    assert line.startswith(f"ringtree: waiting for {whom}: ")
