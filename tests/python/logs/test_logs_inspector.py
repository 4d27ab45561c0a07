"""Lines of NCCL's Inspector."""

from __future__ import annotations

import json
from typing import Any

import pytest
from nccl_info_support import assert_left_out, read

from ringtree.logs import groups


def record(coll: str = "AllReduce", size: int = 17179869184, time: int = 61974, **header: Any) -> str:
    return json.dumps(
        {
            "header": {"id": "0x7f8c496ae9f661", "rank": 2, "n_ranks": 8, "nnodes": 1, **header},
            "metadata": {"inspector_output_format_version": "v4.0", "hostname": "node-a", "pid": 1},
            "coll_perf": {
                "coll": coll,
                "coll_sn": 1407,
                "coll_msg_size_bytes": size,
                "coll_exec_time_us": time,
                "coll_timing_source": "kernel_gpu",
                "coll_algobw_gbs": 277.210914,
                "coll_busbw_gbs": 485.119099,
            },
        }
    )


def test_a_row_a_call_with_numbers_as_printed() -> None:
    (table,) = read(record() + "\n" + record(time=62000)).tables
    assert (table.format, table.collective, table.num_ranks, table.num_hosts) == ("nccl-inspector", "all_reduce", 8, 1)
    assert (table.tool_version, table.hosts, table.settings["rank"]) == ("v4.0", ["node-a"], "2")
    first, second = table.rows
    assert (first.line, first.size_bytes, second.line) == (1, 17179869184, 2)
    (side,) = first.sides
    assert side.time is not None
    assert side.busbw is not None
    assert (side.time.text, side.time.value) == ("61974", pytest.approx(0.061974))
    assert side.busbw.text == "485.119099"


def test_the_size_counts_all_ranks() -> None:
    (table,) = read(record("ReduceScatter", 2147483648, 41057)).tables
    assert table.rows[0].size_bytes == 17179869184
    assert [inference.what for inference in table.inferences] == ["size_bytes"]


def test_ranks_and_collectives_are_tables_of_their_own() -> None:
    found = read("\n".join([record(), record("AllGather"), record(rank=3), record()]))
    assert [len(table.rows) for table in found.tables] == [2, 1, 1]


@pytest.mark.parametrize(
    "text",
    [
        record()[:200],
        record(n_ranks="many"),
        record().replace('"coll_exec_time_us": 61974', '"coll_exec_time_us": NaN'),
        '{"header": [], "coll_perf": {}}',
        '{"header": {}, "p2p_perf": {"p2p": "Send"}}',
    ],
)
def test_what_lacks_something_is_counted(text: str) -> None:
    assert_left_out(text)


def test_many_rows_go_on_in_another_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups, "MAX_ROWS", 10)
    found = read("\n".join([record()] * 25 + [record(rank=rank) for rank in range(3, 5)]))
    assert [(len(table.rows), table.continued) for table in found.tables] == [
        (10, True),
        (10, True),
        (5, False),
        (1, False),
        (1, False),
    ]
