"""Simulated calls as the player gets them: the times are the core's, messages leave and arrive as the schedule demands.

For: played.py, `ringtree play --cluster`. Not for: the page in a browser (tests/python/show/test_player_simulated.py).
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import ringtree
from ringtree.cli import app
from ringtree.schedules.format import to_json
from ringtree.schedules.schedule import Schedule, schedule
from ringtree.simulate import played as played_module
from ringtree.simulate.calibration.constants import changed
from ringtree.simulate.cluster import cluster_text, load_cluster
from ringtree.simulate.on_core import CORE
from ringtree.simulate.played import Timeline, played, simulated
from ringtree.simulate.sweep import Call, call_seconds


def made(tmp_path: Path, schedules: str, *words: str) -> tuple[str, dict[str, Any]]:
    file = tmp_path / "play.html"
    result = CliRunner().invoke(app, ["play", schedules, "-o", str(file), *words])
    assert result.exit_code == 0, result.output
    text = file.read_text(encoding="utf-8")
    found = re.search(r'<script type="application/json" id="scenes">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    return text, json.loads(found[1])


def wrong(of: Schedule, timeline: Timeline, slices_per_step: int) -> str:
    """What is wrong with a timeline by what its schedule demands; empty if nothing is."""
    programs = [of.program(rank) for rank in range(of.num_ranks)]
    sent, read = Counter[tuple[int, int]](), Counter[tuple[int, int]]()
    done: dict[tuple[int, int, int], list[tuple[float, float]]] = defaultdict(list)
    for rank, index, number, begin, end in timeline["slices"]:
        done[rank, index, number].append((begin, end))
    for source, target, _, begin, end, arrival, sender, reader in timeline["messages"]:
        if not timeline["slices"][sender][4] <= begin <= end <= arrival <= timeline["slices"][reader][3]:
            return "a message is there before it was sent, or read before it is there"
        if timeline["slices"][sender][0] != source or timeline["slices"][reader][0] != target:
            return "a message is another rank's"
        sent[source, timeline["slices"][sender][1]] += 1
        read[target, timeline["slices"][reader][1]] += 1
    for rank, program in enumerate(programs):
        for index, step in enumerate(program):
            times = sum(len(done[rank, index, number]) for number in range(timeline["passes"]))
            if times != slices_per_step:
                return "a step is done more or less often"
            if sent[rank, index] != times * len(step.send_to) or read[rank, index] != times * len(step.recv):
                return "a message is missing"
            if any(
                done[rank, before, 0][-1][1] > done[rank, index, 0][-1][1] for before in of.dependencies(rank)[index]
            ):
                return "a step is done before the one that it waits for"
    if max(end for _, _, _, _, end in timeline["slices"]) != timeline["end"]:
        return "it does not end with its last slice"
    return ""


@pytest.mark.parametrize("algorithm", ["ring", "double_tree", "hierarchical_ring", "two_shot", "chain"])
def test_the_timeline_is_the_simulators(algorithm: str) -> None:
    cluster = load_cluster("dgx-a100")
    hosts = (0,) * 8 + (1,) * 8
    of = schedule("all_reduce", algorithm, 16, hosts=hosts)
    found = simulated(cluster, of, 2, 1 << 20)
    timeline = played(found)
    seconds = call_seconds(CORE, cluster, Call("all_reduce", algorithm, hosts, 1 << 20, cluster.channel.count), 8)
    assert timeline["end"] * 1e-12 == pytest.approx(seconds, rel=1e-12)
    assert found.point.seconds == seconds
    per_step = len(timeline["slices"]) // sum(len(of.program(rank)) for rank in range(16))
    assert wrong(of, timeline, per_step) == ""
    # All channels together carried what the simulator says: as much as all messages crossed links.
    crossings = sum(int(one["bytes"]) * len(found.network.route(int(one["source"]), int(one["target"])))
                    for one in found.recording.messages)  # fmt: skip
    again = CORE.run(Call("all_reduce", algorithm, hosts, 1 << 20, cluster.channel.count), found.network,
                     cluster.protocol("simple"))  # fmt: skip
    assert crossings == again.link_bytes.sum()


def test_what_is_wrong_with_a_timeline_is_found() -> None:
    of = schedule("all_reduce", "ring", 2)
    timeline = played(simulated(load_cluster("cpu-2"), of, 1, 1 << 10))
    assert wrong(of, timeline, 1) == ""

    def with_message(place: int, value: int) -> Timeline:
        messages = [list(one) for one in timeline["messages"]]
        messages[0][place] = value
        return {**timeline, "messages": messages}  # type: ignore[typeddict-item]

    assert wrong(of, with_message(3, 0), 1).startswith("a message is there before")
    assert wrong(of, with_message(5, timeline["end"] + 1), 1).startswith("a message is there before")
    assert wrong(of, with_message(0, 1 - timeline["messages"][0][0]), 1) == "a message is another rank's"
    assert wrong(of, {**timeline, "messages": timeline["messages"][1:]}, 1) == "a message is missing"
    assert wrong(of, {**timeline, "end": timeline["end"] + 1}, 1) == "it does not end with its last slice"
    assert wrong(of, timeline, 2) == "a step is done more or less often"


def test_the_page_is_of_the_cluster_and_says_so(tmp_path: Path) -> None:
    text, data = made(tmp_path, "ring,double_tree", "--cluster", "dgx-a100", "--nodes", "2")
    assert data["clock"] is None
    assert data["scenes"][0]["hosts"] == [0] * 8 + [1] * 8
    simulated_too = CliRunner().invoke(
        app, ["simulate", "--cluster", "dgx-a100", "--nodes", "2", "--sizes", "1M", "--no-store", "--json"]
    )
    for scene, point in zip(data["scenes"], json.loads(simulated_too.stdout)["points"], strict=True):
        assert scene["timeline"]["end"] * 1e-12 == pytest.approx(point["seconds"], rel=1e-12)
        assert point["busiest"]["name"] in scene["told"]
    assert "Simulated, not measured: all_reduce of 1 MB on 2 nodes of DGX A100" in text
    assert "Of 24 channels" in text
    assert "latency α" not in text


def test_own_schedules_are_simulated_too(tmp_path: Path) -> None:
    own = tmp_path / "own.json"
    own.write_text(to_json(ringtree.schedule("all_reduce", "ring", 2)))
    _, data = made(tmp_path, f"{own},ring", "--cluster", "cpu-2", "--size", "64K")
    assert data["scenes"][0]["timeline"] == data["scenes"][1]["timeline"]


def test_links_without_latency_are_played_without(tmp_path: Path) -> None:
    file = tmp_path / "free.toml"
    cluster = load_cluster("cpu-2")
    values = {key: type(one).model_validate("0 us") for key, one in cluster.constants() if "latency" in key}
    file.write_text(cluster_text(changed(cluster, values)))
    _, data = made(tmp_path, "ring", "--cluster", str(file), "--nodes", "2")
    assert all(message[4] == message[5] for message in data["scenes"][0]["timeline"]["messages"])


def test_without_a_cluster_nothing_is_said_of_one(tmp_path: Path) -> None:
    text, data = made(tmp_path, "ring", "--hosts", "2x4")
    assert "Simulated, not" not in text
    assert data["scenes"][0]["timeline"] is None
    assert data["clock"]["size"] == 1 << 20


def test_what_is_too_much_for_a_browser_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(played_module, "MOST_PLAYED", 9)
    call = simulated(load_cluster("cpu-2"), schedule("all_reduce", "ring", 2), 1, 1 << 10)
    with pytest.raises(ringtree.errors.UsageError, match="has 10 slices and messages: the player takes 9; use fewer"):
        played(call)


def test_a_refuted_schedule_has_no_time(tmp_path: Path) -> None:
    def forgetful(p: ringtree.ProgramBuilder) -> None:
        other = 1 - p.rank
        p.send(0, to=other)
        p.recv(0, source=other)  # keeps what came and forgets its own

    own = tmp_path / "own.json"
    own.write_text(to_json(ringtree.build("all_reduce", forgetful, ranks=2, name="forgetful")))
    result = CliRunner().invoke(app, ["play", str(own), "--cluster", "cpu-2", "-o", str(tmp_path / "a.html")])
    assert result.exit_code == 2
    assert "forgetful is not a correct schedule, so its time means nothing" in " ".join(result.output.split())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--cluster", "dgx-a100", "--alpha", "1us"], "--cluster sets --alpha: leave out one or the other"),
        (["--cluster", "dgx-a100", "--slice", "1K"], "--cluster sets --slice: "),
        (["--cluster", "dgx-a100", "--size", "8G", "--nodes", "16"], "more than the 1000000 that are recorded"),
        (["--nodes", "2"], "--nodes is for --cluster"),
        (["--cluster", "dgx-a1000"], "no cluster is called"),
    ],
)
def test_mistakes_are_one_line(words: list[str], said: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["play", "ring", "-o", str(tmp_path / "play.html"), *words])
    assert result.exit_code == 2
    assert said in " ".join(result.output.split())
