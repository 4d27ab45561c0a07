"""The JSON of a bench has the fields of nccl-tests' version 3, and holds no secret.

For: ringtree.bench.json_report. Not for: measuring.
"""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from ncclbench_support import options_of, pids_of, rows_of, side

from ringtree.bench.figures import summarise
from ringtree.bench.json_report import JsonFile, make_report
from ringtree.errors import UsageError

START, END = datetime(2026, 1, 31, 12, 0, 0), datetime(2026, 1, 31, 12, 0, 9)
TOP = {"version", "start_time", "args", "env", "nccl_version", "config", "results", "out_of_bounds"}
TOP |= {"average_bus_bandwidth", "errors", "end_time"}
CONFIG = {"nthreads", "ngpus", "minimum_bytes", "maximum_bytes", "warmup_iters", "iterations", "aggregated_iterations"}
CONFIG |= {"validation", "graph", "blocking_collectives", "per_iter_timing", "per_iter_skip", "parallel_init"}
CONFIG |= {"devices"}
DEVICE = {"rank", "group", "pid", "hostname", "device", "device_hex", "device_info"}
ROW = {"size", "count", "type", "redop", "root", "out_of_place", "in_place", "actual_iterations", "experiment_name"}
SIDE = {"time", "alg_bw", "bus_bw", "nwrong"}
ITERATIONS = {"skipped_iterations", "min_us", "max_us", "avg_us", "p50_us", "p95_us", "p99_us", "stdev_us", "cv_pct"}
ITERATIONS |= {"times_us"}


def report_of(required: float | None = None, num_wrong: int | None = 0, errors: Any = (), **asked: Any) -> Any:
    options = options_of(**{"minbytes": "1M", "maxbytes": "2M", "stepfactor": 2, "iters": 3, **asked})
    times = [1e-6, 2e-6, 3e-6] if options.asked.per_iter_timing else []
    rows = rows_of(options, lambda rank, half: side(times=times, num_wrong=num_wrong))
    report = make_report(options, pids_of(options), rows, summarise(rows, required), errors, START, END)
    return json.loads(report.model_dump_json(exclude_unset=True))


def test_fields_are_those_of_version_3_and_one_of_our_own() -> None:
    report = report_of()
    assert set(report) == TOP | {"ringtree"}
    assert report["version"] == 3
    assert (report["start_time"], report["end_time"]) == ("2026-01-31 12:00:00", "2026-01-31 12:00:09")
    assert set(report["config"]) == CONFIG | {"step_factor"}
    assert set(report_of(stepfactor=1)["config"]) == CONFIG | {"step_bytes"}
    assert set(report["config"]["devices"][0]) == DEVICE
    for row in report["results"]:
        assert set(row) == ROW
        assert set(row["out_of_place"]) == set(row["in_place"]) == SIDE
    assert report["results"][0]["root"] == "    -1"
    assert report["results"][0]["out_of_place"]["time"] == pytest.approx(10)
    assert report["results"][0]["out_of_place"]["bus_bw"] == pytest.approx(104.8576)
    assert report["results"][0]["out_of_place"]["nwrong"] == 0
    assert report["out_of_bounds"] == {"count": 0, "okay": "true"}
    assert report["average_bus_bandwidth"] == {"bandwidth": pytest.approx(157.2864), "okay": "unchecked"}
    assert report["errors"] == []
    assert report["ringtree"]["arm"] == "auto"
    assert report["ringtree"]["executed"] == [["ring/ll", "ring/ll"]] * 2


def test_booleans_are_strings() -> None:
    config = report_of(blocking=1)["config"]
    assert (config["blocking_collectives"], config["per_iter_timing"], config["parallel_init"]) == (
        "true",
        "false",
        "false",
    )
    assert report_of(required=1e9)["average_bus_bandwidth"]["okay"] == "true"
    assert report_of(required=1e12)["average_bus_bandwidth"]["okay"] == "false"
    assert report_of(num_wrong=1)["out_of_bounds"] == {"count": 4, "okay": "false"}


def test_what_was_not_checked_is_null() -> None:
    assert report_of(num_wrong=None)["results"][0]["in_place"]["nwrong"] is None


def test_iterations_are_there_if_asked_and_by_process_if_there_are_several() -> None:
    row = report_of(per_iter_timing=1, per_iter_skip=1)["results"][0]
    assert set(row) == ROW | {"out_of_place_per_iter", "in_place_per_iter"}
    each = row["in_place_per_iter"]
    assert set(each) == ITERATIONS | {"per_process_max_times_us"}
    assert each["times_us"] == pytest.approx([1, 2, 3])
    assert (each["skipped_iterations"], each["min_us"], each["max_us"]) == (1, pytest.approx(2), pytest.approx(3))
    assert len(each["per_process_max_times_us"]) == 2
    threads = report_of(per_iter_timing=1, nthreads=2)
    assert set(threads["results"][0]["in_place_per_iter"]) == ITERATIONS
    assert [device["rank"] for device in threads["config"]["devices"]] == [0], "a device is one of a process"


def test_no_secret_and_no_other_variable_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NCCL_DEBUG", "INFO")
    monkeypatch.setenv("NCCL_AUTH_TOKEN", "hunter2")
    monkeypatch.setenv("SOME_PASSWORD", "hunter2")
    monkeypatch.setattr("sys.argv", ["ringtree", "bench", "API_KEY=hunter2"])
    report = report_of()
    assert "NCCL_DEBUG=INFO" in report["env"]
    assert "hunter2" not in json.dumps(report)


def test_a_file_is_never_written_over(tmp_path: Path) -> None:
    place = tmp_path / "out.json"
    files = [JsonFile(str(place)) for _ in range(3)]
    assert [Path(file.path).name for file in files] == ["out.json", "out.json.0", "out.json.1"]
    options = options_of(minbytes="8", maxbytes="8")
    rows = rows_of(options)
    for file in files:
        file.write(options, pids_of(options), rows, summarise(rows, None), ["why not"])
    assert {json.loads(Path(file.path).read_text())["errors"][0] for file in files} == {"why not"}


@pytest.mark.parametrize(("name", "said"), [("out.txt", "ends in .json"), ("none/out.json", "can't write")])
def test_a_file_that_can_not_be_is_said_before_anything_runs(tmp_path: Path, name: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        JsonFile(str(tmp_path / name))
