"""Results of CommCanary's experiments."""

from __future__ import annotations

import json
from typing import Any

import pytest
from logs_tables_support import only, read_text, side, skipped


def cell(**changes: Any) -> dict[str, Any]:
    measurement: dict[str, Any] = {
        "operation": "all_reduce",
        "world_size": 2,
        "execution": {"iterations": 3, "warmup": 5, "timing_semantics": "maximum-rank-whole-program-duration"},
        "representations": {
            "isolated": {
                "category": "baseline",
                "executed_event_count": 8,
                "metrics": {"median_us": 21.5, "min_us": 20.0, "max_us": 30.125, "iqr_us": 1.5},
                "rank_timings_us": [[20.0, 21.5, 30.125], [19.0, 22.5, 25.0]],
                "timings_us": [20.0, 22.5, 30.125],
            }
        },
        "runtime": {"hostname": "node1", "runtime_nccl_version_code": 21903, "torch_version": "2.4.1"},
        "samples_us": [20.0, 22.5, 30.125],
    }
    measurement.update(changes)
    return {
        "cell_id": "c-decision-gate-nccl-2.19.3-ring-l-r000000",
        "measurement": measurement,
        "schema": "commcanary.experiment.cell-result.v1",
    }


def test_samples_are_the_slowest_ranks() -> None:
    table = only(read_text("# source: x\n" + json.dumps(cell())))
    one = side(table.rows[0])
    assert one.samples == pytest.approx((20e-6, 22.5e-6, 30.125e-6))
    assert one.time == ("21.5", 1e-6)
    assert {name: printed.text for name, printed in one.others} == {"min": "20.0", "max": "30.125", "iqr": "1.5"}
    assert (table.collective, table.num_ranks, table.hosts) == ("all_reduce", 2, ["node1"])
    assert (table.library, table.library_version, table.algorithm) == ("nccl", "2.19.3", "ring")
    assert table.settings["collectives in a program"] == "8"
    assert table.rows[0].size_bytes is None


def test_other_samples_are_a_table_too() -> None:
    tables = read_text(json.dumps(cell(samples_us=[1.0, 2.0]))).tables
    assert [table.settings.get("representation") for table in tables] == ["isolated", None]
    assert side(tables[1].rows[0]).samples == pytest.approx((1e-6, 2e-6))


def test_ranks_of_different_length_are_not_joined() -> None:
    data = cell()
    data["measurement"]["representations"]["isolated"]["rank_timings_us"] = [[1.0], [1.0, 2.0]]
    assert side(only(read_text(json.dumps(data))).rows[0]).samples == pytest.approx((20e-6, 22.5e-6, 30.125e-6))


@pytest.mark.parametrize(
    "text",
    [
        '{"cell_id": "x", "samples_us": [1.0',
        '{"cell_id": "x", "samples_us": [1.0]}',
        json.dumps({**cell(), "schema": "another"}),
        json.dumps(cell(representations={}, samples_us=[])),
        json.dumps(cell(representations={"a": {"timings_us": ["x"]}}, samples_us=[None])),
        '{"cell_id": ' + "[" * 5000 + '"_us"',
    ],
)
def test_what_is_no_result_is_read_as_text(text: str) -> None:
    imported = read_text(text)
    assert not imported.tables
    assert any("begins like" in reason for reason in skipped(imported))
