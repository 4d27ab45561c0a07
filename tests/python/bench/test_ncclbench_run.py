"""`ringtree bench` with real ranks, and how it leaves where something goes wrong.

For: the whole command, processes and threads. Not for: layout (test_ncclbench_text.py) or figures.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from forked_ranks import forked_ranks
from ncclbench_support import options_of, pids_of, rows_of, side
from test_ncclbench_text import ROW
from typer.testing import CliRunner, Result

from ringtree.bench.names import NAMES_OP
from ringtree.bench.options import Options
from ringtree.cli import app
from ringtree.measure.collective_data import shape_of
from ringtree.measure.rank_group import LaunchFailed
from ringtree.nccl.nccl_tests import COLLECTIVES, OPS

__all__ = ["forked_ranks"]

COMMAND = importlib.import_module("ringtree.cli.bench")
THREE_SIZES = ("-b", "8", "-e", "128K", "-f", "128", "-n", "2", "-w", "1")


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["bench", *arguments])


def check_rows(
    output: str, sizes: list[int], ranks: int, dtype: str = "float", op: str = "sum", wrong: str = "0 0"
) -> None:
    """Every row is there, in the layout, and without a wrong element; `wrong`: what both halves say of that."""
    rows = [match for line in output.splitlines() if (match := ROW.match(line))]
    assert [int(row[1]) for row in rows] == sizes
    assert {(row[3], row[4]) for row in rows} == {(dtype, op)}
    assert all(row[0].split()[8::4] == wrong.split() for row in rows)
    assert len([line for line in output.splitlines() if line.startswith("#  Rank ")]) == ranks
    assert "# Out of bounds values : 0 OK" in output


@pytest.mark.parametrize(("shape", "ranks"), [((), 2), (("-t", "2"), 2), (("-g", "2", "-t", "2"), 4), (("-g", "1"), 1)])
def test_ranks_are_processes_threads_or_both(shape: tuple[str, ...], ranks: int) -> None:
    result = invoke(*THREE_SIZES, *shape)
    assert (result.exit_code, result.stderr) == (0, "")
    check_rows(result.stdout, [8, 1024, 131072], ranks)
    pids = {line.split()[6] for line in result.stdout.splitlines() if line.startswith("#  Rank ")}
    assert len(pids) == (1 if "-t" in shape and "-g" not in shape else 2 if ranks > 1 else 1)


@pytest.mark.parametrize("collective", [name for name in COLLECTIVES if name != "all_reduce"])
def test_every_collective_is_right_in_place_and_out_of_place(collective: str) -> None:
    # No size is a multiple of what blocks are rounded to.
    result = invoke(
        "--collective", collective, "-b", "60", "-e", "64K", "-f", "30", "-n", "2", "-t", "2", "-c", "2", "-r", "all"
    )
    assert (result.exit_code, result.stderr) == (0, "")
    shape = shape_of(COLLECTIVES[collective])
    sizes = [32, 1792, 53984] if shape.has_blocks else [60, 1800, 54000]
    check_rows(
        result.stdout,
        sizes * (2 if shape.of_root else 1),
        ranks=2,
        op="sum" if collective in NAMES_OP else "none",
        wrong="0 0" if shape.can_be_in_place else "0 N/A",
    )
    assert f"# Collective test concluded: {collective}_perf" in result.stdout


@pytest.mark.parametrize("collective", ["alltoall", "sendrecv", "gather", "scatter"])
def test_blocks_and_messages_between_processes(collective: str) -> None:
    result = invoke("--collective", collective, "-b", "1M", "-e", "1M", "-n", "2", "-g", "3", "-R", "2")
    assert (result.exit_code, result.stderr) == (0, "")
    size = 1048576 if collective == "sendrecv" else 1048560
    op, wrong = ("sum", "0 N/A") if collective == "sendrecv" else ("none", "0 0")
    check_rows(result.stdout, [size], 3, op=op, wrong="0 N/A" if collective == "alltoall" else wrong)
    assert "# Executed             : " in result.stdout


@pytest.mark.torch
@pytest.mark.parametrize(("datatype", "op"), [("bfloat16", "all"), ("f8e4m3", "all"), ("f8e5m2", "mulsum")])
def test_types_that_numpy_lacks_are_exact_through_torch(datatype: str, op: str) -> None:
    pytest.importorskip("torch")
    result = invoke("-b", "4000", "-e", "4000", "-n", "1", "-t", "2", "-d", datatype, "-o", op)
    assert (result.exit_code, result.stderr) == (0, "")
    rows = [match for line in result.stdout.splitlines() if (match := ROW.match(line))]
    assert [(row[3], row[4]) for row in rows] == [(datatype, each) for each in (OPS if op == "all" else [op])]
    assert all(row[0].split()[8::4] == ["0", "0"] for row in rows)
    assert "on CPU memory, through PyTorch" in result.stdout


def test_every_type_and_op_is_exact() -> None:
    result = invoke("-b", "4000", "-e", "4000", "-n", "1", "-t", "2", "-d", "all", "-o", "all", "--arm", "ring")
    assert (result.exit_code, result.stderr) == (0, "")
    rows = [match for line in result.stdout.splitlines() if (match := ROW.match(line))]
    assert len({(row[3], row[4]) for row in rows}) == len(rows) == 9 * 6
    assert "# Out of bounds values : 0 OK" in result.stdout
    assert "# Executed             : ring/" in result.stdout


def test_shared_buffers_odd_places_barriers_and_iterations(tmp_path: Path) -> None:
    place = tmp_path / "out.json"
    arguments = (
        "-R",
        "2",
        "-u",
        "3",
        "-z",
        "3",
        "-I",
        "1",
        "-K",
        "1",
        "-m",
        "2",
        "-S",
        "1",
        "-N",
        "2",
        "-J",
        str(place),
    )
    result = invoke(*THREE_SIZES, *arguments)
    assert (result.exit_code, result.stderr) == (0, "")
    assert f"# Writing JSON output to {place}" in result.stdout
    report = json.loads(place.read_text())
    assert [row["size"] for row in report["results"]] == [8, 1024, 131072] * 2
    assert {len(row["in_place_per_iter"]["times_us"]) for row in report["results"]} == {2}
    assert {row["in_place"]["nwrong"] for row in report["results"]} == {0}
    assert len(report["config"]["devices"]) == 2
    assert report["errors"] == []


@pytest.mark.torch
@pytest.mark.parametrize("arm", ["gloo", "send-recv:ring", "gloo+10%"])
def test_arms_of_torch_run_in_place_and_out_of_place(arm: str) -> None:
    pytest.importorskip("torch")
    result = invoke(*THREE_SIZES, "--arm", arm)
    assert (result.exit_code, result.stderr) == (0, "")
    check_rows(result.stdout, [8, 1024, 131072], 2)
    assert ("# Out of place: a copy" in result.stdout) == arm.startswith("gloo")


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The command around reports that are made up: `num_wrong` of rank 1, an `error` after the first row."""
    wanted: dict[str, Any] = {"num_wrong": 0, "error": None}

    def run(options: Options, on_joined: Any, on_row: Any, crew: None = None) -> None:
        on_joined(pids_of(options))
        for row in rows_of(options, lambda rank, half: side(num_wrong=wanted["num_wrong"] * rank)):
            on_row(row)
            if wanted["error"] is not None:
                raise wanted["error"]

    monkeypatch.setattr(COMMAND, "run", run)
    return wanted


