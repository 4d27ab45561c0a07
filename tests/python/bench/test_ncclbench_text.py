"""The text of a bench has the layout of nccl-tests.

For: lines against patterns that were written from nccl-tests' documented layout, and against its real logs where those
are at hand. Not for: measuring.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from ncclbench_support import all_rows, options_of, pids_of, rows_of, side

from ringtree.bench.figures import summarise
from ringtree.measure.collective_data import shape_of
from ringtree.nccl.nccl_tests import COLLECTIVES
from ringtree.show.bench_text import closing_lines, describe_executed, format_number, opening_lines, row_line
from ringtree.stats.bandwidth import bus_factor

NOW = datetime(2026, 1, 31, 12, 1, 2)
LOGS = Path(__file__).parents[4] / "shared" / "data" / "logs"
NUMBER = r"(?:\d+\.\d\d|\d+\.\d|\d+|\d(?:\.\d)?e[+-]\d\d)"
SIDE = rf" +{NUMBER} +{NUMBER} +{NUMBER} +(?:\d+|\d(?:\.\d+)?e\+\d\d|N/A)"
ROW = re.compile(rf"^ +(\d+) +(\d+) +(\w+) +(\w+) +(-?\d+){SIDE}{SIDE}$")
OPENING = [
    r"# \S+ version \d\S* .*",
    r"# Collective test starting: all_reduce_perf",
    r"# nThread \d+ nGpus \d+ minBytes \d+ maxBytes \d+ step: \d+\((?:factor|bytes)\) warmup iters: \d+ iters: \d+ "
    r"agg iters: \d+ validation: \d+ graph: \d+ unalign: \d+",
    r"# Arm: auto, .*",
    r"#",
    r"# Using devices",
    r"#  Rank  0 Group  0 Pid +\d+ on +\S+ device +0 \[\S+\] \S.*",
    r"#  Rank  1 Group  0 Pid +\d+ on +\S+ device +1 \[\S+\] \S.*",
    r"#",
    r"# +out-of-place +in-place +",
    r"# +size +count +type +redop +root +time +algbw +busbw +#wrong +time +algbw +busbw +#wrong ",
    r"# +\(B\) +\(elements\) +\(us\) +\(GB/s\) +\(GB/s\) +\(us\) +\(GB/s\) +\(GB/s\) +",
]


def opening(**asked: Any) -> list[str]:
    options = options_of(**asked)
    return opening_lines(options, pids_of(options), copied=False)


def table(**asked: Any) -> list[str]:
    options = options_of(**asked)
    times = [1e-6 * each for each in range(1, options.asked.iters + 1)] if options.asked.per_iter_timing else []
    return [row_line(options, row, NOW) for row in rows_of(options, lambda rank, half: side(times=times))]


def test_the_lines_before_the_table() -> None:
    lines = opening(minbytes="8", maxbytes="128M", stepfactor=2)
    assert len(lines) == len(OPENING)
    for line, pattern in zip(lines, OPENING, strict=True):
        assert re.fullmatch(pattern, line), (line, pattern)
    assert "nThread 1 nGpus 2 minBytes 8 maxBytes 134217728 step: 2(factor) warmup iters: 1 iters: 20 " in lines[2]
    assert "step: 1048576(bytes)" in opening()[2]


def test_a_row_is_laid_out_by_the_columns_of_the_heading() -> None:
    (line,) = table(minbytes="1M", maxbytes="1M")
    assert line == (
        "     1048576        262144     float     sum      -1    10.00  104.86  104.86       0    10.00  104.86  104.86"
        "       0"
    )
    heading = opening(minbytes="1M", maxbytes="1M")[-2]
    ends = [match.end() for match in re.finditer(r"\S+", heading.removeprefix("#"))]
    assert ends == [match.end() - 1 for match in re.finditer(r"\S+", line)]


@pytest.mark.parametrize(
    ("asked", "lead"),
    [
        ({}, "float     sum      -1"),
        ({"datatype": "half", "op": "avg"}, "half     avg      -1"),
        ({"collective": "all_gather"}, "float    none      -1"),
        ({"collective": "broadcast", "root": "1"}, "float    none       1"),
        ({"collective": "gather", "root": "1"}, "float    none       1"),
        ({"collective": "alltoall"}, "float    none      -1"),
        ({"collective": "sendrecv"}, "float     sum      -1"),
    ],
)
def test_rows_match_and_name_type_op_and_root(asked: dict[str, str], lead: str) -> None:
    lines = table(minbytes="8", maxbytes="128M", stepfactor=2, **asked)
    assert len(lines) == 25
    assert all(ROW.match(line) and lead in line for line in lines)
    assert {len(line) for line in lines} == {len(lines[0])}


def test_what_was_not_checked_is_not_called_right() -> None:
    options = options_of(minbytes="8", maxbytes="8", check=0)
    (row,) = rows_of(options, lambda rank, half: side(num_wrong=None))
    assert ROW.match(row_line(options, row, NOW))
    assert row_line(options, row, NOW).split()[8::4] == ["N/A", "N/A"]


def test_what_has_no_in_place_says_so_above_the_table() -> None:
    said = "# In place: a copy and a call out of place; there is no other"
    assert said in opening(collective="alltoall")
    assert said in opening(collective="sendrecv")
    assert said not in opening(collective="all_gather")
    assert opening(collective="alltoall")[1] == "# Collective test starting: alltoall_perf"
    assert "through PyTorch" not in "\n".join(opening())


def test_iterations_add_four_columns_to_each_side_and_a_timestamp_one() -> None:
    asked = {"minbytes": "8", "maxbytes": "8", "per_iter_timing": 1, "report_timestamps": 1, "iters": 4}
    (line,) = table(**asked)
    lines = opening(**asked)
    assert re.search(r"Per-Iteration Report: .*max over process rows$", "\n".join(lines), re.MULTILINE)
    extra = ["i_min", "i_max", "i_p99", "i_cv%"]
    names = ["time", "algbw", "busbw", "#wrong", *extra]
    assert lines[-2].split() == ["#", "size", "count", "type", "redop", "root", *names, *names, "timestamp"]
    cells = line.split()
    assert cells[9:13] == cells[17:21] == ["1.00", "4.00", "4.00", "44.72"]
    assert cells[21:] == ["2026-01-31", "12:01:02"]
    ends = [match.end() for match in re.finditer(r"\S+", lines[-2].removeprefix("#"))]
    assert ends[:-1] == [match.end() - 1 for match in re.finditer(r"\S+", line)][:-2]


@pytest.mark.parametrize(
    ("value", "width", "text"),
    [
        (0, 6, "0.00"),
        (9.999, 6, "10.00"),
        (999.994, 6, "999.99"),
        (999.996, 6, "1000.0"),
        (99999.7, 6, "100000"),
        (1234567.8, 7, "1234568"),
        (12345678.0, 7, "1.2e+07"),
        (1234567.8, 6, "1e+06"),
    ],
)
def test_numbers_keep_to_their_columns(value: float, width: int, text: str) -> None:
    assert format_number(value, width) == text
    assert len(text) <= width


def test_the_lines_after_the_table() -> None:
    options = options_of(minbytes="1M", maxbytes="2M", stepfactor=2)
    good = rows_of(options)
    lines = closing_lines(options, good, summarise(good, None))
    assert lines[0] == "# Out of bounds values : 0 OK"
    assert re.fullmatch(r"# Avg bus bandwidth    : 157\.286 ", lines[1])
    assert lines[2] == "# Executed             : ring/ll (1 MB–2 MB)"
    assert lines[3:] == ["#", "# Collective test concluded: all_reduce_perf", "#", ""]
    bad = rows_of(options, lambda rank, half: side(num_wrong=int(half == 3), executed=""))
    lines = closing_lines(options, bad, summarise(bad, 1e9))
    assert lines[:3] == ["# Out of bounds values : 1 FAILED", "# Avg bus bandwidth    : 157.286 OK", "#"]
    assert closing_lines(options, bad, summarise(bad, 1e12))[1].endswith(" FAILED")


def test_what_was_executed_is_named_with_its_sizes() -> None:
    options = options_of(minbytes="1K", maxbytes="4K", stepfactor=2)
    rows = rows_of(options, lambda rank, half: side(executed="ring/ll" if half < 3 else "tree/simple"))
    assert describe_executed(rows) == "ring/ll (1 KB–2 KB), tree/simple (2 KB–4 KB)"


def real_logs() -> list[Path]:
    """Logs of nccl-tests with the columns of today (from 2.10 on)."""
    paths = sorted(LOGS.glob("*.txt")) if LOGS.is_dir() else []
    return [path for path in paths if re.search(r"^#[^\n]*busbw +#wrong +time", path.read_text(), re.MULTILINE)]


def is_whole_row(words: list[str]) -> bool:
    """True for what has the words of a row: some logs were cut, mangled by other output, or hold XXX for figures."""
    figures = all(re.fullmatch(r"[-+.\de]+|N/A", word) for word in words[4:])
    return len(words) == 13 and figures and words[0].isdecimal() and words[1].isdecimal()


@pytest.mark.skipif(not LOGS.is_dir(), reason="no logs of nccl-tests beside this checkout")
def test_real_logs_have_the_same_shape() -> None:
    logs = real_logs()
    assert len(logs) > 10
    ours = opening(minbytes="8", maxbytes="8", stepfactor=2)
    names, units = ours[-2].split(), ours[-1].split()
    num_rows = num_option_lines = 0
    for log in logs:
        lines = [line for line in log.read_text().splitlines() if line.startswith(("#", " "))]
        headings = [line.split() for line in lines if re.match(r"^#.* busbw +#wrong +time", line)]
        if not headings:
            continue
        assert all(heading == names for heading in headings), log.name
        assert all(line.split() == units for line in lines if re.match(r"^# +\(B\) ", line)), log.name
        for line in lines:
            if re.match(r"^# nThread \d", line) and "agg iters" in line:
                words = re.sub(r"\d+(\((factor|bytes)\))?", "N", line).split()
                mine = re.sub(r"\d+(\((factor|bytes)\))?", "N", ours[2]).split()
                # `unalign` came with 2.18.
                assert words == mine[: len(words)], log.name
                num_option_lines += 1
        found = [line.rstrip() for line in lines if is_whole_row(line.split())]
        assert all(ROW.match(line) for line in found), log.name
        num_rows += len(found)
    assert num_rows > 500
    assert num_option_lines > 10


@pytest.mark.skipif(not LOGS.is_dir(), reason="no logs of nccl-tests beside this checkout")
@pytest.mark.parametrize("collective", ["all_reduce", "all_gather", "reduce_scatter", "alltoall", "sendrecv"])
def test_rows_of_real_logs_begin_like_ours_and_have_our_bandwidths(collective: str) -> None:
    (log,) = LOGS.glob("053-*")
    _, _, table = log.read_text().partition(f"# Collective test starting: {collective}_perf")
    found = [line.split() for line in table.partition("# Out of bounds")[0].splitlines() if ROW.match(line.rstrip())]
    assert len(found) >= 10
    asked = options_of(collective=collective, datatype="double", ngpus=8, minbytes="32M", stepfactor=2)
    options = replace(asked, max_bytes=int(found[-1][0]))
    for words, row in zip(found, all_rows(options), strict=True):
        lead = row.size_bytes, row.elements.count, row.combination.dtype, row.combination.op, row.combination.root
        assert words[:5] == [str(each) for each in lead]
        assert float(words[7]) == pytest.approx(float(words[6]) * bus_factor(COLLECTIVES[collective], 8), rel=1e-3)
        assert words[8] == "0"
        assert words[12] == ("0" if shape_of(COLLECTIVES[collective]).can_be_in_place else "N/A")
