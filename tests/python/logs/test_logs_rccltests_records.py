"""What rccl-tests writes with -x FILE -Z json|csv."""

from __future__ import annotations

import json

import pytest
from nccl_info_support import read

from ringtree.logs import rccltests_records

FIGURES = ("size", "type", "redop", "inPlace", "time", "algBw", "busBw", "wrong")
FIELDS = ("numCycle", "name", "nodes", "ranks", "ranksPerNode", "gpusPerRank", *FIGURES)


def record(size: int = 1048576, place: int = 0, time: float = 40.0, **other: object) -> dict[str, object]:
    """An all_reduce of 16 ranks: busbw is algbw × 2 · 15 / 16."""
    algbw = size / time / 1e3
    figures = (size, "float", "sum", place, time, round(algbw, 4), round(1.875 * algbw, 4), 0)
    values = (0, "AllReduce", 2, 16, 8, 1, *figures)
    return {**dict(zip(FIELDS, values, strict=True)), **other}


PAIRS = [record(size, place, time) for size, time in ((1048576, 40.0), (4194304, 120.5)) for place in (0, 1)]


def as_json(records: list[dict[str, object]]) -> str:
    return json.dumps(records, indent=2)


def as_lines(records: list[dict[str, object]]) -> str:
    return "\n".join(map(json.dumps, records)) + "\n"


def as_csv(records: list[dict[str, object]]) -> str:
    return "\n".join((",".join(records[0]), *(",".join(map(str, each.values())) for each in records))) + "\n"


@pytest.mark.parametrize("written", [as_json, as_lines, as_csv])
def test_two_places_of_a_size_are_one_row(written) -> None:  # type: ignore[no-untyped-def] # one of the three above
    (table,) = read(written(PAIRS)).tables
    assert (table.format, table.tool, table.collective) == ("rccl-tests-records", "rccl-tests", "all_reduce")
    assert (table.num_ranks, table.num_hosts) == (16, 2)
    assert [row.size_bytes for row in table.rows] == [1048576, 4194304]
    first, second = table.rows[1].sides
    assert (first.place, second.place) == ("out_of_place", "in_place")
    assert first.time is not None
    assert first.time.text == "120.5"
    assert first.time.value == pytest.approx(120.5e-6)
    assert first.busbw is not None
    assert first.busbw.value == pytest.approx(1.875 * 4194304 / 120.5e-6, rel=1e-5)
    assert first.wrong is not None
    assert first.wrong.value == 0


def test_cycles_types_and_collectives_are_tables_of_their_own() -> None:
    records = [record(), record(numCycle=1), record(type="half"), record(name="AllGather")]
    tables = read(as_json(records)).tables
    assert [(each.settings["cycle"], each.rows[0].dtype, each.collective) for each in tables] == [
        ("0", "float", "all_reduce"),
        ("1", "float", "all_reduce"),
        ("0", "half", "all_reduce"),
        ("0", "float", "all_gather"),
    ]


def test_one_place_alone_is_a_row_of_one_side() -> None:
    (table,) = read(as_csv([record(place=1), record(2097152, place=1)])).tables
    assert [[side.place for side in row.sides] for row in table.rows] == [["in_place"], ["in_place"]]


def test_gpus_of_a_process_are_ranks() -> None:
    (table,) = read(as_json([record(ranks=4, ranksPerNode=2, gpusPerRank=4)])).tables
    assert table.num_ranks == 16
    assert any("4 processes, 4 GPUs of each" in each.because for each in table.inferences)


def test_ranks_that_the_file_does_not_state_come_from_the_figures() -> None:
    alone = {name: value for name, value in record(1 << 30, 0, 5000.0).items() if name not in FIELDS[2:6]}
    (table,) = read(as_json([alone])).tables
    assert table.num_ranks == 16
    assert any(each.what == "num_ranks" for each in table.inferences)


def test_figures_of_another_number_of_ranks_are_said() -> None:
    (table,) = read(as_json([record(1 << 30, 0, 5000.0, ranks=8, nodes=1)])).tables
    assert table.num_ranks == 8
    assert any(each.what == "ranks of the figures" and "16" in each.value for each in table.inferences)


def test_what_was_not_checked_has_no_count_of_wrong_elements() -> None:
    (table,) = read(as_json([record(wrong="N/A")])).tables
    assert table.rows[0].sides[0].wrong is None


def test_a_file_that_breaks_off_gives_what_was_there() -> None:
    imported = read(as_json(PAIRS)[:-200])
    assert [len(row.sides) for table in imported.tables for row in table.rows] == [2, 1]
    assert [each.reason for each in imported.skipped] == [rccltests_records.BROKEN]


def test_a_record_without_a_time_is_counted() -> None:
    imported = read(as_csv([*PAIRS, record(time=1.0, algBw="nan")]))
    assert [each.reason for each in imported.skipped] == [rccltests_records.UNREADABLE]


@pytest.mark.parametrize("text", ['[{"numCycle": 3}]', "numCycle,other\n1,2\n", '{"numCycle": \n', "[" * 5000])
def test_what_only_begins_so_is_read_as_something_else(text: str) -> None:
    assert all(table.format != "rccl-tests-records" for table in read(text).tables)