def test_wrong_elements_are_told_and_exit_code_7_is_nccl_tests(made_up: dict[str, Any]) -> None:
    made_up["num_wrong"] = 1
    result = invoke(*THREE_SIZES)
    assert result.exit_code == 7
    assert "# Out of bounds values : 6 FAILED" in result.stdout
    assert result.stderr == "ringtree: wrong elements in 6 of 6 measurements\n"
    rows = [match for line in result.stdout.splitlines() if (match := ROW.match(line))]
    assert all(row[0].split()[8::4] == ["1", "1"] for row in rows)


@pytest.mark.parametrize(("least", "code", "word"), [("1000000", 7, "FAILED"), ("0.001", 0, "OK")])
def test_too_little_bandwidth_fails_if_a_least_one_is_set(
    made_up: dict[str, Any], monkeypatch: pytest.MonkeyPatch, least: str, code: int, word: str
) -> None:
    monkeypatch.setenv("NCCL_TESTS_MIN_BW", least)
    result = invoke("-b", "1M", "-e", "1M")
    assert result.exit_code == code
    assert any(line.startswith("# Avg bus bandwidth") and line.endswith(word) for line in result.stdout.splitlines())


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [(LaunchFailed("rank 1 (pid 7) was killed"), 1, "rank 1 (pid 7)"), (KeyboardInterrupt(), 130, "interrupted")],
)
def test_a_run_that_fails_leaves_its_rows_and_the_reason_in_the_file(
    made_up: dict[str, Any], tmp_path: Path, error: BaseException, code: int, said: str
) -> None:
    made_up["error"] = error
    place = tmp_path / "out.json"
    result = invoke(*THREE_SIZES, "-J", str(place))
    assert result.exit_code == code
    (line,) = result.stderr.splitlines()
    assert said in line
    assert "concluded" not in result.stdout
    report = json.loads(place.read_text())
    assert len(report["results"]) == 1
    assert said in report["errors"][0]


def test_a_rank_that_can_not_go_on_ends_the_run_with_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    options = options_of(minbytes="8", maxbytes="8")
    broken = replace(options, arm="ring/no-such-option")
    monkeypatch.setattr(COMMAND, "make_options", lambda given, crew: broken)
    result = invoke()
    assert result.exit_code == 1
    (line,) = result.stderr.splitlines()
    assert "ring/no-such-option" in line


# A killed process is seen at once, so its run may wait long; only where one hangs is the deadline waited out.
@pytest.mark.parametrize(
    ("number", "timeout", "said"),
    [(signal.SIGKILL, 60, "was killed by SIGKILL"), (signal.SIGSTOP, 2, "rank [01] reported: DeadlineError")],
)
@pytest.mark.parametrize("threads", [1, 2])
def test_a_process_that_dies_or_hangs_ends_the_run(
    threads: int, number: signal.Signals, timeout: int, said: str
) -> None:
    options = options_of(minbytes="8", maxbytes="8", iters=1, run_cycles=0, timeout=timeout, ngpus=2, nthreads=threads)
    with pytest.raises(LaunchFailed, match=said):
        COMMAND.run(options, lambda pids: os.kill(pids[-1], number), lambda row: None)
