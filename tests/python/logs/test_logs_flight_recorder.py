"""Dumps of PyTorch's flight recorder."""

from __future__ import annotations

import json
import os
import pickle
from pathlib import Path
from typing import Any

import pytest
from nccl_info_support import documents, read

from ringtree.logs.kinds import KINDS


def entry(sequence: int, **others: Any) -> dict[str, Any]:
    return {
        "record_id": sequence - 1,
        "pg_id": 0,
        "process_group": ("0", "default_pg"),
        "collective_seq_id": sequence,
        "p2p_seq_id": 0,
        "op_id": sequence,
        "profiling_name": "nccl:all_reduce",
        "input_sizes": [[1024]],
        "input_dtypes": ["Float"],
        "output_sizes": [[1024]],
        "output_dtypes": ["Float"],
        "time_created_ns": 1000 + sequence,
        "state": "completed",
        "retired": True,
        "timeout_ms": 600000,
        "is_p2p": False,
        **others,
    }


def dump(*entries: dict[str, Any], **others: Any) -> dict[str, Any]:
    return {
        "version": "2.10",
        "comm_lib_version": "2.27.3",
        "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1, 2, 3]"}},
        "pg_status": {"0": status(len(entries), len(entries) - 1, len(entries) - 1)},
        "entries": list(entries),
        **others,
    }


def status(enqueued: int, started: int, completed: int) -> dict[str, str]:
    return {
        "last_enqueued_collective": str(enqueued),
        "last_started_collective": str(started),
        "last_completed_collective": str(completed),
    }


def open_entry(sequence: int, **others: Any) -> dict[str, Any]:
    return entry(sequence, state="started", retired=False, **others)


def recorder(data: str | bytes) -> dict[str, Any]:
    (document,) = documents(data, "flight_recorder")
    assert KINDS[document.kind].model_validate(document.data).plain() == document.data
    return document.data


@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_pickles_say_what_json_says(protocol: int) -> None:
    value = dump(entry(1), entry(2), open_entry(3))
    assert recorder(pickle.dumps(value, protocol)) == recorder(json.dumps(value))


def test_what_did_not_end() -> None:
    data = recorder(json.dumps(dump(entry(1, duration_ms=0.5), entry(2, duration_ms=1.5), open_entry(3))))
    assert (data["version"], data["library_version"], data["num_entries"]) == ("2.10", "2.27.3", 3)
    (group,) = data["groups"]
    assert (group["id"], group["name"], group["description"], group["ranks"]) == ("0", "0", "default_pg", [0, 1, 2, 3])
    assert (group["last_enqueued"], group["last_started"], group["last_completed"]) == (3, 2, 2)
    assert (group["states"], group["num_retired"]) == ({"completed": 2, "started": 1}, 2)
    assert (group["first_sequence"], group["last_sequence"], group["num_not_completed"]) == (1, 3, 1)
    (call,) = group["not_completed"]
    assert (call["sequence"], call["collective"], call["state"]) == (3, "all_reduce", "started")
    assert (call["input_sizes"], call["input_dtypes"]) == ([[1024]], ["Float"])
    assert group["durations"] == {"nccl:all_reduce": pytest.approx(0.001)}
    assert group["mismatches"] == []


def test_gloo_leaves_the_state_as_it_was_and_retires_the_call() -> None:
    data = recorder(json.dumps(dump(entry(1, state="scheduled", profiling_name="gloo:all_reduce"))))
    assert data["groups"][0]["num_not_completed"] == 0


def test_sends_and_receives_have_numbers_of_their_own() -> None:
    send = open_entry(5, is_p2p=True, p2p_seq_id=7, profiling_name="nccl:send 0->1")
    (group,) = recorder(json.dumps(dump(entry(1), send, entry(2))))["groups"]
    (call,) = group["not_completed"]
    assert (call["sequence"], call["is_p2p"], call["collective"]) == (7, True, "send")
    assert (group["last_sequence"], group["mismatches"]) == (2, [])


