"""JSON of nccl-tests, of all file versions, and of `ringtree bench`."""

from __future__ import annotations

import copy
import io
import json
from datetime import datetime
from typing import Any

import pytest
from ncclbench_support import options_of, pids_of, rows_of
from nccltests_support import concluded

from ringtree.bench.figures import summarise
from ringtree.bench.json_records import Report
from ringtree.bench.json_report import make_report
from ringtree.logs import IN_PLACE, OUT_OF_PLACE, Imported, Table, read_stream
from ringtree.logs.nccltests_json import NcclTestsJsonReader
from ringtree.logs.records import MAX_ROWS
from ringtree.show.bench_text import closing_lines, opening_lines, row_line

NOW = datetime(2026, 1, 31, 12, 1, 2)

ITERATIONS = {
    "skipped_iterations": 1,
    "min_us": 9.0,
    "max_us": 12.5,
    "avg_us": 10.5,
    "p50_us": 10.0,
    "p95_us": 12.0,
    "p99_us": 12.5,
    "stdev_us": 0.5,
    "cv_pct": 4.75,
    "times_us": [99.0, 9.0, 10.0, 12.5],
    "per_process_max_times_us": [[99.0, 9.0, 10.0, 12.5], [98.0, 8.0, 9.0, 11.5]],
}


def side(time: float, busbw: float, wrong: Any = 0.0) -> dict[str, Any]:
    return {"time": time, "alg_bw": busbw / 1.75, "bus_bw": busbw, "nwrong": wrong}


def report(version: int = 3) -> dict[str, Any]:
    result = {
        "size": 1048576,
        "count": 262144,
        "type": "float",
        "redop": "sum",
        "root": "    -1",
        "out_of_place": side(104.8576, 17.5),
        "in_place": side(209.7152, 8.75, None),
        "actual_iterations": 20,
        "experiment_name": "",
    }
    if version > 1:
        per_iteration = copy.deepcopy(ITERATIONS)
        if version == 2:
            del per_iteration["skipped_iterations"]
        result |= {"out_of_place_per_iter": per_iteration, "in_place_per_iter": per_iteration}
    config: dict[str, Any] = {
        "nthreads": 1,
        "ngpus": 4,
        "minimum_bytes": 1048576,
        "maximum_bytes": 1048576,
        "step_factor": 2,
        "warmup_iters": 1,
        "iterations": 20,
        "aggregated_iterations": 1,
        "validation": 1,
        "graph": 0,
        "blocking_collectives": "false",
        "parallel_init": "false",
        "devices": [
            {
                "rank": 4 * each,
                "pid": 7,
                "hostname": f"node-{each}",
                "device": 0,
                "device_hex": "0",
                "device_info": "H100",
            }
            for each in range(2)
        ],
    }
    return {
        "version": version,
        "start_time": "2026-01-02 03:04:05",
        "args": ["/opt/all_reduce_perf_mpi", "-b", "1M", "-J", "x.json"],
        "env": ["HOME=/home/me", "AWS_SECRET_ACCESS_KEY=x", "NCCL_ALGO=Tree", "NCCL_DEBUG=INFO", "SLURM_NTASKS=2"],
        "nccl_version": 22703,
        "config": config,
        "results": [result],
        "out_of_bounds": {"count": 0, "okay": "true"},
        "average_bus_bandwidth": {"bandwidth": 13.125, "okay": "unchecked"},
        "errors": [],
        "end_time": "2026-01-02 03:04:06",
    }


def read(value: Any, name: str = "x.json") -> Imported:
    text = value if isinstance(value, str) else json.dumps(value)
    return read_stream(io.BytesIO(text.encode()), name)


def table_of(value: Any, name: str = "x.json") -> Table:
    imported = read(value, name)
    assert not imported.skipped
    (table,) = imported.tables
    return table


@pytest.mark.parametrize("version", [1, 2, 3])
def test_every_version(version: int) -> None:
    table = table_of(report(version))
    assert (table.format, table.collective, table.num_ranks) == ("nccl-tests-json", "all_reduce", 8)
    assert (table.library, table.library_version) == ("nccl", "2.27.3")
    assert (table.hosts, table.num_hosts, table.devices) == (["node-0", "node-1"], 2, ["H100", "H100"])
    assert (table.num_out_of_bounds, table.out_of_bounds_okay, table.complete) == (0, True, True)
    assert table.average_busbw is not None
    assert table.average_busbw.value == 13.125e9
    (row,) = table.rows
    assert (row.line, row.size_bytes, row.count, row.dtype, row.op, row.root) == (
        0,
        1048576,
        262144,
        "float",
        "sum",
        -1,
    )
    first, second = row.sides
    assert (first.place, second.place) == (OUT_OF_PLACE, IN_PLACE)
    assert first.time is not None
    assert (first.time.text, first.time.value) == ("104.8576", pytest.approx(104.8576e-6, rel=1e-15))
    assert first.wrong is not None
    assert (first.wrong.value, second.wrong) == (0.0, None)
    if version == 1:
        assert first.samples == ()
    else:
        kept = [99.0, 9.0, 10.0, 12.5][version == 3 :]
        assert first.samples == tuple(pytest.approx(time * 1e-6, rel=1e-12) for time in kept)
        assert dict(first.others)["i_p99"].value == pytest.approx(12.5e-6)
        assert dict(first.others)["i_cv%"].value == pytest.approx(0.0475)
    assert table.settings.get("skipped iterations") == ("1" if version == 3 else None)


