"""The collected logs and published tables: every row of a table of timings is read, and to the digit.

Counts come from simple rules that know nothing of the readers; numbers were read from the files by eye.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from logs_support import shared_data
from logs_tables_support import only, ours, side

from ringtree.logs import Imported, Row, Table, read_file
from ringtree.logs.tables.choose import NO_TIMINGS, OTHER_TABLE


def read(name: str, folder: str = "logs") -> Imported:
    return read_file(path_of(name, folder))


def path_of(name: str, folder: str = "logs") -> Path:
    found = sorted((shared_data() / folder).glob(f"{name}*"))
    assert len(found) == 1, found
    return found[0]


def lines_of(name: str, folder: str = "logs") -> list[str]:
    return path_of(name, folder).read_text().splitlines()


def num_rows(imported: Imported) -> int:
    return sum(len(table.rows) for table in ours(imported))


def row_of(table: Table, size: int) -> Row:
    (row,) = [row for row in table.rows if row.size_bytes == size]
    return row


def shown(row: Row) -> list[str]:
    """Returns all that was printed: time, algbw, busbw, then the others."""
    one = side(row)
    main = [printed.text for printed in (one.time, one.algbw, one.busbw) if printed is not None]
    return main + [printed.text for _, printed in one.others]


@pytest.mark.parametrize("name", ["188", "190", "192", "193", "208", "219", "225"])
def test_osu_counts(name: str) -> None:
    expected = sum(re.match(r"\s*\d+\s+\d+\.\d\d(\s|$)", line) is not None for line in lines_of(name))
    assert num_rows(read(name)) == expected
    assert expected in (21, 23, 24)


@pytest.mark.parametrize(
    ("name", "size", "numbers"),
    [
        ("188", 4, ["34.31", "33.27", "35.07", "1000"]),
        ("188", 33554432, ["44592.17", "44208.57", "45547.50", "100"]),
        ("190", 16384, ["108.33", "106.37", "109.76", "1000"]),
        ("190", 4194304, ["6445.76", "6241.42", "6652.56", "100"]),
        ("193", 4, ["7.71", "4.91", "10.63", "1000"]),
        ("193", 1048576, ["857.02", "837.10", "873.69", "100"]),
        ("208", 65536, ["107.53", "107.04", "108.06", "100"]),
        ("219", 1, ["0.95"]),
        ("219", 16384, ["13922.36"]),
        ("219", 4194304, ["23982.18"]),
        ("225", 1, ["12.46"]),
        ("225", 1048576, ["519.85"]),
    ],
)
def test_osu_digits(name: str, size: int, numbers: list[str]) -> None:
    assert shown(row_of(only(read(name)), size)) == numbers


def test_osu_facts() -> None:
    assert [only(read(name)).settings["buffers"] for name in ("188", "193")] == ["CUDA", "host"]
    assert (only(read("225")).num_ranks, only(read("225")).num_hosts) == (8, 2)
    crashed = read("229")
    assert not crashed.tables
    assert [one.num_lines for one in crashed.skipped if one.reason.startswith("an OSU table without a row")] == [1]


@pytest.mark.parametrize("name", ["116", "119", "131", "135"])
def test_aiconfigurator_counts(name: str) -> None:
    imported = read(name)
    lines = [line for line in lines_of(name) if line.startswith("TRTLLM,")]
    assert num_rows(imported) == len(lines) == 504
    assert len(imported.tables) == len({tuple(line.split(",")[:7]) for line in lines}) == 24


@pytest.mark.parametrize(
    ("name", "collective", "dtype", "ranks", "elements", "size", "latency"),
    [
        ("116", "all_gather", "half", 2, 256, 512, "0.00898"),
        ("116", "all_reduce", "int8", 8, 536870912, 536870912, "4.3643"),
        ("119", "all_gather", "half", 2, 32768, 65536, "0.0099499999999999"),
        ("131", "all_gather", "half", 2, 8388608, 16777216, "0.056"),
        ("131", "all_reduce", "int8", 8, 536870912, 536870912, "2.67747"),
        ("135", "all_gather", "half", 2, 1048576, 2097152, "0.07179"),
        ("135", "all_reduce", "int8", 8, 536870912, 536870912, "721.028"),
    ],
)
def test_aiconfigurator_digits(
    name: str, collective: str, dtype: str, ranks: int, elements: int, size: int, latency: str
) -> None:
    rows = [
        row
        for table in read(name).tables
        if (table.collective, table.num_ranks) == (collective, ranks)
        for row in table.rows
        if row.dtype == dtype and row.count == elements
    ]
    assert [(row.size_bytes, shown(row)) for row in rows] == [(size, [latency])]


def test_nvls_on_and_off() -> None:
    imported = read("164")
    assert num_rows(imported) == 10
    eight = [table for table in imported.tables if table.num_ranks == 8]
    assert [shown(table.rows[0]) for table in eight] == [["473.1", "1.29"], ["365.6", "1.29"]]
    assert [table.algorithm for table in eight] == ["nvls", None]
    assert eight[1].settings["arm"] == "nvls off"


def test_collectives_at_16_gib() -> None:
    imported = read("166")
    assert [table.collective for table in imported.tables] == ["all_reduce"] * 2 + ["all_gather", "reduce_scatter"]
    assert shown(imported.tables[0].rows[0]) == ["480.0", "107"]
    assert imported.tables[1].environment == {"NCCL_NVLS_ENABLE": "0"}


def test_all_reduce_bench() -> None:
    table = only(read("168"))
    assert len(table.rows) == sum("iB |" in line for line in lines_of("168")) == 20
    assert shown(row_of(table, 32768)) == ["0.82", "1.44"]
    assert shown(row_of(table, 4 << 20)) == ["61.23", "107.16"]
    assert shown(row_of(table, 16 << 30)) == ["275.58", "482.26"]


def test_sweeps_of_algorithms_protocols_and_channels() -> None:
    imported = read("181")
    # Counted by hand: 10 sizes x 3, 4 x 4 less two dashes, 6 channels x 5 sizes, 6 x 4, 3 x 2, 5 x 2, 2 of 20 runs.
    assert num_rows(imported) == 30 + 14 + 30 + 24 + 6 + 10 + 2
    ring, tree = (next(table for table in imported.tables if table.algorithm == name) for name in ("ring", "tree"))
    assert shown(row_of(ring, 8 << 20)) == ["249.7", "+27.2"]
    assert shown(row_of(tree, 8 << 20)) == ["178.0", "+27.2"]
    channels = next(table for table in imported.tables if table.settings.get("nch") == "32")
    assert shown(row_of(channels, 128 << 20)) == ["624.5"]
    times = next(table for table in imported.tables if "time" in table.columns)
    assert shown(row_of(times, 1 << 18)) == ["34.5", "+1.3", "+3.8"]
    unreadable = {one.reason: one.num_lines for one in imported.skipped}
    assert unreadable["a row of a table without a number that was measured"] == 1
    # Counted by hand, without the headings: 13 of programs that time themselves in ns, 14 with words.
    assert (unreadable[NO_TIMINGS], unreadable[OTHER_TABLE]) == (13, 14)


def test_sweeps_with_spreads() -> None:
    imported = read("183")
    expected = columns = 0
    for line in lines_of("183"):
        if line.startswith("| Size"):
            columns = len(re.findall(r"(?:time \(us\)|busbw \(GB/s\))", line))
        elif re.match(r"\| [\d.]+[KMG]?B \|", line):
            expected += columns
    assert num_rows(imported) == expected == 310
    tables = ours(imported)
    first = tables[0]
    assert (first.collective, side(first.rows[0]).place) == ("broadcast", "out_of_place")
    assert shown(row_of(first, 1024))[:2] == ["98.96", "45.08"]
    ll = next(table for table in tables if table.protocol == "ll")
    assert shown(row_of(ll, 16384))[:2] == ["502.54", "266.12"]


def test_throughput_that_counts_twice() -> None:
    table = only(read("249"))
    assert (table.num_ranks, table.num_hosts) == (424, 53)
    assert shown(table.rows[0]) == ["1495.6475830078125", "1499.183349609375"]


def test_a_summary() -> None:
    imported = read("056")
    assert num_rows(imported) == sum(line.startswith("nccl_") for line in lines_of("056")) == 20
    (table,) = [one for one in imported.tables if (one.collective, one.num_ranks) == ("all_reduce", 80)]
    assert table.average_busbw == ("265.631000", 1e9)
    assert shown(table.rows[0]) == ["265.631000", "364.070000"]


def test_published() -> None:
    folder = "published"
    auto = next(one for one in read("a100x8", folder).tables if one.settings["arm"] == "auto")
    assert [(row.size_bytes, shown(row)) for row in auto.rows] == [
        (1 << 20, ["229"]),
        (1 << 26, ["808"]),
        (1 << 28, ["313"]),
    ]
    tcpx = next(
        one for one in read("h100-tcpx", folder).tables if (one.num_ranks, one.settings["arm"]) == (64, "default")
    )
    assert shown(row_of(tcpx, 512 << 20)) == ["22.64", "1493.8"]
    ring = read("h100x16-ring", folder).tables[0]
    assert shown(row_of(ring, 8 << 30)) == ["806", "20", "7"]
    assert shown(row_of(only(read("h100x4-all", folder)), 16 << 30)) == ["244.66", "366.99"]
    tests = read("h100x16-nccl", folder).tables[2]
    assert (shown(tests.rows[0]), tests.num_hosts) == (["257", "482"], 2)
    assert num_rows(read("pcie", folder)) == 6


@pytest.mark.parametrize("name", ["claims", "protocols", "selection"])
def test_published_tables_without_timings(name: str) -> None:
    imported = read(name, "published")
    assert not imported.tables
    assert [one.num_lines for one in imported.skipped] == [len(lines_of(name, "published")) - 1]  # the headings


def test_published_throughput_of_a_training() -> None:
    imported = read("finetune", "published")
    assert num_rows(imported) == 2 * (3 * 3 + 1)
    assert not imported.skipped
    one = next(one for one in imported.tables if (one.num_hosts, one.algorithm) == (4, "tree"))
    assert shown(one.rows[0])[:1] == ["74322"]


def test_nobody_takes_rows_of_nccl_tests() -> None:
    """Files of nccl-tests and NCCL_DEBUG have no table of the formats that are read here."""
    for name in ("008", "034", "071", "085", "101", "107", "115", "180", "230", "235", "237", "239"):
        assert not ours(read(name)), name
