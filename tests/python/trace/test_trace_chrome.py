"""The file for trace viewers: valid JSON of the format, slices that nest, arrows with both ends."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from trace_support import reduced, traces_of

import ringtree
from ringtree import Communicator, RankTrace
from ringtree.comm.rank_trace import KINDS
from ringtree.trace import chrome_trace, match_messages, write_chrome_trace
from ringtree.trace.chrome import CALLS_TRACK
from ringtree.trace.programs import Programs

Track = tuple[int, int]


def loaded(traces: list[RankTrace], path: Path) -> dict[str, Any]:
    write_chrome_trace(path, traces, {"options": {"size": 1}})
    content: dict[str, Any] = json.loads(path.read_text())
    return content


def by_track(content: dict[str, Any]) -> dict[Track, list[dict[str, Any]]]:
    tracks: dict[Track, list[dict[str, Any]]] = defaultdict(list)
    for one in content["traceEvents"]:
        if one["ph"] == "X":
            tracks[one["pid"], one["tid"]].append(one)
    return tracks


def crossing(slices: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Pairs of slices of one track, in the file's order, of which neither lies in the other nor after it."""
    wrong, open_ = [], list[tuple[float, str]]()
    for one in slices:
        begin, end = one["ts"], round(one["ts"] + one["dur"], 3)
        while open_ and open_[-1][0] <= begin:
            open_.pop()
        if open_ and end > open_[-1][0]:
            wrong.append((open_[-1][1], one["name"]))
        open_.append((end, one["name"]))
    return wrong


def test_crossing_slices_are_found() -> None:
    def one(ts: float, dur: float) -> dict[str, Any]:
        return {"ts": ts, "dur": dur, "name": f"{ts}"}

    assert crossing([one(0, 10), one(0, 4), one(4, 6), one(10, 1)]) == []
    assert crossing([one(0, 10), one(4, 7)]) == [("0", "4")]


@pytest.mark.parametrize(("algorithm", "channels"), [("ring", 1), ("ring", 2), ("two_shot", 1), ("tree", 1)])
def test_slices_nest_on_every_track(algorithm: str, channels: int, tmp_path: Path) -> None:
    traces = traces_of(reduced(200_000, algorithm), 4, num_calls=2, channels=channels)
    content = loaded(traces, tmp_path / "trace.json")
    tracks = by_track(content)
    assert all(crossing(slices) == [] for slices in tracks.values())
    assert min(one["ts"] for slices in tracks.values() for one in slices) == 0
    assert {pid for pid, _ in tracks} == {1, 2, 3, 4}
    lanes = {step.lane for rank in range(4) for step in traces[0].calls[0].schedule.program(rank)}
    assert len({tid for _, tid in tracks if tid != CALLS_TRACK}) == len(lanes) * channels
    for slices in tracks.values():
        assert [one["ts"] for one in slices] == sorted(one["ts"] for one in slices)


def test_every_event_is_in_the_file_once(tmp_path: Path) -> None:
    traces = traces_of(reduced(200_000, "two_shot"), 4, num_calls=2)
    content = loaded(traces, tmp_path / "trace.json")
    counts = Counter((one["pid"] - 1, one["cat"]) for one in content["traceEvents"] if one["ph"] == "X")
    for trace in traces:
        kinds = Counter(KINDS[kind] for kind in trace.events["kind"])
        assert counts[trace.rank, "step"] == kinds["step"]
        assert counts[trace.rank, "call"] == kinds["call"] == 2
        assert counts[trace.rank, "sleep"] == kinds["sleep"]
        assert counts[trace.rank, "wait"] == sum(kinds[kind] for kind in ("message", "slot", "dependency"))