def test_figures_keep_their_printed_digits() -> None:
    text = json.dumps(report()).replace('"time": 104.8576', '"time": 104.857600')
    time = table_of(text).rows[0].sides[0].time
    assert time is not None
    assert (time.text, time.resolution) == ("104.857600", pytest.approx(1e-12))


def test_settings_have_the_names_of_the_printed_line() -> None:
    settings = table_of(report()).settings
    assert {
        name: settings[name] for name in ("nThread", "nGpus", "minBytes", "step", "warmup iters", "iters", "agg iters")
    } == {
        "nThread": "1",
        "nGpus": "4",
        "minBytes": "1048576",
        "step": "2(factor)",
        "warmup iters": "1",
        "iters": "20",
        "agg iters": "1",
    }
    assert settings["command"] == "/opt/all_reduce_perf_mpi -b 1M -J x.json"
    by_bytes = report()
    by_bytes["config"]["step_bytes"] = 4096
    del by_bytes["config"]["step_factor"]
    assert table_of(by_bytes).settings["step"] == "4096(bytes)"


def test_of_the_environment_only_what_concerns_communication_is_kept() -> None:
    table = table_of(report())
    assert table.environment == {"NCCL_ALGO": "Tree", "NCCL_DEBUG": "INFO", "SLURM_NTASKS": "2"}
    assert (table.algorithm, concluded(table, "algorithm")) == ("tree", "tree")


def test_ranks_are_those_of_all_processes() -> None:
    assert concluded(table_of(report()), "num_ranks") == "8"
    unknown = report()
    unknown["config"].update(devices=[], ngpus=1)
    unknown["results"] *= 2
    assert table_of(unknown).num_ranks in (8, None)


def test_the_time_of_the_processor() -> None:
    value = report()
    for place in ("out_of_place", "in_place"):
        value["results"][0][place]["cpu_time"] = value["results"][0][place].pop("time")
    assert table_of(value).columns["time"] == "cpu_time"


def test_rccl_tests() -> None:
    value = report(1)
    value["results"][0]["out_of_place"]["hip_event_time"] = 99.5
    assert dict(table_of(value).rows[0].sides[0].others)["hip_event_time"].value == pytest.approx(99.5e-6)


def test_a_measurement_that_was_left_out_and_no_numbers() -> None:
    value = report(1)
    value["results"][0]["out_of_place"] = None
    value["results"][0]["in_place"]["bus_bw"] = "nan"
    (side_read,) = table_of(value).rows[0].sides
    assert (side_read.place, side_read.busbw) == (IN_PLACE, None)


def test_failed_runs() -> None:
    value = report()
    value.update(
        out_of_bounds={"count": 3, "okay": "false"},
        average_bus_bandwidth={"bandwidth": 1.0, "okay": "false"},
        errors=["unhandled cuda error"],
    )
    table = table_of(value)
    assert (table.num_out_of_bounds, table.out_of_bounds_okay) == (3, False)
    assert table.settings["Avg bus bandwidth"] == "FAILED"
    assert table.settings["error"] == "unhandled cuda error"


def test_a_collective_that_no_argument_names() -> None:
    value = report()
    value["args"] = ["./a.out"]
    assert table_of(value).collective == "all_reduce"
    assert concluded(table_of(value), "collective") == "all_reduce"


def ringtree_report() -> dict[str, Any]:
    value = report()
    value["results"][0]["type"] = "float"
    value["nccl_version"] = 0
    origin = {
        "version": "0.1.0",
        "collective": "alltoall",
        "arm": "ring",
        "num_ranks": 8,
        "seed": 1,
        "executed": [["direct/simple", "direct/simple"]],
    }
    config = value["config"] | {"per_iter_timing": "true", "per_iter_skip": 1}
    config["devices"] = [device | {"group": 0} for device in config["devices"]]
    ordered = {
        "version": 3,
        "start_time": value["start_time"],
        "args": value["args"],
        "env": value["env"],
        "nccl_version": 0,
    }
    ordered |= {"ringtree": origin, "config": config}
    return ordered | {
        name: value[name] for name in ("results", "out_of_bounds", "average_bus_bandwidth", "errors", "end_time")
    }


