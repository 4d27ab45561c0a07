"""`ringtree health`: text, JSON, exit codes, mistakes.

For: the command line by typer's runner. Not for: verdicts (test_health_judging.py).
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_support import assert_refused, invoke
from docs_support import DOCS, blocks
from health_support import SIZES, log_text, nccl_lines, time_of, variable

from ringtree.health import FORMAT, HealthReport
from ringtree.health.entries import load_reached

ON_DGX = ("--system", "DGX H100")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "a.log"
    path.write_text(log_text(time_of(70e-6, 255e9)))
    return path


@pytest.mark.parametrize(
    ("rate", "arguments", "code"),
    [
        (255e9, ON_DGX, 0),
        (209e9, ON_DGX, 1),
        (50e9, ON_DGX, 3),
        (900e9, ON_DGX, 3),
        (255e9, (), 5),
        (255e9, ("--system", "p5.48xlarge", "--collective", "broadcast"), 5),
        (209e9, (*ON_DGX, "--at-least", "80%"), 0),
        (240e9, (*ON_DGX, "--at-least", "99%", "--from", "1G"), 1),
    ],
)
def test_exit_codes(log: Path, rate: float, arguments: tuple[str, ...], code: int) -> None:
    log.write_text(log_text(time_of(70e-6, rate)))
    assert invoke("health", log, *arguments).exit_code == code


def test_the_text_says_verdict_shape_others_and_sources(log: Path) -> None:
    text = invoke("health", log, *ON_DGX).stdout
    assert "all_reduce, 16 ranks: as fast as others" in text
    assert "reach 470–480 GB/s at 8 GB (3 logs): here 477 GB/s" in text
    assert "floor 70.0 µs (1 KB to 4 KB), plateau 477 GB/s busbw at 8 GB" in text
    assert "α 70.0 µs" in text
    for one in load_reached():
        assert (one.source in text) is ((one.links.hosts, one.ranks, one.links.between) == (2, 16, 400e9))


def test_a_log_without_small_sizes_has_no_floor_and_one_that_rises_no_plateau(log: Path) -> None:
    log.write_text(log_text(time_of(70e-6, 255e9), sizes=SIZES[15:]))
    text = invoke("health", log, *ON_DGX).stdout
    assert "no floor: no size is small enough to be latency, plateau 477 GB/s" in text
    assert "α not measured, β" in text
    log.write_text(log_text(time_of(70e-6, 255e9), sizes=SIZES[:12]))
    assert "busbw at 2 MB, which may still rise" in invoke("health", log, *ON_DGX).stdout


def test_symptoms_and_steps_are_printed(log: Path) -> None:
    lines = nccl_lines("Channel 00/0 : {rank}[0] -> {following}[0] [send] via NET/Socket/0")
    log.write_text(lines + variable("NCCL_IB_DISABLE", "1") + log_text(time_of(rate=20e9)))
    text = invoke("health", log, *ON_DGX).stdout
    assert "in this log: the hosts talk over TCP sockets, not RDMA (2 connections via NET/Socket)" in text
    assert "NCCL_IB_DISABLE=1" in text
    assert "next: large sizes are links" in text


def test_json_is_the_record(log: Path) -> None:
    found = invoke("health", log, *ON_DGX, "--json")
    report = HealthReport.model_validate_json(found.stdout)
    assert report.format == FORMAT == json.loads(found.stdout)["format"]
    assert [one.band for one in report.files[0].tables[0].bands] == ["small", "middle", "large"]


def test_several_logs_tell_more(tmp_path: Path, log: Path) -> None:
    other = tmp_path / "b.log"
    other.write_text(log_text(time_of(90e-6, 200e9), ranks=32, hosts=4))
    text = invoke("health", log, other, "--system", "p5.48xlarge").stdout
    assert "(2: 70.0 µs, 4: 90.0 µs): cannot be told apart" in text


def test_a_log_without_a_table(log: Path) -> None:
    log.write_text("nothing here\n")
    found = invoke("health", log)
    assert found.exit_code == 5
    assert "no table of timings to check" in found.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--at-least", "90"), "90"),
        (("--at-least", "0%"), "above 0%"),
        (("--from", "much"), "much"),
        (("--system", "nonsense"), "ringtree hardware"),
        (("--gpu", "nonsense"), "ringtree hardware"),
    ],
)
def test_mistakes_are_one_line(log: Path, arguments: tuple[str, ...], said: str) -> None:
    assert_refused(invoke("health", log, *arguments), said)


def test_a_missing_file_is_one_line(tmp_path: Path) -> None:
    assert_refused(invoke("health", tmp_path / "none.log"), "none.log")


def test_the_page_shows_what_is_printed() -> None:
    page = (DOCS / "how-to" / "health.md").read_text()
    shown = [block.text for block in blocks(page) if block.info == "text"]
    printed = invoke("health", DOCS / "health-example.log", *ON_DGX)
    lines = [line.rstrip() for line in printed.stdout.replace(f"{DOCS}/", "").strip("\n").splitlines()]
    assert printed.exit_code == 1
    assert shown[0].splitlines() == lines
    unknown = invoke("health", DOCS / "health-example.log")
    assert unknown.exit_code == 5
    assert unknown.stdout.replace(f"{DOCS}/", "").startswith(shown[1])