def test_every_arrow_has_both_ends_in_a_slice_step(tmp_path: Path) -> None:
    traces = traces_of(reduced(200_000, "tree"), 4, num_calls=2)
    content = loaded(traces, tmp_path / "trace.json")
    tracks = by_track(content)
    ends: dict[int, dict[str, dict[str, Any]]] = defaultdict(dict)
    for one in content["traceEvents"]:
        if one["ph"] in ("s", "f"):
            assert one["ph"] not in ends[one["id"]]
            ends[one["id"]][one["ph"]] = one
    assert len(ends) == len(match_messages(traces, Programs(traces))) > 0
    for arrow in ends.values():
        assert set(arrow) == {"s", "f"}
        assert arrow["f"]["bp"] == "e"
        slices = {}
        for ph, end in arrow.items():
            on_track = tracks[end["pid"], end["tid"]]
            (slices[ph],) = [one for one in on_track if one["cat"] == "step" and one["ts"] == end["ts"]]
        assert arrow["f"]["pid"] - 1 in slices["s"]["args"]["to"]
        assert arrow["s"]["pid"] - 1 in slices["f"]["args"]["from"]
        for word in ("call", "pass", "slice", "bytes", "channel"):
            assert slices["s"]["args"][word] == slices["f"]["args"][word]


def test_tracks_have_names_and_slices_say_what_they_are(tmp_path: Path) -> None:
    traces = traces_of(reduced(100_000, "ring"), 3, channels=2)
    content = loaded(traces, tmp_path / "trace.json")
    names = {
        (one["name"], one["pid"], one.get("tid")): one["args"] for one in content["traceEvents"] if one["ph"] == "M"
    }
    assert names["process_name", 3, None] == {"name": "rank 2"}
    assert names["thread_name", 1, CALLS_TRACK] == {"name": "calls and waits"}
    assert names["thread_name", 1, 3] == {"name": "channel 1, lane 0"}
    assert content["otherData"] == {"events_lost": {"0": 0, "1": 0, "2": 0}, "options": {"size": 1}}
    (call,) = [one for one in content["traceEvents"] if one.get("cat") == "call" and one["pid"] == 1]
    assert call["name"] == "all_reduce #2"
    assert "algorithm ring" in call["args"]["description"]
    first = next(one for one in content["traceEvents"] if one.get("cat") == "step" and one["pid"] == 1)
    program = ringtree.schedule("all_reduce", "ring", 3).program(0)
    assert first["name"] == first["args"]["verb"] == program[0].verb == "send"
    assert first["args"]["chunks"] == list(program[0].chunks)
    assert first["args"]["to"] == [1]
    assert "from" not in first["args"]
    waits = {one["name"] for one in content["traceEvents"] if one.get("cat") == "wait" and one["pid"] == 1}
    assert waits <= {"message of rank 2", "slot of rank 1"}


def test_emulated_clusters_show_messages_under_way(tmp_path: Path) -> None:
    emulation = ringtree.Emulation(hosts=2, ranks_per_host=1, alpha=0.1, beta=1e9)
    traces = traces_of(reduced(10, "recursive_doubling"), 2, emulate=emulation)
    content = loaded(traces, tmp_path / "trace.json")
    assert "under way from rank 0" in {one["name"] for one in content["traceEvents"] if one["pid"] == 2}
    steps = [one for one in content["traceEvents"] if one.get("cat") == "step"]
    assert all(one["args"]["emulated_us"] <= one["ts"] for one in steps)


def test_where_events_are_lost_the_rest_is_still_a_trace(tmp_path: Path) -> None:
    traces = traces_of(reduced(100_000, "two_shot"), 3, num_calls=10, capacity=25)
    content = loaded(traces, tmp_path / "trace.json")
    assert all(crossing(slices) == [] for slices in by_track(content).values())
    assert all(lost > 0 for lost in content["otherData"]["events_lost"].values())
    kinds = sum((Counter(trace.events["kind"].tolist()) for trace in traces), Counter[int]())
    steps = [one for one in content["traceEvents"] if one.get("cat") == "step"]
    assert len(steps) == kinds[KINDS.index("step")]


def test_of_a_failed_call_there_are_waits_and_no_arrows() -> None:
    def work(comm: Communicator) -> RankTrace:
        comm.all_reduce(np.ones(10), algorithm="ring")
        comm.start_trace()
        if comm.rank == 1:
            return comm.take_trace()
        with pytest.raises(ringtree.PeerError):
            comm.all_reduce(np.ones(10), algorithm="ring")
        return comm.take_trace()

    events = chrome_trace(ringtree.run(work, 2))["traceEvents"]
    assert [one["name"] for one in events if one.get("cat") == "wait"] == ["message of rank 1"]
    assert not any(one["ph"] in ("s", "f") for one in events)