def test_what_ringtree_bench_writes() -> None:
    text = Report.model_validate(ringtree_report()).model_dump_json(exclude_unset=True, indent=1)
    table = table_of(text)
    assert (table.tool, table.tool_version, table.library_version) == ("ringtree", "0.1.0", None)
    assert (table.collective, table.num_ranks, concluded(table, "num_ranks")) == ("all_to_all", 8, None)
    assert (table.algorithm, table.protocol) == ("direct", "simple")
    assert table.settings["arm"] == "ring"


def test_a_bench_of_ours_is_read_back_alike_from_its_text_and_its_json() -> None:
    options = options_of(minbytes="1M", maxbytes="2M", stepfactor=2, iters=3)
    rows = rows_of(options)
    lines = [*opening_lines(options, pids_of(options), False), *(row_line(options, row, NOW) for row in rows)]
    lines += closing_lines(options, rows, summarise(rows, None))
    (of_text,) = read_stream(io.BytesIO("\n".join(lines).encode()), "log").tables
    made = make_report(options, pids_of(options), rows, summarise(rows, None), (), NOW, NOW)
    of_json = table_of(made.model_dump_json(exclude_unset=True))
    for table in (of_text, of_json):
        assert (table.tool, table.collective, table.num_ranks) == ("ringtree", "all_reduce", options.num_ranks)
        assert (table.complete, table.out_of_bounds_okay) == (True, True)
    sizes = [(row.size_bytes, row.count, row.dtype, row.op, row.root) for row in of_json.rows]
    assert [(row.size_bytes, row.count, row.dtype, row.op, row.root) for row in of_text.rows] == sizes
    for mine, theirs in zip(of_text.rows, of_json.rows, strict=True):
        for printed, exact in zip(mine.sides, theirs.sides, strict=True):
            assert printed.time is not None
            assert exact.time is not None
            assert abs(printed.time.value - exact.time.value) <= 0.51 * printed.time.resolution


@pytest.mark.parametrize("kept", [0.2, 0.5, 0.75, 0.9])
def test_a_file_that_breaks_off(kept: float) -> None:
    value = report()
    value["results"] *= 50
    text = json.dumps(value)
    imported = read(text[: int(len(text) * kept)])
    (table,) = imported.tables
    assert table.complete is False
    assert [each.reason for each in imported.skipped] == ["JSON that breaks off"]
    assert 0 < len(table.rows) <= 50


def test_results_that_are_none() -> None:
    value = report()
    value["results"] += [{"size": "big"}, 7, {"size": 8, "in_place": {"time": "fast"}}]
    imported = read(value)
    assert len(imported.tables[0].rows) == 1
    assert [(each.reason, each.num_lines) for each in imported.skipped] == [
        ("a result without a size or a measurement", 3)
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"config": []},
        {"config": {"devices": "none"}},
        {"env": {"NCCL_ALGO": "Ring"}},
        {"args": []},
        {"nccl_version": "2.27"},
        {"out_of_bounds": {"count": "many", "okay": ["true"]}},
        {"average_bus_bandwidth": {"bandwidth": {}, "okay": True}},
        {"errors": "none"},
        {"ringtree": {"executed": [1, [2]], "num_ranks": "8"}},
    ],
)
def test_members_of_other_types_do_no_harm(change: dict[str, Any]) -> None:
    assert len(read(report() | change).tables[0].rows) == 1


def test_what_it_takes_to_be_such_a_file() -> None:
    reader = NcclTestsJsonReader()
    assert reader.sniff(json.dumps(report()))
    assert reader.sniff(json.dumps(report(), indent=4, sort_keys=True))
    assert reader.sniff('{"version":3,"start_time":"2026","args":["x"],"env":["' + "x" * 70000)
    assert not reader.sniff('{"version": "2.10", "pg_config": {}, "entries": []}')
    assert not reader.sniff("[]")
    assert not read('{"version": 3, "start_time": "x", "args": ["nothing else"]}').tables


def test_sorted_keys_and_a_collectors_lines() -> None:
    text = "# source: x\n# hardware: y\n# notes: z\n" + json.dumps(report(), sort_keys=True, indent=2)
    table = table_of(text)
    assert (len(table.rows), table.num_ranks, table.complete) == (1, 8, True)


def test_a_file_of_many_results_goes_out_in_parts() -> None:
    value = report(1)
    value["results"] *= MAX_ROWS + 3
    first, second = read(value).tables
    assert (len(first.rows), first.continued, first.complete) == (MAX_ROWS, True, None)
    assert (len(second.rows), second.continued, second.complete) == (3, False, True)
    assert first.num_ranks == second.num_ranks == 8
