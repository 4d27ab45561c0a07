"""The timeline of a simulated call: its tracks, its times, what it says of itself, and the option that writes it.

For: timeline.py, recorded.py, `ringtree simulate --trace`. Not for: the times (test_event_simulation.py).
"""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from ringtree.cli import app
from ringtree.simulate.asked import Asked, sweep_of
from ringtree.simulate.cluster import cluster_text, load_cluster
from ringtree.simulate.on_core import CORE
from ringtree.simulate.recorded import RecordedCall, messages_of, record_single, slices_of
from ringtree.simulate.sweep import simulate_all
from ringtree.simulate.timeline import CROSSING, timeline

ASKED = Asked("dgx-a100", nodes="2", algorithm="double_tree", sizes="4M", channels=3)
NANOSECOND = 1e-9  # what the file's times are rounded to


def microseconds(picoseconds: int) -> float:
    return round(picoseconds / 1e3) / 1e3


@pytest.fixture(scope="module")
def call() -> RecordedCall:
    return record_single(sweep_of(ASKED))


def spans_by_track(events: list[Any]) -> dict[tuple[int, int], list[tuple[float, float]]]:
    tracks = defaultdict(list)
    for one in events:
        if one["ph"] == "X":
            tracks[one["pid"], one["tid"]].append((one["ts"], one["ts"] + one["dur"]))
    return tracks


def overlapping(tracks: dict[tuple[int, int], list[tuple[float, float]]]) -> set[tuple[int, int]]:
    """The tracks on which something begins before what came before it has ended; picoseconds are rounded away."""
    return {
        track
        for track, spans in tracks.items()
        if any(begin < end - 1e-6 for (_, end), (begin, _) in itertools.pairwise(sorted(spans)))
    }


def test_overlaps_are_found() -> None:
    assert overlapping({(1, 1): [(0, 2), (2, 2), (2, 3)]}) == set()
    assert overlapping({(1, 1): [(0, 2), (1, 3)]}) == {(1, 1)}


def test_it_takes_as_long_as_the_sweep_says(call: RecordedCall) -> None:
    result, _ = simulate_all(sweep_of(ASKED), CORE)
    left = {"lanes"}  # all are simulated here
    assert call.point.model_dump(exclude=left) == result.points[0].model_dump(exclude=left | {"num_events"}) | {
        "num_events": len(call.recording.slices) + len(call.recording.messages)
    }
    end = max(one["ts"] + one["dur"] for one in timeline(call) if one["ph"] == "X")
    assert end * 1e-6 == pytest.approx(call.point.seconds, abs=NANOSECOND)


def test_each_rank_and_each_link_has_its_tracks(call: RecordedCall) -> None:
    events = list(timeline(call))
    names = {one["pid"]: one["args"]["name"] for one in events if one["name"] == "process_name"}
    assert len(names) == 16 + len(call.network.link_names)
    assert names[1] == "rank 0 on host 0 (simulated)"
    assert names[17] == f"{call.network.link_names[0]}, 240 GB/s (simulated)"
    tracks = {(one["pid"], one["tid"]) for one in events if one["name"] == "thread_name"}
    spans = spans_by_track(events)
    assert set(spans) == tracks
    assert overlapping(spans) == set()


def test_what_links_carry_is_there(call: RecordedCall) -> None:
    """Bytes by link, of the spans and of the counter, whose changes upwards are messages that begin."""
    messages = messages_of(call.recording)
    carried: dict[str, int] = defaultdict(int)
    for one in messages:
        for name in call.network.route(one.source, one.target):
            carried[name] += one.bytes
    events = list(timeline(call))
    of_link: dict[str, int] = defaultdict(int)
    counted: dict[str, list[Any]] = defaultdict(list)
    for event in events:
        if event["pid"] > 16 and event["ph"] == "X":
            of_link[call.network.link_names[event["pid"] - 17]] += event["args"]["bytes"]
        if event["ph"] == "C":
            counted[call.network.link_names[event["pid"] - 17]].append((event["ts"], event["args"][CROSSING]))
    assert of_link == carried
    assert call.point.busiest is not None
    assert carried[call.point.busiest.name] == call.point.busiest.sent_bytes
    for name, values in counted.items():
        assert values == sorted(values, key=lambda one: one[0])
        assert values[-1][1] == 0, name
        assert all(value >= 0 for _, value in values), name
        # Their integral is what each message's bytes times its time on the wire add up to.
        area = sum(value * (until - at) for (at, value), (until, _) in itertools.pairwise(values))
        held = sum(one.bytes * (microseconds(one.end) - microseconds(one.begin)) for one in messages
                   if name in call.network.route(one.source, one.target))  # fmt: skip
        assert area == pytest.approx(held, rel=1e-9)


