"""AIConfigurator's CSV files."""

from __future__ import annotations

import pytest
from logs_tables_support import inferred, only, read_text, side, sizes, skipped, texts

from ringtree.logs import OUT_OF_PLACE
from ringtree.logs.aiconfigurator import NO_NUMBER, OTHER_LENGTH

HEAD = "framework,version,device,op_name,kernel_source,nccl_dtype,num_gpus,message_size,latency\n"


def line(
    op: str = "all_reduce", dtype: str = "half", gpus: int = 8, count: str = "256", latency: str = "0.0125"
) -> str:
    return f"TRTLLM,2.27.3,NVIDIA H100 80GB HBM3,{op},NCCL,{dtype},{gpus},{count},{latency}\n"


def test_sizes_are_elements_and_times_milliseconds() -> None:
    table = only(read_text(HEAD + line() + line(count="512", latency="0.0099499999999999")))
    assert (table.collective, table.num_ranks, table.library, table.library_version) == (
        "all_reduce",
        8,
        "nccl",
        "2.27.3",
    )
    assert table.devices == ["NVIDIA H100 80GB HBM3"]
    assert sizes(table) == [512, 1024]
    assert [(row.count, row.dtype) for row in table.rows] == [(256, "half"), (512, "half")]
    assert texts(table, "time") == ["0.0125", "0.0099499999999999"]
    assert side(table.rows[0]).time == ("0.0125", 1e-3)
    assert side(table.rows[0]).place == OUT_OF_PLACE
    assert inferred(table)["size_bytes"] == "message_size x 2"


def test_tables_by_all_that_tells_apart_and_duplicates_kept() -> None:
    tables = read_text(HEAD + line() + line(dtype="int8") + line(gpus=4) + line("alltoall") + line() + line()).tables
    assert [len(table.rows) for table in tables] == [3, 1, 1, 1]
    assert [table.collective for table in tables] == ["all_reduce"] * 3 + ["all_to_all"]
    assert sizes(tables[1]) == [256]
    assert [row.line for row in tables[0].rows] == [2, 6, 7]


def test_an_unknown_type_has_no_size() -> None:
    table = only(read_text(HEAD + line(dtype="tf32")))
    assert sizes(table) == [None]
    assert table.rows[0].count == 256


def test_its_other_file() -> None:
    table = only(
        read_text(
            """
            framework,version,device,op_name,kernel_source,allreduce_dtype,num_gpus,message_size,latency,power
            TRTLLM,1.0.0,NVIDIA H200,all_reduce,TRTLLM,bfloat16,4,128,0.004,312.5
            """
        )
    )
    assert (sizes(table), table.library, table.settings["version"]) == ([256], None, "1.0.0")
    assert texts(table, "power") == ["312.5"]
    assert side(table.rows[0]).place == ""


def test_bad_lines_are_counted() -> None:
    imported = read_text(
        HEAD + line() + "TRTLLM,2.27.3\n" + line(latency="fast") + line(count="2.5") + line(latency="1e999")
    )
    assert len(only(imported).rows) == 1
    assert skipped(imported) == {OTHER_LENGTH: 1, NO_NUMBER: 3}


@pytest.mark.parametrize("rest", ["", "nothing that fits\n", line(latency="")])
def test_without_a_row_it_is_read_as_text(rest: str) -> None:
    imported = read_text(HEAD + rest)
    assert not imported.tables
    assert any("begins like a format" in reason for reason in skipped(imported))
