"""A described cluster on the player's clock, with the simulator's times beside it.

For: `ringtree play --cluster`. Not for: the player (tests/python/show), the simulator.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from ringtree.cli import app
from ringtree.simulate.calibration.constants import changed
from ringtree.simulate.cluster import cluster_text, load_cluster
from ringtree.simulate.played import played


def made(tmp_path: Path, *words: str) -> tuple[str, dict[str, Any]]:
    file = tmp_path / "play.html"
    result = CliRunner().invoke(app, ["play", "ring,double_tree", "-o", str(file), *words])
    assert result.exit_code == 0, result.output
    text = file.read_text(encoding="utf-8")
    found = re.search(r'<script type="application/json" id="scenes">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    return text, json.loads(found[1])


def test_routes_give_latency_and_rate() -> None:
    # DGX A100, simple: 24 channels copy 20 GB/s each, a port of NVLink has 240, eight ports of 24 leave a host.
    found = played(load_cluster("dgx-a100"), 2)
    assert found.hosts == [0] * 8 + [1] * 8
    assert found.between == pytest.approx((14e-6, 192e9))
    assert found.inside == pytest.approx((3.4e-6, 240e9))
    assert played(load_cluster("dgx-a100"), 1).between == found.inside


def test_the_page_has_the_clusters_clock_and_the_simulators_times(tmp_path: Path) -> None:
    text, data = made(tmp_path, "--cluster", "dgx-a100", "--nodes", "2")
    assert data["clock"]["alpha"] == pytest.approx(14e-6)
    assert data["inside"]["bandwidth"] == pytest.approx(240 / 192)
    assert data["scenes"][0]["hosts"] == [0] * 8 + [1] * 8
    simulated = CliRunner().invoke(
        app, ["simulate", "--cluster", "dgx-a100", "--nodes", "2", "--sizes", "1M", "--no-store", "--json"]
    )
    ring = json.loads(simulated.stdout)["points"][0]["seconds"]
    said = re.search(r"Simulated there: ring ([0-9.]+) µs, double_tree [0-9.]+ µs for 1 MB", text)
    assert said is not None
    assert float(said[1]) == pytest.approx(ring * 1e6, rel=0.01)


def test_links_without_latency_are_played_as_the_sliders_least(tmp_path: Path) -> None:
    file = tmp_path / "free.toml"
    cluster = load_cluster("cpu-2")
    free = {"host.nics.latency.simple": "0 us", "host.memory.latency.simple": "0.3 us"}
    of = dict(cluster.constants())
    values = {key: type(of[key]).model_validate(text) for key, text in free.items() if key in of}
    assert len(values) == 2
    file.write_text(cluster_text(changed(cluster, values)))
    _, data = made(tmp_path, "--cluster", str(file), "--nodes", "2")
    assert data["clock"]["alpha"] == 0
    # The slider begins at 0.1 µs, so inside a host this is 0.3 µs.
    assert data["inside"]["alpha"] * 1e-7 == pytest.approx(0.3e-6)


def test_without_a_cluster_nothing_is_said_of_one(tmp_path: Path) -> None:
    text, data = made(tmp_path, "--hosts", "2x4")
    assert "Simulated there" not in text
    assert data["inside"] == {"alpha": 0.1, "bandwidth": 10.0}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--cluster", "dgx-a100", "--alpha", "1us"], "--cluster sets --alpha: leave out one or the other"),
        (["--cluster", "dgx-a100", "--slice", "1K"], "--cluster sets --slice: "),
        (["--nodes", "2"], "--nodes is for --cluster"),
        (["--cluster", "dgx-a1000"], "no cluster is called"),
    ],
)
def test_mistakes_are_one_line(words: list[str], said: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["play", "ring", "-o", str(tmp_path / "play.html"), *words])
    assert result.exit_code == 2
    assert said in " ".join(result.output.split())