def test_a_core_has_a_message_while_it_writes_or_reads_it(tmp_path: Path) -> None:
    """Each rank's core, and all cores together where ranks take turns: first the sender's, later the receiver's."""
    file = tmp_path / "two-cores.toml"
    file.write_text(cluster_text(load_cluster("cpu-16")).replace("cores = 16", "cores = 2"))
    call = record_single(sweep_of(Asked(str(file), ranks_per_node=4, algorithm="ring", sizes="64K")))
    slices, messages = slices_of(call.recording), messages_of(call.recording)
    assert all(one.arrival <= slices[one.read_by].begin < one.read for one in messages)
    assert all(one.read == slices[one.read_by].end for one in messages)  # the core has folded it, too
    expected: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for one in messages:
        writes = microseconds(one.begin), microseconds(one.end)
        reads = microseconds(slices[one.read_by].begin), microseconds(one.read)
        expected[f"host 0 core of rank {one.source}"].append(writes)
        expected[f"host 0 core of rank {one.target}"].append(reads)
        expected["host 0 all cores"] += [writes, reads]
    first = 1 + call.schedule.num_ranks
    found: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for event in timeline(call):
        if event["ph"] == "X" and event["pid"] >= first:
            name = call.network.link_names[event["pid"] - first]
            found[name].append((event["ts"], pytest.approx(event["ts"] + event["dur"])))
    assert {name: sorted(spans, key=lambda one: one[0]) for name, spans in found.items() if "core" in name} == {
        name: sorted(spans) for name, spans in expected.items()
    }


def test_arrows_lead_from_messages_to_the_slices_that_read_them(call: RecordedCall) -> None:
    ends: dict[str, dict[int, Any]] = {"s": {}, "f": {}}
    for event in timeline(call):
        if event["ph"] in ends:
            ends[event["ph"]][event["id"]] = event
    assert set(ends["s"]) == set(ends["f"])
    assert len(ends["s"]) == len(call.recording.messages)
    assert all(ends["s"][number]["ts"] <= ends["f"][number]["ts"] for number in ends["s"])
    slices = slices_of(call.recording)
    expected = sorted(
        (one.source + 1, one.target + 1, microseconds(slices[one.read_by].begin)) for one in messages_of(call.recording)
    )
    found = sorted((ends["s"][number]["pid"], end["pid"], end["ts"]) for number, end in ends["f"].items())
    assert found == expected


def test_the_option_writes_it_and_says_what_it_is(tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    words = ["--cluster", "cpu-2", "--algorithm", "ring", "--sizes", "1M"]
    result = CliRunner().invoke(app, ["simulate", *words, "--no-store", "--trace", str(file)])
    assert result.exit_code == 0, result.output
    content = json.loads(file.read_text())
    about = content["otherData"]
    assert about["simulated"] is True
    assert about["cluster"]["name"] == "cpu-2"
    assert "assumed" in about["cluster"]["constants"]["channel.copy_rate"]
    end = max(one["ts"] + one["dur"] for one in content["traceEvents"] if one["ph"] == "X")
    assert about["call"]["seconds"] == pytest.approx(end * 1e-6, abs=NANOSECOND)
    assert f"trace: {file} ({len(content['traceEvents'])} events)" in result.output.replace("\n", "")
    assert "perfetto" in result.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            [],
            "a trace is of one call, and these are 2 arms, 11 sizes: give --nodes, --algorithm, --protocol and --sizes",
        ),
        (["--algorithm", "ring", "--sizes", "1M", "--nodes", "1,2"], "these are 2 numbers of nodes: "),
        (
            ["--algorithm", "ring", "--sizes", "8G", "--nodes", "16"],
            "more than the 1000000 that are recorded: ask for fewer",
        ),
        (["--calibrate", "last"], "--calibrate takes its calls from what was measured: leave --trace out"),
    ],
)
def test_mistakes_are_one_line(words: list[str], said: str, tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    runs = tmp_path / "runs"
    result = CliRunner().invoke(
        app, ["simulate", "--cluster", "dgx-a100", "--trace", str(file), "--runs", str(runs), *words]
    )
    assert result.exit_code == 2, result.output
    assert said in " ".join(result.output.split())
    assert not file.exists()
    assert not runs.exists()


def test_a_file_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    words = ["--cluster", "cpu-2", "--algorithm", "ring", "--sizes", "1M", "--trace", str(tmp_path / "no" / "a.json")]
    result = CliRunner().invoke(app, ["simulate", *words])
    assert result.exit_code == 2
    assert "--trace" in result.output
    assert "can't be written" in " ".join(result.output.split())
