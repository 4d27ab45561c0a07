"""Tables whose lines were cut, mixed, marked, glued, pasted or redacted on their way into a file."""

from __future__ import annotations

import pytest
from nccltests_support import (
    FOOTER,
    concluded,
    modern_header,
    modern_row,
    only_table,
    printed,
    read_text,
)

from ringtree.logs import IN_PLACE, OUT_OF_PLACE, Table
from ringtree.logs.lines import clean
from ringtree.logs.nccltests import NcclTestsReader
from ringtree.logs.reading import Context, Sink
from ringtree.logs.records import MAX_ROWS

HEAD = "        1024           256     float     sum      -1"
OUT, IN = "    10.00    0.10    0.10       0", "    11.00    0.09    0.09       0"
WHOLE = [("10.00", "0.10", "0.10", "0"), ("11.00", "0.09", "0.09", "0")]
INFO = "node-a:1000:1016 [0] NCCL INFO Connected all rings, use ring PXN 0 GDR 1"

CONTAINER = INFO.replace("node-a", "4f0c9a1d2b3e")


def rows_of(lines: str) -> list[list[tuple[str | None, ...]]]:
    table = only_table(modern_header() + lines)
    return [[printed(side) for side in row.sides] for row in table.rows]


def reasons(text: str) -> dict[str, int]:
    return {skipped.reason: skipped.num_lines for skipped in read_text(text).skipped}


@pytest.mark.parametrize(
    "lines",
    [
        f"{HEAD}\n{OUT}{IN}\n",
        f"{HEAD}\n{OUT}\n{IN}\n",
        f"{HEAD}{OUT}\n{IN}\n",
        f"{HEAD}{INFO}\n{OUT}{IN}\n",
        f"{HEAD}{INFO}\n{INFO}\n{OUT}{INFO}\n{IN}\n",
        f"{HEAD}{OUT}{IN}{INFO}\n",
        f"{HEAD}{CONTAINER}\n{CONTAINER}\n{OUT}{CONTAINER}\n{IN}\n",
        f"{HEAD}{OUT}{IN}WARNING: Open MPI accepted a TCP connection\n",
        f"{HEAD}{OUT}{IN[:-1]}010.0.0.7:1234 closed\n",
        f"Warning: no route {HEAD}{OUT}{IN}\n",
        f"[STAT]:{HEAD.lstrip()}{OUT}{IN}\n",
        f"{HEAD}{OUT[:12]}\n{OUT[12:]}{IN}\n",
        f"{HEAD}{OUT}    11.0\n0    0.09    0.09       0\n",
    ],
    ids=[
        "before the figures",
        "before each measurement",
        "between measurements",
        "NCCL in between",
        "NCCL in all places",
        "NCCL behind",
        "NCCL of a host whose name begins with a digit",
        "a warning behind",
        "an address behind the last 0",
        "a warning before",
        "a tag glued to the size",
        "between two figures",
        "within a figure",
    ],
)
def test_a_row_in_pieces(lines: str) -> None:
    assert rows_of(lines + modern_row(2048)) == [WHOLE, [("10.00", "0.10", "0.10", "0")] * 2]


def test_lines_of_nccl_stay_with_their_reader() -> None:
    reader = NcclTestsReader(Context("log"), Sink(lambda item: None))
    for number, line in enumerate((modern_header() + modern_row(1024)).splitlines(), 1):
        assert reader.feed(clean(number, line)), line
    assert not reader.feed(clean(90, INFO))
    assert not reader.feed(clean(91, HEAD + INFO))
    assert not reader.feed(clean(92, OUT + IN + INFO))
    assert not reader.feed(clean(93, "NCCL version 2.27.3+cuda12.9"))


@pytest.mark.parametrize("mark", ["[1,0]<stdout>:", "[1,0]:"])
def test_marks_of_mpirun_inside_rows_and_numbers(mark: str) -> None:
    header = "".join(f"{mark}{line}\n" for line in modern_header().splitlines())
    rows = f"{mark}{HEAD}{mark}{OUT}{mark}{IN}\n{mark}{HEAD}{OUT[:-12]}0.{mark}10       0{IN}\n"
    rows += f"{mark}{HEAD}{mark}\n{mark}{OUT}{IN}\n"
    table = only_table(header + rows)
    assert [[printed(side) for side in row.sides] for row in table.rows] == [WHOLE] * 3
    assert table.job == mark


def test_marks_of_mpich_inside_rows() -> None:
    header = "".join(f"[0] {line}\n" for line in modern_header().splitlines())
    table = only_table(f"{header}[0]{HEAD}[0]{OUT}[0]{IN}\n")
    assert [printed(side) for side in table.rows[0].sides] == WHOLE


