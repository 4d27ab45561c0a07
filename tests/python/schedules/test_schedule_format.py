"""Schedules as JSON: there and back for every built-in algorithm; each way to be wrong is a clear error."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ringtree

EVERY = [
    (collective, name)
    for collective in ("all_reduce", "reduce_scatter", "all_gather", "broadcast", "reduce")
    for name in ringtree.algorithms.names(collective)
]


@pytest.mark.parametrize(("collective", "name"), EVERY)
@pytest.mark.parametrize("ranks", [1, 2, 5, 8])
def test_there_and_back(collective: str, name: str, ranks: int) -> None:
    schedule = ringtree.schedule(collective, name, ranks=ranks)
    again = ringtree.from_json(ringtree.to_json(schedule))
    assert again.core.structural_hash() == schedule.core.structural_hash()
    assert [again.program(rank) for rank in range(ranks)] == [schedule.program(rank) for rank in range(ranks)]
    ringtree.verify(again)


@pytest.mark.parametrize("mix", ["tree:4", "ring:2", "ring:3+double_tree", "chain+tree:2"])
def test_a_mix_keeps_its_shares(mix: str) -> None:
    """By which slices are cut: ranks that are handed the text must cut them as those that made the schedule."""
    made = ringtree.schedule("all_reduce", mix, ranks=4)
    text = ringtree.to_json(made)
    again = ringtree.from_json(text)
    assert (again.shares, again.is_pipelined) == (made.shares, made.is_pipelined)
    assert again.core.structural_hash() == made.core.structural_hash()
    record = json.loads(text)
    del record["shares"]
    one_share = ringtree.from_json(json.dumps(record))
    assert one_share.core.structural_hash() != made.core.structural_hash()


def test_a_schedule_of_one_share_says_nothing_of_shares() -> None:
    assert "shares" not in stored()


def stored() -> dict[str, Any]:
    record: dict[str, Any] = json.loads(ringtree.to_json(ringtree.schedule("all_reduce", "ring", ranks=3)))
    return record


def set_to(value: Any, *path: Any) -> Callable[[dict[str, Any]], None]:
    def change(record: dict[str, Any]) -> None:
        at: Any = record
        for part in path[:-1]:
            at = at[part]
        at[path[-1]] = value

    return change


FAULTS = [
    (set_to("ringtree.schedule/2", "format"), "ringtree.schedule/1"),
    (set_to("all_deduce", "collective"), "unknown collective all_deduce"),
    (set_to(-1, "ranks"), "ranks"),
    (set_to(4, "ranks"), "one program a rank"),
    (set_to(2**40, "chunks"), "chunks"),
    (set_to(2**31 - 1, "chunks"), "chunks"),
    (set_to({"first": 0, "count": 2**31 - 1}, "programs", 1, "steps", 0, "chunks"), "count"),
    (set_to("3", "chunks"), "chunks"),
    (set_to("jump", "programs", 0, "steps", 0, "verb"), "unknown verb jump"),
    (set_to(7, "programs", 0, "steps", 0, "send", "to", 0), "peer 7 does not exist"),
    (set_to({"first": 9}, "programs", 1, "steps", 0, "chunks"), "chunk 9 does not exist"),
    (set_to(2**31 - 1, "programs", 0, "steps", 0, "lane"), "lane"),
    (set_to("outputs", "programs", 0, "steps", 0, "src"), "src"),
    (set_to(1, "programs", 0, "rank"), "one program a rank"),
    (set_to(1, "surprise"), "surprise"),
    (set_to(0, "shares"), "shares"),
    (set_to(2, "shares"), "3 chunks are not a multiple of 2 shares"),
    (set_to(2**20, "shares"), "1048576 shares are not within 1..16"),
    (set_to(3, "shares"), "lane 0 is of share"),
]


@pytest.mark.parametrize(("change", "says"), FAULTS)
def test_a_wrong_file_is_one_clear_error(change: Callable[[dict[str, Any]], None], says: str) -> None:
    record = stored()
    change(record)
    with pytest.raises(ringtree.UsageError, match=says):
        ringtree.from_json(json.dumps(record))


def test_a_small_file_cannot_ask_for_much_memory() -> None:
    record = stored()
    record["chunks"] = record["widest"] = 2**20
    for program in record["programs"]:
        for step in program["steps"]:
            step["chunks"] = {"first": 0, "count": 2**20, "stride": 1}
    with pytest.raises(ringtree.UsageError, match="above the limit"):
        ringtree.from_json(json.dumps(record))


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"format": 1}', "\x00" * 10, "[" * 5000])
def test_what_is_no_schedule_at_all_is_refused(text: str) -> None:
    with pytest.raises(ringtree.UsageError, match="not a schedule"):
        ringtree.from_json(text)


@settings(max_examples=200, derandomize=True, deadline=None)
@given(st.data())
def test_a_damaged_file_never_does_worse_than_an_error(data: st.DataObject) -> None:
    text = ringtree.to_json(ringtree.schedule("all_reduce", "tree", ranks=3))
    at = data.draw(st.integers(0, len(text) - 1))
    damaged = text[:at] + data.draw(st.text(max_size=3)) + text[at + data.draw(st.integers(0, 3)) :]
    try:
        schedule = ringtree.from_json(damaged)
    except ringtree.UsageError:
        return
    ringtree.verify_report(schedule)
