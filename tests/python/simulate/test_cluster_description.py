"""Descriptions of clusters as TOML: what is read, what is refused with which words, and that writing loses nothing.

For: constants and the shape of a file. Not for: presets (test_cluster_presets.py), routes (test_cluster_routes.py).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from ringtree.errors import UsageError
from ringtree.simulate.cluster import Cluster, cluster_text, load_cluster, parse_cluster_text, read_cluster
from ringtree.simulate.cluster.paths import ALL_CORES, NO_CORE

SMALL = """
name = "small"
launch = "5 us"

[host]
ranks = 2

[host.links]
kind = "mesh"
links = [[0, 2], [2, 0]]
rate = { value = 25, unit = "GB/s", source = "a data sheet", date = 2026-11-22 }
reached = "80 %"
latency = { simple = "3 us", ll = "1 us", ll128 = "2 us" }

[channel]
count = 4
copy_rate = "20 GB/s"
reduce_rate = "20 GB/s"

[protocols.simple]
step_latency = "0 us"
efficiency = "1"
slot = "512 KiB"
slots = 8
"""


def small(old: str = "", new: str = "") -> Cluster:
    assert old in SMALL
    return parse_cluster_text(SMALL.replace(old, new), "small.toml")


def refusal(old: str, new: str) -> str:
    with pytest.raises(UsageError) as caught:
        small(old, new)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_constants_have_value_unit_source_and_date() -> None:
    found = dict(small().constants())
    rate = found["host.links.rate"]
    assert (rate.si, rate.source, rate.date, rate.assumed) == (25e9, "a data sheet", "2026-11-22", False)
    assert (found["host.links.latency.ll"].si, found["host.links.latency.ll"].assumed) == (pytest.approx(1e-6), True)
    assert (found["host.links.reached"].si, found["protocols.simple.slot"].si) == (0.8, 524288)
    assert found["launch.ll128"].si == pytest.approx(5e-6)  # one constant holds for every protocol


def test_what_is_written_reads_back_the_same() -> None:
    cluster = small()
    assert parse_cluster_text(cluster_text(cluster), "again") == cluster


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("ranks = 2", "ranks = 0", "key host.ranks: Input should be greater than or equal to 1"),
        ("ranks = 2", "ranks = 3", "key host: links.links has 2 entries for 3 ranks"),
        ("[[0, 2], [2, 0]]", "[[0, 2], [1, 0]]", "links.links joins 0 to 1 by 2 links, but 1 to 0 by 1"),
        ("[[0, 2], [2, 0]]", "[[1, 2], [2, 0]]", "links.links joins 0 to itself"),
        ("[[0, 2], [2, 0]]", "[[0, 2], [2]]", "links.links is a square matrix; row 1 has 1 entries, not 2"),
        ('"5 us"', '"5 GB/s"', "key launch.simple: the unit is one of s, ms, us, ns, not 'GB/s'"),
        ('"5 us"', '"five"', "key launch.simple: write a number with its unit, as \"10 s\", not 'five'"),
        ('"80 %"', '"120 %"', "key host.links.reached: a share must be above 0 and at most 1, not 120 %"),
        (", date = 2026-11-22", "", "key host.links.rate: the source 'a data sheet' needs a `date`"),
        ("value = 25", "value = 0", "key host.links.rate.value: Input should be greater than 0"),
        ("slots = 8", "slots = 8\ncolour = 1", "key protocols.simple.colour: Extra inputs are not permitted"),
        ('kind = "mesh"', 'kind = "torus"', "key host.links: Input tag 'torus'"),
        ("[channel]", "[fabric]\nrails = true\nleaf_hosts = 4\nlatency = '1 us'\n[channel]", "have no ports for it"),
        ("[host]", "[host", "small.toml: Expected"),
    ],
)
def test_a_mistake_is_one_line_with_file_and_key(old: str, new: str, words: str) -> None:
    message = refusal(old, new)
    assert message.startswith("small.toml: ")
    assert words in message


MEMORY = """[host.memory]
rate = "80 GB/s"
latency = "1 us"
sockets = [0, 0]
core = "20 GB/s"
cores = 1
touched = [
  { bytes = "1 MiB", rate = "60 GB/s" },
  { bytes = { value = 32, unit = "MiB", source = "a probe", date = 2026-11-25 }, rate = "10 GB/s" },
]
between = { rate = "10 GB/s", latency = "1 us" }

[channel]"""


def test_what_cores_touch_is_a_list_of_constants() -> None:
    cluster = small("[channel]", MEMORY)
    found = dict(cluster.constants())
    assert [found[f"host.memory.touched.{i}.bytes"].si for i in (0, 1)] == [1 << 20, 32 << 20]
    assert [found[f"host.memory.touched.{i}.rate"].si for i in (0, 1)] == [60e9, 10e9]
    assert (found["host.memory.touched.1.bytes"].assumed, found["host.memory.touched.1.rate"].assumed) == (False, True)
    assert parse_cluster_text(cluster_text(cluster), "again") == cluster


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            'core = "20 GB/s"\n',
            "",
            "memory.touched is for the cores of memory.core, which is not given",
        ),
        ("value = 32, unit", "value = 1, unit", "key host.memory: memory.touched names its bytes in ascending order"),
        ('"60 GB/s"', '"60 us"', "key host.memory.touched.0.rate: the unit is one of B/s, MB/s, GB/s, Gb/s, not 'us'"),
    ],
)
def test_what_cores_touch_can_be_wrong(old: str, new: str, words: str) -> None:
    assert old in MEMORY
    assert words in refusal("[channel]", MEMORY.replace(old, new))


def test_ranks_that_take_turns_on_a_core_reach_a_level_sooner() -> None:
    """Two ranks on one core: half of the bytes each. Without its links the host's ranks go by memory."""
    cluster = small("[channel]", MEMORY)
    cluster = cluster.model_copy(update={"host": cluster.host.model_copy(update={"links": None})})
    network = cluster.network([(0, 1)], 1)
    assert network.memory.core_rate == 20e9
    assert list(network.memory.bytes) == [1 << 19, 16 << 20]
    assert list(network.memory.rate) == [60e9, 10e9]
    cores = dict(zip(network.link_names, network.memory.link_core, strict=True))
    assert cores == {
        "host 0 memory of socket 0": NO_CORE,
        "host 0 core of rank 0": 0,
        "host 0 core of rank 1": 1,
        "host 0 all cores": ALL_CORES,
    }
    assert len(small().network([(0, 1)], 1).memory.bytes) == 0


def test_files_by_path_and_one_that_is_not_there(tmp_path: Path) -> None:
    file = tmp_path / "small.toml"
    with pytest.raises(UsageError, match=r"can't read .*small\.toml: No such file"):
        load_cluster(str(file))
    file.write_text(SMALL, encoding="utf-8")
    assert load_cluster(str(file)) == read_cluster(file) == small()


def test_protocols_and_nodes_that_there_are_not() -> None:
    cluster = small("ranks = 2", "ranks = 2").model_copy(update={"hosts": 1})
    with pytest.raises(UsageError, match="small describes the protocols simple, not 'll'"):
        cluster.protocol("ll")
    with pytest.raises(UsageError, match="small has 2 ranks a host, not 3"):
        cluster.network([(0, 1)], 1, 3)
    with pytest.raises(UsageError, match="small needs at least 1 node and has 1 host, not 2"):
        cluster.network([(0, 1)], 2)
    simple = cluster.protocol("simple")
    assert (simple.step_latency, simple.efficiency, simple.slot_bytes, simple.slots) == (0.0, 1.0, 524288, 8)
