"""Simulated calls in the player's page: the clock is the core's, contents are what is proved.

For: recorded.js, simulated.py. Not for: the page's own model (test_player.py), the times (tests/python/simulate).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser_support import Page, browser

from ringtree.errors import UsageError
from ringtree.schedules import algorithms
from ringtree.schedules.schedule import schedule
from ringtree.show.player import headline, recorded_page, scene, simulated_scene
from ringtree.show.player.simulated import told
from ringtree.simulate.cluster import Cluster, load_cluster
from ringtree.simulate.played import simulated
from ringtree.simulate.recorded import RecordedCall
from ringtree.units import format_time

RESULT = """i => {
  const { result } = player.views[i];
  const last = new Map();
  for (const write of result.writes) if (write.kept) last.set(`${write.rank}/${write.chunk}`, [...write.value]);
  const times = result.writes.map((write) => write.time);
  return { end: result.end, last: [...last], ascending: times.every((time, k) => k === 0 || times[k - 1] <= time) };
}"""


@pytest.fixture(scope="module")
def opened() -> Iterator[Any]:
    with browser() as one:
        yield one


def shown(opened: Any, tmp_path: Path, calls: list[RecordedCall]) -> Page:
    scenes = [simulated_scene(one) for one in calls]
    size = calls[0].point.size_bytes
    text = recorded_page(scenes, title="test", size_bytes=size, headline=headline(calls, scenes))
    file = tmp_path / "play.html"
    file.write_text(text, encoding="utf-8")
    return Page(opened, file.as_uri())


def calls_on(cluster: Cluster, names: list[str], nodes: int, size_bytes: int) -> list[RecordedCall]:
    hosts = [rank // cluster.host.ranks for rank in range(nodes * cluster.host.ranks)]
    return [
        simulated(cluster, schedule("all_reduce", name, len(hosts), hosts=hosts), nodes, size_bytes) for name in names
    ]


@pytest.mark.parametrize(("cluster", "nodes", "size_bytes"), [("dgx-a100", 1, 1 << 20), ("cpu-2", 2, 8 << 20)])
def test_every_algorithm_ends_with_the_call_and_every_contribution_once(
    opened: Any, tmp_path: Path, cluster: str, nodes: int, size_bytes: int
) -> None:
    names = [*algorithms.names("all_reduce", several_hosts=nodes > 1), "ring:2+double_tree"]
    passes = 0
    for first in range(0, len(names), 4):
        calls = calls_on(load_cluster(cluster), names[first : first + 4], nodes, size_bytes)
        one = shown(opened, tmp_path, calls)
        for i, call in enumerate(calls):
            got, of = one.run_on_text(RESULT, i), call.schedule
            passes = max(passes, 1 + int(call.recording.slices["pass"].max()))
            assert got["end"] == pytest.approx(call.point.seconds, rel=1e-12), of.name
            assert got["ascending"], of.name
            held = dict(got["last"])
            expected = {f"{rank}/{chunk}" for rank in range(of.num_ranks) for chunk in range(of.num_chunks)}
            assert set(held) == expected, of.name
            assert all(value == [1] * of.num_ranks for value in held.values()), of.name
        assert one.problems == []
    assert (passes > 1) == (cluster == "cpu-2")


SWITCHES = """() => {
  const view = player.views[0];
  const { scene } = view;
  const at = view.place(600, 600);
  const ends = (i) => [...view.neighbours[scene.ranks + i]].sort((a, b) => a - b);
  const writers = [...new Set(view.result.writes.map(({ rank }) => rank))].sort((a, b) => a - b);
  return { places: at, shape: view.shape(), ends: scene.switches.map((_, i) => ends(i)), writers,
    rows: document.querySelectorAll('tbody tr').length, busiest: view.busiest };
}"""


@pytest.mark.parametrize(("algorithm", "nodes"), [("nvls", 1), ("nvls_tree", 2)])
def test_switches_are_drawn_among_their_ranks_and_keep_nothing(
    opened: Any, tmp_path: Path, algorithm: str, nodes: int
) -> None:
    """Each joins the ranks of its host and stands apart from all of them; sums come out right."""
    (call,) = calls_on(load_cluster("dgx-h100"), [algorithm], nodes, 1 << 20)
    one = shown(opened, tmp_path, [call])
    got, of = one.run(SWITCHES), call.schedule
    assert got["ends"] == [list(range(8 * host, 8 * host + 8)) for host in range(nodes)]
    assert len(got["places"]) == of.num_ranks + nodes
    assert got["shape"] == ("circle" if nodes == 1 else "hosts")
    for number in range(of.num_ranks, of.num_ranks + nodes):
        x, y = got["places"][number]
        others = [place for index, place in enumerate(got["places"]) if index != number]
        assert min(math.hypot(x - right, y - down) for right, down in others) > 25
        assert 0 < x < 600
        assert 0 < y < 600
    assert got["writers"] == list(range(of.num_ranks))
    assert got["rows"] in (0, of.num_ranks)  # sums are written out for few ranks and chunks only
    assert got["busiest"] < of.num_ranks
    held = dict(one.run_on_text(RESULT, 0)["last"])
    assert all(value == [1] * of.num_ranks for value in held.values())
    assert len(held) == of.num_ranks * of.num_chunks
    for layout in ("circle", "tree", "hosts"):
        one.run("layout => player.relayout(layout)", layout)
        assert len(one.run(SWITCHES)["places"]) == of.num_ranks + nodes
    one.page.keyboard.press("End")
    assert one.problems == []


def test_a_switch_without_steps_stands_beside_its_rank(opened: Any, tmp_path: Path) -> None:
    """Nothing joins it to a rank but where it is: further in than that rank, not nowhere."""
    (call,) = calls_on(load_cluster("dgx-h100"), ["nvls"], 1, 1 << 20)
    one = shown(opened, tmp_path, [call])
    x, y = one.run("""() => {
      const view = player.views[0];
      view.neighbours[view.scene.ranks] = new Set();
      view.scene.switches = [2];
      return view.place(600, 600)[view.scene.ranks];
    }""")
    # Rank 2 of 8 is on the right of the circle, a quarter of the way round.
    assert 300 < x < 600
    assert y == pytest.approx(300)
    assert one.problems == []


def test_the_pages_own_model_has_no_switches() -> None:
    with pytest.raises(UsageError, match=r"^the player's own model has ranks only, and in nvls a switch reduces, too"):
        scene(schedule("all_reduce", "nvls", 8))


def test_it_plays_by_keys_and_says_what_it_is_of(opened: Any, tmp_path: Path) -> None:
    calls = calls_on(load_cluster("dgx-a100"), ["ring", "double_tree"], 1, 1 << 20)
    one = shown(opened, tmp_path, calls)
    assert "Simulated, not measured: all_reduce of 1 MB on 1 node of DGX A100" in one.page.inner_text("body")
    assert "limited by latency" in one.page.inner_text(".told")
    assert "double_tree is 1." in one.page.inner_text("#winner")
    assert one.run("document.getElementById('alpha')") is None
    launch = one.run("player.views[0].scene.timeline.launch") * 1e-12
    one.page.keyboard.press("ArrowRight")
    assert one.run("player.time") > launch
    # In the middle of the first fold it is its rank that works, and nobody does before the launch and at the end.
    fold = next(piece for piece in one.run("player.views[0].scene.timeline.slices") if piece[4] > piece[3])
    busy = "at => [...player.views[0].busyRanks(at)]"
    assert fold[0] in one.run(busy, (fold[3] + fold[4]) / 2 * 1e-12)
    assert one.run(busy, launch / 2) == one.run(busy, one.run("player.end")) == []
    one.page.keyboard.press("End")
    assert one.run("player.time") == one.run("player.end")
    assert one.run("document.querySelectorAll('td.full').length") == 8 * (8 + calls[1].schedule.num_chunks)
    assert "done" in one.page.inner_text(".status")
    one.page.keyboard.press("Home")
    assert one.run("document.querySelectorAll('td.full').length") == 0
    assert one.problems == []


def test_what_is_said_of_several_collectives_and_of_a_call_without_time() -> None:
    cluster = load_cluster("dgx-a100")
    (call,) = calls_on(cluster, ["ring"], 1, 1 << 20)
    other = simulated(cluster, schedule("all_gather", "ring", 8, hosts=[0] * 8), 1, 1 << 20)
    scenes = [simulated_scene(one) for one in (call, other)]
    assert headline([call, other], scenes)[0].startswith("Simulated, not measured: calls of 1 MB on 1 node of DGX A100")
    assert ", limited by latency (" in told(call.point)
    none = {"seconds": 0.0, "limit": dict.fromkeys(call.point.limit, 0.0), "busiest": None}
    assert told(call.point.model_copy(update=none)) == f"Simulated: {format_time(0.0)}."


def test_passes_are_told_apart(opened: Any, tmp_path: Path) -> None:
    call = calls_on(load_cluster("cpu-2"), ["ring"], 1, 8 << 20)[0]
    one = shown(opened, tmp_path, [call])
    passes = 1 + int(call.recording.slices["pass"].max())
    assert passes > 1
    assert f"the data go through in {passes} parts" in one.page.inner_text("caption")
    cells = "[...document.querySelectorAll('td')].map((cell) => cell.textContent)"
    one.run(f"player.seek(player.end * 1.5 / {passes})")
    assert any(text.startswith(f"1/{passes} ") for text in one.run(cells))
    one.page.keyboard.press("End")
    assert all(text.startswith(f"{passes}/{passes} ") for text in one.run(cells))
    assert one.problems == []