@pytest.mark.parametrize(
    "mark",
    ["{}: ", "[1,{}]<stdout>:", "[pod/nccl-worker-{}/nccl] ", "2026-01-02T03:04:05.123456Z [1,{}]<stdout>:"],
)
def test_jobs_that_write_at_once_are_told_apart_by_their_marks(mark: str) -> None:
    first = (
        modern_header(2, "all_reduce_perf") + modern_row(1024, "10.00") + modern_row(2048, "11.00") + FOOTER
    ).splitlines()
    second = (modern_header(2, "broadcast_perf") + modern_row(1024, "20.00") + modern_row(2048, "21.00")).splitlines()
    lines = []
    for index in range(max(len(first), len(second))):
        for job, of in enumerate((first, second)):
            if index < len(of):
                lines.append(mark.format(job) + of[index])
    tables = {table.collective: table for table in read_text("\n".join(lines)).tables}
    assert set(tables) == {"all_reduce", "broadcast"}
    for collective, times, complete in (
        ("all_reduce", ["10.00", "11.00"], True),
        ("broadcast", ["20.00", "21.00"], False),
    ):
        table = tables[collective]
        assert [printed(row.sides[0])[0] for row in table.rows] == times
        assert table.complete is complete
        assert table.num_ranks == 2
        assert table.job
        assert concluded(table, "rows") is None


def interleaved(count: int) -> str:
    """Programs of one rank: all headers, then rows of all in an order that nobody planned."""
    lines = ["".join(modern_header(0).splitlines(keepends=True)[:4])] * count
    lines += [f"#  Rank  0 Group  0 Pid {1000 + each} on node-a device 0 [0000:18:00] GPU\n" for each in range(count)]
    heading = "".join(modern_header(0).splitlines(keepends=True)[-4:])
    lines.append(heading)
    lines += [modern_row(1024, f"{each}.00", busbw="0.00") for each in range(1, count)] + [heading]
    lines += [modern_row(2048, f"{each}.50", busbw="0.00") for each in range(1, count)]
    lines += [modern_row(1024, f"{count}.00", busbw="0.00"), modern_row(4096, "1.75", busbw="0.00"), FOOTER]
    lines += [modern_row(2048, f"{count}.50", busbw="0.00")]
    return "".join(lines)


def test_programs_that_write_into_one_stream_without_marks() -> None:
    tables = read_text(interleaved(8)).tables
    assert len(tables) == 8
    assert [table.num_ranks for table in tables] == [1] * 8
    assert [[row.size_bytes for row in table.rows] for table in tables] == [[1024, 2048, 4096]] + [[1024, 2048]] * 7
    assert sorted(printed(row.sides[0])[0] or "" for table in tables for row in table.rows) == sorted(
        [f"{each}.00" for each in range(1, 9)] + [f"{each}.50" for each in range(1, 9)] + ["1.75"]
    )
    for number, table in enumerate(tables, 1):
        assert concluded(table, "rows") == f"program {number} of 8"
        assert "apart" in table.inferences[-1].because or any("apart" in each.because for each in table.inferences)
    assert [table.complete for table in tables] == [True] + [False] * 7


def test_a_program_that_died_is_no_program_at_once() -> None:
    text = modern_header() + modern_row(1024, "1.00") + modern_row(2048, "1.50")
    text += modern_header() + modern_row(1024, "2.00") + modern_row(2048, "2.50") + modern_row(4096, "2.75") + FOOTER
    text += modern_header() + modern_row(1024, "3.00") + FOOTER
    tables = read_text(text).tables
    assert [[printed(row.sides[0])[0] for row in table.rows] for table in tables] == [
        ["1.00", "1.50"],
        ["2.00", "2.50", "2.75"],
        ["3.00"],
    ]
    assert [table.complete for table in tables] == [False, True, True]
    assert all(concluded(table, "rows") is None for table in tables)


def test_a_program_that_died_before_its_first_row_is_a_table_without_rows() -> None:
    text = (
        modern_header()
        + "node-a: Test CUDA failure common.cu:294 'out of memory'\n"
        + modern_header()
        + modern_row(1024)
    )
    first, second = read_text(text + FOOTER).tables
    assert (first.rows, first.complete, first.num_ranks) == ([], False, 2)
    assert (len(second.rows), second.complete) == (1, True)


def test_thousands_of_runs_without_totals_do_not_wait_for_each_other() -> None:
    emitted: list[Table] = []
    reader = NcclTestsReader(
        Context("log"), Sink(lambda item: emitted.append(item) if isinstance(item, Table) else None)
    )
    lines = (modern_header() + modern_row(1024) + modern_row(2048)).splitlines()
    for run in range(1500):
        for line in lines:
            reader.feed(clean(run + 1, line))
        assert run - len(emitted) <= 1
    reader.finish()
    assert len(emitted) == 1500