@pytest.mark.parametrize(
    ("value", "mismatch"),
    [
        (dump(entry(1), entry(4), pg_status={}), "call 4 follows call 1"),
        (dump(entry(2), entry(1), pg_status={}), "call 1 is recorded after call 2"),
        (dump(open_entry(1), entry(2), pg_status={}), "call 2 has completed, and 1, which is before it, has not"),
        (
            dump(open_entry(1), pg_status={"0": status(1, 1, 1)}),
            "call 1 has not completed, and the last one completed is 1",
        ),
        (
            dump(entry(1), entry(2), pg_status={"0": status(1, 1, 1)}),
            "call 2 is recorded, and the last one enqueued is 1",
        ),
        (dump(entry(1), pg_status={"0": status(1, 1, 3)}), "the last one completed is 3, the last one enqueued 1"),
        (dump(entry(1, output_sizes=[[512]])), "call 1, nccl:all_reduce: [[1024]] in, [[512]] out"),
        (dump(entry(1, output_dtypes=["Half"])), "call 1, nccl:all_reduce: Float in, Half out"),
        (
            dump(entry(1, profiling_name="nccl:_all_gather_base", output_sizes=[[4000]])),
            "call 1, nccl:_all_gather_base: 1024 elements in, 4000 out",
        ),
    ],
)
def test_what_contradicts_itself(value: dict[str, Any], mismatch: str) -> None:
    (group,) = recorder(json.dumps(value))["groups"]
    assert group["mismatches"] == [mismatch]


def test_an_all_gather_that_is_right_is_no_mismatch() -> None:
    value = dump(entry(1, profiling_name="nccl:_all_gather_base", output_sizes=[[4096]]))
    assert recorder(json.dumps(value))["groups"][0]["mismatches"] == []


def test_groups_are_kept_apart_and_those_without_calls_have_a_status() -> None:
    value = dump(
        entry(1),
        entry(1, pg_id=1, process_group=["1", "tp"]),
        pg_status={"0": status(1, 1, 1), "1": status(1, 1, 1), "2": status(0, -1, -1)},
        pg_config={"0": {"name": "0", "desc": "default_pg", "ranks": [0, 1]}},
    )
    data = recorder(json.dumps(value))
    assert [(group["id"], group["description"], group["num_entries"]) for group in data["groups"]] == [
        ("0", "default_pg", 1),
        ("1", "tp", 1),
        ("2", None, 0),
    ]
    assert data["mismatches"] == ["group 1 has calls, and pg_config does not name it"]


class Trap:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return os.mkdir, (str(self.path),)


def test_a_pickle_that_calls_something_is_refused_in_one_line(tmp_path: Path) -> None:
    trap = tmp_path / "made"
    found = read(pickle.dumps({"entries": [Trap(trap)], "pg_config": {}}, 2))
    assert not trap.exists()
    assert found.documents == []
    (reason,) = (skipped.reason for skipped in found.skipped if "refused" in skipped.reason)
    assert "GLOBAL" in reason
    assert "\n" not in reason


def test_a_dump_that_is_cut_gives_what_is_there() -> None:
    text = json.dumps(dump(*(entry(number) for number in range(1, 50))))
    found = read(text[: len(text) // 2])
    (document,) = found.documents
    assert not document.data["complete"]
    assert 10 < document.data["num_entries"] < 40


def test_entries_that_are_none_of_that_kind() -> None:
    value = dump({"state": ["x"], "retired": 1, "input_sizes": "no", "collective_seq_id": "nine", "duration_ms": "1"})
    value["entries"] += [3, None, [], {"process_group": 5, "pg_id": {}}]
    data = recorder(json.dumps(value))
    assert data["num_entries"] == 2


@pytest.mark.torch
def test_a_dump_that_pytorch_itself_writes() -> None:
    distributed = pytest.importorskip("torch._C._distributed_c10d")
    if not hasattr(distributed, "_dump_fr_trace"):
        pytest.skip("this PyTorch has no recorder without NCCL")
    written = distributed._dump_fr_trace()
    assert recorder(written)["version"] is not None
    assert recorder(written) == recorder(distributed._dump_fr_trace_json())
