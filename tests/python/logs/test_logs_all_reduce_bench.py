"""All-reduce benchmarks in PyTorch that print sentences."""

from __future__ import annotations

import pytest
from logs_tables_support import inferred, only, read_text, side, sizes, skipped, texts

from ringtree.logs.all_reduce_bench import NO_ROW


def test_averages_below_the_size() -> None:
    table = only(
        read_text(
            """
            MASTER_ADDR=node7
            NUM_NODES=4
            NUM_GPUS_PER_NODE=8
            NUM_GPUS=32
            0 data size: 6.0 GB
            tput_avg (Gbps): 1250.062501525879 busbw_avg (Gbps): 1210.9980
            bye
            """
        )
    )
    assert (table.collective, table.num_ranks, table.num_hosts) == ("all_reduce", 32, 4)
    assert sizes(table) == [6_000_000_000]
    assert texts(table, "tput") == ["1250.062501525879"]
    assert texts(table, "busbw") == ["1210.9980"]
    assert side(table.rows[0]).algbw is None
    assert inferred(table)["tput"] == "2 x size / time"


def test_trials() -> None:
    table = only(
        read_text(
            """
            node1:0 data size: 4.0 GB
            node1:1 data size: 4.0 GB
            node1:0:
             duration: 0.0602 sec
             algo throughput: 1063521594684.3 bps, 1063.5216 Gbps
             busbw: 797.6412  Gbps
            node1:1:
             duration: 0.0612 sec
             algo throughput: 1046.4052 Gbps
             busbw: 784.8039  Gbps
            """
        )
    )
    assert texts(table, "time") == ["0.0602", "0.0612"]
    assert texts(table, "tput") == ["1063.5216", "1046.4052"]
    assert texts(table, "busbw") == ["797.6412", "784.8039"]
    time = side(table.rows[0]).time
    assert time is not None
    assert time.value == pytest.approx(0.0602)


def test_a_sentence_with_two_rates() -> None:
    table = only(
        read_text(
            """
            The average bandwidth of all_reduce with a 4.0GB payload (5 trials, 4 ranks):
             algbw: 230.123 GBps (1841.0 Gbps)
             busbw: 345.185 GBps (2761.5 Gbps)
            """
        )
    )
    assert (table.num_ranks, table.settings["iterations"], sizes(table)) == (4, "5", [4_000_000_000])
    assert side(table.rows[0]).algbw == ("230.123", 1e9)
    assert side(table.rows[0]).busbw == ("345.185", 1e9)


def test_an_end_before_the_result() -> None:
    imported = read_text("0 data size: 6.0 GB\nRuntimeError: NCCL error\n")
    assert skipped(imported)[NO_ROW] == 1
