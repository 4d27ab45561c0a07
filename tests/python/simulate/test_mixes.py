"""Several algorithms on different channels of one call, as `ring+double_tree`: simulated, proved, played, run.

For: what a mix's name means from the command line to the tracks of a timeline. Not for: its schedule
(tests/core/algorithms/test_mix.cpp), its times (test_event_simulation.py).
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ringtree.cli import app
from ringtree.errors import UsageError
from ringtree.schedules import algorithms
from ringtree.schedules.schedule import schedule, verify_report
from ringtree.simulate.asked import Asked, sweep_of
from ringtree.simulate.on_core import CORE
from ringtree.simulate.points import Point
from ringtree.simulate.recorded import record_single
from ringtree.simulate.sweep import simulate_all
from ringtree.simulate.timeline import timeline


def points(algorithm: str, sizes: str, *, cluster: str = "dgx-a100", channels: int | None = None) -> list[Point]:
    return simulate_all(sweep_of(Asked(cluster, algorithm=algorithm, sizes=sizes, channels=channels)), CORE)[0].points


@pytest.mark.parametrize("algorithm", ["ring", "double_tree"])
def test_shares_are_channels(algorithm: str) -> None:
    """One algorithm in two shares is the same algorithm: a share has the bytes, the rate and the links of a channel."""
    size = str(8 * 24 * 4096)
    (alone,) = points(algorithm, size)
    (shared,) = points(f"{algorithm}:2", size)
    assert shared.seconds == pytest.approx(alone.seconds, rel=1e-12)
    assert shared.channels == alone.channels == 24
    assert shared.busiest is not None
    assert alone.busiest is not None
    assert shared.busiest.sent_bytes == alone.busiest.sent_bytes


def test_each_algorithm_has_its_share_of_the_bytes() -> None:
    """Rank 0 sends 2·7/8 of three quarters of 64 MB around the ring; what else it sends is the tree's."""
    size = 64 << 20
    of = schedule("all_reduce", "ring:3+tree", 8)
    sent = {0: 0, 1: 0}
    for step in of.program(0):
        sent[step.chunks[0] % 4 == 3] += len(step.chunks) * len(step.send_to) * size // of.num_chunks
    assert sent[0] == 2 * 7 * size * 3 // 4 // 8
    assert verify_report(of)["ok"]


def test_the_ring_and_the_tree_share_links() -> None:
    """Behind a switch both need the same ports: a mix takes at least what a port needs for the bytes of both, and gains
    nothing over the faster one."""
    mixed, ring = points("ring+double_tree,ring", "256M")
    assert mixed.busiest is not None
    assert mixed.seconds > mixed.busiest.sent_bytes / 240e9
    assert mixed.seconds > ring.seconds


@pytest.mark.parametrize(
    ("algorithm", "channels", "said"),
    [
        ("ring:3+double_tree", 10, "has 4 shares, which can't share 10 channels evenly: ask for --channels 8 or 12"),
        ("ring:3+double_tree", 3, "has 4 shares, which can't share 3 channels evenly: ask for --channels 4"),
        ("ring:0+tree", 2, "write shares as numbers from 1 to 16"),
        ("ring+tee", 2, "all_reduce has no algorithm 'tee'"),
        ("ring+nvls", 2, "nvls can't be mixed with others: its switch works for all channels"),
    ],
)
def test_mistakes_are_one_line(algorithm: str, channels: int, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        points(algorithm, "1M", channels=channels)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_one_channel_does_all_shares() -> None:
    """As the engine, whose ranks do every lane of a channel in turn."""
    (one,) = points("ring+double_tree", "1M", cluster="cpu-2")
    assert one.channels == 1


def test_a_timeline_names_the_algorithm_of_each_channel() -> None:
    call = record_single(sweep_of(Asked("dgx-a100", algorithm="ring+double_tree", sizes="1M", channels=4)))
    names = {one["args"]["name"] for one in timeline(call) if one["name"] == "thread_name" and one["pid"] == 1}
    lanes = [re.fullmatch(r"channel (\d), (\w+), lane \d", name) for name in names if name.startswith("channel")]
    assert {(int(one[1]), one[2]) for one in lanes if one} == {
        (0, "ring"), (1, "double_tree"), (2, "ring"), (3, "double_tree")
    }  # fmt: skip
    assert all(lanes)
    channels = {one["args"]["channel"] for one in timeline(call) if one["ph"] == "X" and one["cat"] == "message"}
    assert channels == {0, 1, 2, 3}


def test_the_player_draws_a_channel_of_each_share(tmp_path: Path) -> None:
    file = tmp_path / "play.html"
    result = CliRunner().invoke(app, ["play", "ring+double_tree,ring", "--cluster", "dgx-a100", "-o", str(file)])
    assert result.exit_code == 0, result.output
    text = file.read_text(encoding="utf-8")
    found = re.search(r'<script type="application/json" id="scenes">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    mixed, alone = json.loads(found[1])["scenes"]
    assert (mixed["timeline"]["shares"], alone["timeline"]["shares"]) == (2, 1)
    assert mixed["title"] == (
        "side by side, each on its own part of the data: ring with 1 of 2 shares, double_tree with 1 of 2 shares"
    )
    assert "the one that finishes last is drawn, of a mix one for each share" in text


def test_names_of_mixes() -> None:
    assert algorithms.parts("ring:3+double_tree") == [("ring", 3), ("double_tree", 1)]
    assert algorithms.parts("ring") == [("ring", 1)]
    assert algorithms.is_known("ring+tree", "broadcast")
    assert not algorithms.is_known("ring+double_tree", "broadcast")
    result = CliRunner().invoke(app, ["verify", "--algorithm", "ring+double_tree", "--ranks", "2,8"])
    assert result.output.startswith("2 schedules verified, 0 failed"), result.output