def test_headers_alone_do_not_pile_up() -> None:
    emitted: list[object] = []
    reader = NcclTestsReader(Context("log"), Sink(emitted.append))
    for number in range(5000):
        reader.feed(clean(number + 1, "# nThread 1 nGpus 1 minBytes 8 maxBytes 8 step: 2(factor) iters: 20"))
        assert number - len(emitted) < 1100
    reader.finish()
    assert len(emitted) == 5000


@pytest.mark.parametrize("kept", range(1, len(HEAD + OUT + IN)))
def test_a_file_that_ends_within_a_row_keeps_whole_measurements_only(kept: int) -> None:
    text = modern_header() + modern_row(512) + (HEAD + OUT + IN)[:kept]
    rows = only_table(text).rows
    assert rows[0].size_bytes == 512
    expected = 1 if kept >= len(HEAD + OUT) else 0
    assert len(rows) == 1 + expected
    if expected:
        assert [(side.place, printed(side)) for side in rows[1].sides] == [(OUT_OF_PLACE, WHOLE[0])]
        assert "a row that breaks off: only its whole measurements were read" in reasons(text)
    elif kept > len(HEAD):
        assert "a row that breaks off" in reasons(text)


def test_a_row_that_breaks_off_within_the_file() -> None:
    text = modern_header() + HEAD + OUT + "    11.00    0.0\nsrun: error: node-b: task 7: Killed\n" + modern_row(2048)
    table = only_table(text)
    assert [len(row.sides) for row in table.rows] == [1, 2]
    assert table.complete is False


def test_the_end_of_a_row_without_its_beginning_is_said() -> None:
    assert reasons(f"{OUT}{IN}\n" + modern_row(2048, "0.02", "102.40", "102.40")) == {
        "the end of a row whose beginning is missing": 1
    }


def test_rows_of_others_are_left_to_them() -> None:
    reader = NcclTestsReader(Context("log"), Sink(lambda item: None))
    for number, line in enumerate(
        ("8   1.25   1.20   1.30", "8  1000  1.25  6.40", "8   1.25", "1 1000 1.2 1.3 1.4"), 1
    ):
        assert not reader.feed(clean(number, line)), line


def test_a_header_that_is_missing() -> None:
    table = only_table(modern_row(1048576, "104.9", "10.00", "17.50") + FOOTER)
    assert (table.collective, table.num_ranks, table.complete) == ("all_reduce", 8, True)
    assert {each.what for each in table.inferences} == {"columns", "collective", "num_ranks"}


def test_tables_without_headers_end_where_the_sizes_begin_again() -> None:
    def excerpt(busbw: str) -> str:
        return "".join(modern_row(size, "104.9", f"{size / 104857.6:.2f}", busbw) for size in (1048576, 2097152))

    tables = read_text(excerpt("17.50") + "\nand now with tree:\n\n" + excerpt("17.40")).tables
    assert [[row.line for row in table.rows] for table in tables] == [[1, 2], [6, 7]]


def test_a_second_heading_is_another_table_if_the_sizes_begin_again() -> None:
    heading = "".join(modern_header().splitlines(keepends=True)[-3:])
    text = heading + modern_row(1024) + modern_row(2048) + heading + modern_row(1024)
    assert [len(table.rows) for table in read_text(text).tables] == [2, 1]
    text = heading + modern_row(1024) + modern_row(2048) + heading + modern_row(4096)
    assert [len(table.rows) for table in read_text(text).tables] == [3]


@pytest.mark.parametrize(
    ("before", "behind"),
    [("- ", ""), ("", " | |"), ("> ", ""), ("    ", ""), ("| ", " |"), ("\t", "   ")],
    ids=["list", "copied table", "quote", "indented", "cell", "tab"],
)
def test_residue_of_pages(before: str, behind: str) -> None:
    lines = (modern_header() + HEAD + OUT + IN + "\n" + FOOTER).splitlines()
    text = "".join(f"{before}{line}{behind}\n" for line in lines)
    table = only_table(text)
    assert [printed(side) for side in table.rows[0].sides] == WHOLE
    assert (table.collective, table.num_ranks, table.complete) == ("all_reduce", 2, True)
    assert table.devices == ["NVIDIA H100 80GB HBM3"] * 2


def test_collapsed_blanks_and_code_fences() -> None:
    lines = (modern_header() + HEAD + OUT + IN + "\n" + FOOTER).splitlines()
    text = "```text\n" + "\n".join(" ".join(line.split()) for line in lines) + "\n```\n"
    table = only_table(text)
    assert [printed(side) for side in table.rows[0].sides] == WHOLE
    assert table.num_ranks == 2


def test_lines_that_lost_their_hash() -> None:
    lines = (modern_header() + modern_row(1024) + FOOTER).splitlines()
    table = only_table("\n".join(line.lstrip("#").strip() for line in lines))
    assert (table.collective, table.num_ranks, len(table.rows), table.complete) == ("all_reduce", 2, 1, True)


