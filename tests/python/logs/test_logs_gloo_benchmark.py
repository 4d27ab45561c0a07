"""Gloo's own benchmark, old and new."""

from __future__ import annotations

from logs_tables_support import inferred, only, read_text, side, sizes, skipped, texts

from ringtree.logs.gloo_benchmark import NO_ROW

OLD = """
Device:      tcp, pci=0000:00:05.0, iface=ens5, speed=-1, addr=[10.0.0.5]
Algorithm:   allreduce_ring_chunked
Options:     processes=4, inputs=1, threads=1

   elements   min (us)   p50 (us)   p99 (us)   max (us)   avg (GB/s)    samples
        100         90        100        150        200        0.003       2000
     500000       2000       2100       3000       4000        0.850        500
"""

NEW = """
====================================================================================================
                                     ALLREDUCE_HALVING_DOUBLING

Device:      tcp, pci=, iface=ens18, speed=-1, addr=[10.0.0.6]
Options:     processes=3, inputs=1, threads=2, verify=true

====================================================================================================
                                        BENCHMARK RESULTS

   size (B)   elements   min (us)   p50 (us)   p99 (us)   max (us)   bandwidth (GB/s)   iterations
        400        100        172        173        174        175              0.002            1
        800        200        164        165        166        167              0.005            1
"""


def test_old_output() -> None:
    table = only(read_text(OLD))
    assert (table.collective, table.algorithm, table.num_ranks, table.library) == (
        "all_reduce",
        "ring_chunked",
        4,
        "gloo",
    )
    assert texts(table, "time") == ["100", "2100"]
    assert table.columns["time"] == "p50 (us)"
    assert [texts(table, name) for name in ("min", "p99", "max", "samples")] == [
        ["90", "2000"],
        ["150", "3000"],
        ["200", "4000"],
        ["2000", "500"],
    ]
    algbw = side(table.rows[1]).algbw
    assert algbw == ("0.850", float(1 << 30))
    assert inferred(table)["unit of GB/s"] == "2^30 bytes/s"
    assert sizes(table) == [400, 2_000_000]
    assert inferred(table)["size_bytes"] == "elements x 4"


def test_new_output_with_two_threads() -> None:
    table = only(read_text(NEW))
    assert (table.collective, table.algorithm, table.num_ranks) == ("all_reduce", "halving_doubling", 3)
    assert sizes(table) == [400, 800]
    assert [row.count for row in table.rows] == [100, 200]
    assert side(table.rows[0]).algbw is None  # of two threads together
    assert texts(table, "bandwidth") == ["0.002", "0.005"]
    assert table.settings["verify"] == "true"


def test_without_a_preamble_nothing_is_known() -> None:
    table = only(
        read_text(
            """
            Example output

               elements   min (us)   p50 (us)   p99 (us)   max (us)    samples
                      1        180        240        330        400       4000
            """
        )
    )
    assert (table.collective, table.num_ranks, sizes(table)) == (None, None, [None])
    assert inferred(table)["size_bytes"] == "not stated"


def test_a_table_without_rows() -> None:
    imported = read_text("   elements   min (us)   p50 (us)   p99 (us)   max (us)    samples\nterminate called\n")
    assert skipped(imported)[NO_ROW] == 1


def test_two_runs_one_after_the_other() -> None:
    assert [table.num_ranks for table in read_text(OLD + NEW + OLD).tables] == [4, 3, 4]
