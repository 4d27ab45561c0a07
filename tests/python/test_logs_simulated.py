"""Results of ns3-msccl."""

from __future__ import annotations

import pytest
from logs_tables_support import read_text, side, sizes, skipped, texts

from ringtree.logs.simulated import NOT_A_RESULT


def test_configs_are_tables() -> None:
    ring, pairs = read_text(
        "Config\tMax_Duration_ns\n"
        "ag_ring_ll_1_2_on_128B\t26\n"
        "ag_ring_ll_1_2_on_4294967296B\t157004937\n"
        "ar_allpair_LL128_x_1_on_128B\t15\n",
        "SimResult/1x8-allgather-ring.txt",
    ).tables
    assert (ring.collective, ring.algorithm, ring.protocol) == ("all_gather", "ring", "ll")
    assert (ring.settings["channels"], ring.settings["instances"]) == ("1", "2")
    assert ring.settings["simulated"] == "yes"
    assert ring.title.startswith("simulated")
    assert (ring.num_hosts, ring.num_ranks) == (1, 8)
    assert sizes(ring) == [128, 4294967296]
    assert texts(ring, "time") == ["26", "157004937"]
    time = side(ring.rows[1]).time
    assert time is not None
    assert time.value == pytest.approx(0.157004937)
    assert (pairs.collective, pairs.algorithm, pairs.protocol) == ("all_reduce", "allpair", "ll128")


def test_other_names_and_other_lines() -> None:
    imported = read_text("Config\tMax_Duration_ns\nmy_config\t12.5\nno number\n")
    (table,) = imported.tables
    assert (table.collective, sizes(table), texts(table, "time")) == (None, [None], ["12.5"])
    assert table.num_ranks is None
    assert skipped(imported) == {NOT_A_RESULT: 1}


def test_without_a_result_it_is_read_as_text() -> None:
    assert any("begins like" in reason for reason in skipped(read_text("Config\tMax_Duration_ns\nnothing\n")))
