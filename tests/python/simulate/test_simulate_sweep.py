"""Sweeps over nodes, sizes and algorithms: what is asked, what comes of it, and where lines cross.

For: everything around the simulator, which is a stand-in here. Not for: the simulator's times (tests/core/simulate).
"""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console
from simulate_support import StandIn

from ringtree.errors import UsageError
from ringtree.show.simulation_text import conclusions, left_out_lines, print_simulation, symmetry_lines
from ringtree.simulate.asked import Asked, parse_nodes, sweep_of
from ringtree.simulate.cluster import cluster_text, load_cluster
from ringtree.simulate.points import Point, Simulation, crossings
from ringtree.simulate.sweep import simulate_all


def simulated(**asked: object) -> Simulation:
    given = {"cluster": "dgx-a100", "algorithm": "ring,chain", "sizes": "1K,16M"} | asked
    return simulate_all(sweep_of(Asked(**given)), StandIn())[0]  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def _chain_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ringtree.simulate.asked.builtin.names", lambda *_, **__: ["ring", "chain"])


def point(arm: str, size: int, seconds: float, nodes: int = 1) -> Point:
    return Point(
        nodes=nodes, num_ranks=8, arm=arm, algorithm=arm, protocol="simple", channels=1, size_bytes=size,
        seconds=seconds, algbw=size / seconds, busbw=None, limit={}, limited_by="", critical_links=[], busiest=None,
        num_events=0, lanes=8, all_lanes=8,
    )  # fmt: skip


def test_nodes_double_and_end_at_their_end() -> None:
    assert parse_nodes("1:512") == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]
    assert parse_nodes("3:10,1") == [1, 3, 6, 10]
    for text in ("", "0", "4:2", "x", "1:2:3", "1,,2"):
        with pytest.raises(UsageError, match="invalid nodes"):
            parse_nodes(text)


def test_a_ring_on_paper() -> None:
    # 14 steps of 2 MB at 240 GB/s and 3.4 µs, and a launch of 8.4 µs.
    (found,) = simulated(algorithm="ring", sizes="16000000").points
    assert found.seconds == pytest.approx(8.4e-6 + 14 * (2e6 / 240e9 + 3.4e-6))
    assert found.busbw == pytest.approx(16e6 / found.seconds * 14 / 8)
    assert found.busiest is not None
    assert found.busiest.kind == "NVLink"
    assert found.busiest.share == pytest.approx(14 * 2e6 / 240e9 / found.seconds)
    assert found.limited_by == "link"
    assert found.simulated


def test_one_link_at_half_its_rate_is_the_limit() -> None:
    whole = simulated(algorithm="ring", sizes="16M").points[0]
    half = simulated(algorithm="ring", sizes="16M", what_if=("nvlink 3 at 50%",)).points[0]
    assert half.limit["link"] == pytest.approx(2 * whole.limit["link"])
    assert half.critical_links[0] in ("host 0 GPU 3 NVLink out", "host 0 GPU 3 NVLink in")


def test_arms_that_cannot_run_are_left_out_and_said() -> None:
    result = simulated(nodes="1,2")
    assert {(one.nodes, one.arm) for one in result.points} == {(1, "ring"), (1, "chain"), (2, "ring")}
    assert [(one.nodes, one.arm, one.why) for one in result.left_out] == [(2, "chain", "chain runs on one host")]
    with pytest.raises(UsageError, match="hgx-h200-8-gpu: rank 7"):
        simulated(cluster="hgx-h200", nodes="2", algorithm="ring")


def test_protocols_are_arms_where_there_are_several() -> None:
    result = simulated(algorithm="ring", protocol="ll,simple", sizes="1K,64M")
    assert [one.arm for one in result.points] == ["ring/ll", "ring/ll", "ring/simple", "ring/simple"]
    (crossing,) = result.crossings
    assert (crossing.first, crossing.second) == ("ring/ll", "ring/simple")
    assert 1024 < crossing.at < 64 << 20


def test_a_crossing_lies_where_the_ratio_passes_one() -> None:
    # a takes 1 and 4, b takes 2 and 2: ratios 1/2 and 2, so half way in logarithms: the geometric mean.
    found = crossings([point("a", 100, 1.0), point("a", 400, 4.0), point("b", 100, 2.0), point("b", 400, 2.0)])
    assert [(one.below, one.above, one.at, one.first, one.second) for one in found] == [(100, 400, 200, "a", "b")]
    assert crossings([point("a", 100, 1.0), point("b", 100, 2.0)]) == []


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"collective": "all_the_things"}, "unknown collective"),
        ({"algorithm": "rings"}, "all_reduce has no algorithm 'rings': there are ring, chain, and all"),
        ({"protocol": "ll256"}, "describes the protocols simple, ll, ll128, not 'll256'"),
        ({"ranks_per_node": 9}, "dgx-a100 has 8 ranks a host, not 9"),
        ({"ranks_per_node": 1}, "a collective of one rank takes no time"),
        ({"nodes": "9000"}, "9000 nodes of 8 ranks are more than 65536 ranks"),
        ({"sizes": "0"}, "sizes must be above 0"),
    ],
)
def test_mistakes_are_one_line(asked: dict[str, object], words: str) -> None:
    with pytest.raises(UsageError) as caught:
        simulated(**asked)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_printed_says_that_it_is_simulated_and_what_is_not_modelled() -> None:
    console = Console(width=200, record=True, quiet=False, file=None, force_terminal=False)
    with console.capture() as caught:
        print_simulation(console, simulated(what_if=("nvlink 3 at 50%",)))
    text = caught.get()
    assert text.startswith("simulated, not measured: all_reduce on DGX A100: 8 × A100 SXM4 40GB, what if nvlink 3")
    assert "1 node, 8 ranks, 24 channels (simulated)" in text
    assert "fastest on 1 node: chain below" in text
    assert "not modelled: congestion control" in text
    assert "GPU 3 NVLink" in text


def test_what_symmetry_saved_is_said_by_arm() -> None:
    whole = point("double_tree", 8, 1.0)
    some, fewer = (point("ring", size, 1.0).model_copy(update={"lanes": lanes}) for size, lanes in ((8, 4), (16, 2)))
    assert list(symmetry_lines([whole])) == []
    assert list(symmetry_lines([whole, some, fewer])) == [
        "exactly alike, so simulated once: ring from 25% of its lanes"
    ]


def test_a_cluster_from_a_file_is_shown_by_its_file(tmp_path: Path) -> None:
    file = tmp_path / "ours.toml"
    file.write_text(cluster_text(load_cluster("dgx-a100")))
    lines = list(conclusions(simulated(cluster=str(file))))
    assert f"`ringtree cluster show {file}`" in " ".join(lines)


def test_an_arm_that_is_left_out_everywhere_is_said_once() -> None:
    lines = list(left_out_lines(simulated(nodes="1:4")))
    assert lines == ["left out: chain on 2, 4 nodes: chain runs on one host"]
    assert list(left_out_lines(simulated(nodes="1,2"))) == ["left out: chain on 2 nodes: chain runs on one host"]
