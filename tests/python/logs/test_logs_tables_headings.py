"""What headings of columns say."""

from __future__ import annotations

import pytest

from ringtree.logs import IN_PLACE, OUT_OF_PLACE
from ringtree.logs.tables.caption import Headings
from ringtree.logs.tables.choose import headings_of
from ringtree.logs.tables.headings import Kind, classify


@pytest.mark.parametrize(
    ("text", "kind", "arm", "unit"),
    [
        ("Size", Kind.SIZE, "", None),
        ("payload", Kind.SIZE, "", None),
        ("Message Size (B)", Kind.SIZE, "", 1.0),
        ("size_bytes", Kind.SIZE, "", 1.0),
        ("busbw", Kind.BUSBW, "", None),
        ("BusBW(GB/s)", Kind.BUSBW, "", 1e9),
        ("avg_bus_bw_GBs", Kind.BUSBW, "", 1e9),
        ("Tree+Simple busbw (GB/s)", Kind.BUSBW, "tree simple", 1e9),
        ("busbw, NVLS off", Kind.BUSBW, "nvls off", None),
        ("algbw_as_published_GBps", Kind.ALGBW, "", 1e9),
        ("Algo BW [GB/s]", Kind.ALGBW, "", 1e9),
        ("ring_bw_as_published_GBps", Kind.BANDWIDTH, "ring", 1e9),
        ("ring_GBps", Kind.BANDWIDTH, "ring", 1e9),
        ("Throughput (Gb/s)", Kind.BANDWIDTH, "", 1e9 / 8),
        ("nvlstree_avg_ms", Kind.TIME, "nvlstree", 1e-3),
        ("custom_ring_time", Kind.TIME, "custom ring", None),
        ("latency (µs)", Kind.TIME, "", 1e-6),
        ("time_s", Kind.TIME, "", 1.0),
        ("GPUs", Kind.RANKS, "", None),
        ("nodes", Kind.HOSTS, "", None),
        ("algo NCCL picks", Kind.ALGORITHM, "algo NCCL picks", None),
        ("proto", Kind.PROTOCOL, "proto", None),
        ("collective", Kind.COLLECTIVE, "", None),
        ("nccl_dtype", Kind.DTYPE, "", None),
        ("gain from SHARP", Kind.DERIVED, "", None),
        ("% of 450GBps", Kind.DERIVED, "", None),
        ("v2 vs Default", Kind.DERIVED, "", None),
        ("Delta (us)", Kind.DERIVED, "", 1e-6),
        ("bandwidth_utilisation", Kind.DERIVED, "", None),
        ("default_tokens_per_s", Kind.THROUGHPUT, "default", 1.0),
        ("Tree (k tok/s)", Kind.THROUGHPUT, "tree", 1e3),
        ("Step time (ms)", Kind.STEP_TIME, "", 1e-3),
        ("tokens", Kind.NUMBER, "", None),
        ("Default Avg", Kind.UNKNOWN, "default", None),
        ("Ring", Kind.UNKNOWN, "Ring", None),
        ("Stable choice?", Kind.UNKNOWN, "Stable choice?", None),
        ("", Kind.UNKNOWN, "", None),
    ],
)
def test_headings(text: str, kind: Kind, arm: str, unit: float | None) -> None:
    found = classify(text)
    assert (found.kind, found.arm) == (kind, arm)
    if kind not in (Kind.DERIVED,):
        assert (found.unit.scale if found.unit is not None else None) == unit


def test_statistics_and_places() -> None:
    assert classify("default_avg_ms").statistic == "avg"
    assert classify("peak_busbw_GBs").statistic == "peak"
    assert classify("out-of-place time (us)").place == OUT_OF_PLACE
    assert classify("in-place busbw").place == IN_PLACE
    assert classify("busbw @16GiB").size == "16GiB"


def test_n_and_g_together() -> None:
    assert [one.kind for one in headings_of(["test", "N", "G"])] == [Kind.COLLECTIVE, Kind.HOSTS, Kind.RANKS_PER_HOST]
    assert headings_of(["N"])[0].kind is not Kind.HOSTS


def test_headings_above_a_table() -> None:
    headings = Headings()
    for line in (
        "# Notes on a 4-GPU machine",
        "## AllGather",
        "### Results (8 GPUs, busbw GB/s)",
        "Some prose, 99 GPUs.",
    ):
        headings.see(line)
    caption = headings.caption()
    assert (caption.collective, caption.num_ranks, caption.kind) == ("all_gather", 8, Kind.BUSBW)
    assert caption.unit is not None
    assert caption.unit.scale == 1e9
    assert "8 GPUs" in caption.because["num_ranks"]


def test_the_documents_heading_tells_no_ranks_and_lower_headings_end() -> None:
    headings = Headings()
    for line in ("# A 4-GPU machine", "## Ring busbw", "## Other"):
        headings.see(line)
    caption = headings.caption()
    assert (caption.num_ranks, caption.algorithm, caption.kind) == (None, None, None)
