"""CSV and TSV files whose headings decide."""

from __future__ import annotations

import pytest
from logs_tables_support import inferred, only, read_text, side, sizes, skipped, texts

from ringtree.logs.tables.choose import NO_NUMBER, NO_TIMINGS, OTHER_TABLE
from ringtree.logs.tables.csv_file import OTHER_LENGTH


def test_an_arm_for_each_name() -> None:
    ring, nccl = read_text(
        """
        size,custom_ring_time,custom_ring_bw_as_published,nccl_time,nccl_bw_as_published,published_speedup
        4 KB,1.75 ms,,0.05 ms,,35x
        64 MB,7.25 ms,18 GB/s,1.25 ms,104 GB/s,6x
        """
    ).tables
    assert (ring.algorithm, nccl.library) == ("ring", "nccl")
    assert sizes(ring) == [4096, 64 << 20]
    assert texts(ring, "time") == ["1.75", "7.25"]
    assert texts(nccl, "bw") == [None, "104"]
    assert texts(nccl, "published_speedup") == ["35", "6"]
    assert any(one.because == "not stated which bandwidth" for one in ring.inferences)


def test_ranks_and_hosts_tell_tables_apart() -> None:
    tables = read_text(
        """
        nodes,gpus,size,default_avg_ms,nvlstree_avg_ms
        2,16,1 MB,2.5,0.75
        2,16,2 MB,3.5,
        8,64,1 MB,13.5,2.25
        """
    ).tables
    assert [(table.num_hosts, table.num_ranks, table.algorithm) for table in tables] == [
        (2, 16, None),
        (2, 16, "nvlstree"),
        (8, 64, None),
        (8, 64, "nvlstree"),
    ]
    assert [len(table.rows) for table in tables] == [2, 1, 1, 1]
    assert side(tables[0].rows[0]).time == ("2.5", 1e-3)


def test_summaries_of_runs() -> None:
    table = only(
        read_text(
            """
            # notes: by hand
            file,test,N,G,nodes,minBytes,maxBytes,avg_bus_bw_GBs,peak_busbw_GBs
            run_N4_G8.log,all_reduce_perf,4,8,n[1-4],33554432,68719476736,250.500000,360.250000
            """
        )
    )
    assert (table.collective, table.num_hosts, table.num_ranks, table.tool) == ("all_reduce", 4, 32, "nccl-tests")
    assert table.hosts == ["n[1-4]"]
    assert table.average_busbw == ("250.500000", 1e9)
    assert sizes(table) == [None]
    assert side(table.rows[0]).busbw is None
    assert texts(table, "peak_busbw_GBs") == ["360.250000"]


def test_other_separators_and_quotes() -> None:
    assert texts(only(read_text("size;time_us\n8;1.5\n")), "time") == ["1.5"]
    assert texts(only(read_text("size\ttime_us\n8\t1.5\n")), "time") == ["1.5"]
    table = only(read_text('benchmark,size,algbw_GBps\n"mine, (2 nodes)",8 GB,20\n'))
    assert (table.settings["benchmark"], table.num_hosts) == ("mine, (2 nodes)", 2)
    assert inferred(table)["num_hosts"] == "2"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("table,claim\na.csv,it is fast\n", OTHER_TABLE),
        ("model,batch,tokens_per_s\nbig,1,19000\n", OTHER_TABLE),
        ("protocol,per_hop_latency_us\nLL,1\n", NO_TIMINGS),
    ],
)
def test_what_is_no_timing_is_skipped_with_the_reason(text: str, reason: str) -> None:
    imported = read_text(text)
    assert not imported.tables
    assert skipped(imported) == {reason: 1}


def test_throughput_of_a_training_by_nodes() -> None:
    default, tree = read_text("model,nodes,default_tokens_per_s,tree_tokens_per_s\nbig,2,19000,19.5\n").tables
    assert (default.num_hosts, default.settings["arm"], default.settings["model"]) == (2, "default", "big")
    assert texts(default, "items/s") == ["19000"]
    assert default.columns["items/s"] == "default_tokens_per_s"
    assert (tree.algorithm, sizes(tree)) == ("tree", [None])


def test_bad_lines_are_counted() -> None:
    imported = read_text("size,time_us\n8,1.5\n16,n/a\n32,2.5\n1,2,3\n")
    assert sizes(only(imported)) == [8, 32]
    assert skipped(imported) == {NO_NUMBER: 1, OTHER_LENGTH: 1}


@pytest.mark.parametrize("text", ["Hello, world\nno\n", "1,2\n3,4\n", "a,a\n1,2\n", "size,time_us\n"])
def test_other_text_is_text(text: str) -> None:
    assert "no reader knows it" in skipped(read_text(text))


def test_a_long_file_goes_on_in_further_tables() -> None:
    imported = read_text("size,time_us\n" + "8,1.5\n" * 45_000)
    assert [(len(table.rows), table.continued) for table in imported.tables] == [
        (20_000, True),
        (20_000, True),
        (5_000, False),
    ]
    assert [table.first_line for table in imported.tables] == [1, 1, 1]
    assert imported.tables[-1].last_line == 45_001