@pytest.mark.parametrize("side", ["  XXXXX  XXX.XX  XXX.XX    N/A", "    ***  ***  ***  ***", "  ...  ...  ...  ..."])
def test_placeholders_are_no_numbers(side: str) -> None:
    text = modern_header() + HEAD + side + side + "\n" + modern_row(2048) + "# Avg bus bandwidth    : XXX.XX\n"
    table = only_table(text)
    assert [row.size_bytes for row in table.rows] == [2048]
    assert table.average_busbw is None
    assert reasons(text) == {"figures replaced by placeholders": 1}


def test_a_table_in_markdown_is_left_to_its_reader() -> None:
    assert not read_text("| 1024 | 256 | float | sum | -1 | 10.00 | 0.10 | 0.10 | 0 |\n").tables


def test_prose_is_no_row() -> None:
    for line in (
        "we moved 8 2 float values",
        "   8 2 float sum",
        "int main() { 1 2 int x; }",
        "atu_cache_hit_base_page_size_0    8    293771255   13353238.9    293904184   13359281.1",
        "10: 8 2 float sum reduces faster",
    ):
        assert not read_text(line + "\n").tables, line


def test_cycles_and_all_types_are_one_table() -> None:
    cycles = modern_row(1024) + modern_row(2048) + "# Testing 2 cycle.\n" + modern_row(1024) + modern_row(2048)
    table = only_table(modern_header() + cycles + FOOTER)
    assert len(table.rows) == 4
    assert concluded(table, "rows") is None
    types = "".join(
        modern_row(size).replace("   float", f"{dtype:>8s}") for dtype in ("int8", "half") for size in (1024, 2048)
    )
    table = only_table(modern_header() + types + FOOTER)
    assert [row.dtype for row in table.rows] == ["int8", "int8", "half", "half"]
    assert concluded(table, "rows") is None


def test_sizes_that_begin_again_under_one_heading_are_said() -> None:
    table = only_table(modern_header() + (modern_row(1024) + modern_row(2048)) * 3 + FOOTER)
    assert len(table.rows) == 6
    assert concluded(table, "rows") == "sizes begin again 2 times"


def test_sizes_of_0_come_several_times() -> None:
    side = "     0.20    0.00    0.00       0"
    zero = f"           0             0     float    none      -1{side}{side}\n"
    assert len(only_table(modern_header(program="all_gather_perf") + zero * 5 + FOOTER).rows) == 5


def test_colours_and_progress_bars() -> None:
    text = modern_header() + f"\x1b[32m{HEAD}\x1b[0m{OUT}{IN}\n" + f"10%\r50%\r{modern_row(2048)}"
    assert [row.size_bytes for row in only_table(text).rows] == [1024, 2048]


def test_a_table_of_many_rows_goes_out_in_parts() -> None:
    rows = "".join(modern_row(4 * (number + 1)) for number in range(MAX_ROWS + 5))
    first, second = read_text(modern_header() + rows + FOOTER).tables
    assert (len(first.rows), first.continued, first.complete) == (MAX_ROWS, True, None)
    assert (len(second.rows), second.continued, second.complete) == (5, False, True)
    assert (first.collective, first.num_ranks) == (second.collective, second.num_ranks) == ("all_reduce", 2)


def test_ranks_of_the_oldest_versions_print_their_own_lines() -> None:
    text = (
        "[1,0]<stdout>:nThread 1 nGpus 1 minBytes 8 maxBytes 16 step: 2(factor) warmup iters: 5 validation: 1 \n"
        "[1,0]<stdout>:#   Rank  0 on     node-a device  0 [0x00] Tesla V100\n"
        "[1,1]<stdout>:#   Rank  1 on     node-b device  0 [0x00] Tesla V100\n"
        "[1,0]<stdout>:#      bytes             N    type      op     time  algbw  busbw      res\n"
        "[1,0]<stdout>:           8             2   float     sum    0.147   0.00   0.00    2e-07\n"
    )
    table = only_table(text)
    assert (table.num_ranks, table.hosts, table.num_hosts) == (2, ["node-a", "node-b"], 2)


def test_a_row_that_goes_on_in_another_place_is_in_place() -> None:
    assert [side.place for side in only_table(modern_header() + modern_row(1024)).rows[0].sides] == [
        OUT_OF_PLACE,
        IN_PLACE,
    ]


def test_the_half_of_a_last_row_is_read_before_the_totals() -> None:
    """Some builds print one measurement under a heading of two."""
    table = only_table(modern_header() + f"{HEAD}{OUT}\n" + FOOTER)
    assert [[printed(side) for side in row.sides] for row in table.rows] == [[("10.00", "0.10", "0.10", "0")]]
