"""The quick ways through which rows pass say what the readers' own ways say, and nothing where they are not certain."""

from __future__ import annotations

import io
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ringtree.errors import UsageError
from ringtree.logs import importing, read_stream
from ringtree.logs.nccltests.layout import Layout, SideColumns
from ringtree.logs.quick_rows import Cell, Column, RowColumns
from ringtree.logs.records import GB_PER_SECOND, MICROSECONDS, Item, Printed, Row, Side

NEW = ("time", "algbw", "busbw", "#wrong")


def layouts() -> dict[str, Layout]:
    """Made for each test: a maker that outlives the interpreter's end would be reported as leaked."""
    return {
        "both places": Layout((SideColumns("out_of_place", NEW), SideColumns("in_place", NEW))),
        "no reduction, no root": Layout(
            (SideColumns("", ("time", "algbw", "busbw", "error")),), has_op=False, has_root=False
        ),
        "iterations": Layout(
            (SideColumns("", ("time", "i_min", "i_cv%", "algbw", "busbw", "#wrong")),), time_unit=1e-3
        ),
        "timestamps": Layout((SideColumns("out_of_place", NEW),), tail=("timestamp",)),
        "an executed algorithm": Layout((SideColumns("out_of_place", NEW),), tail=("algo", "proto", "nchannels")),
    }


ROW = "  1048576  262144  float  sum  -1  52.31  20.05  35.08  0  1e+01  20.20  35.36  N/A"

_words = st.one_of(
    st.sampled_from(
        ["float", "sum", "none", "N/A", "nan", "inf", "-1", "fp8_e4m3", "0", "1e+06", "1e+29", "3e-05", "1e10"]
    ),
    st.sampled_from(
        ["007", "+5", "1_000", "5.", ".5", "1.5e+03", "٣", "1.2.3", "9" * 18, "9" * 19, "1." + "0" * 19, "-"]
    ),
    st.integers(-2, 1 << 40).map(str),
    st.floats(0, 1e6).map(lambda value: f"{value:.2f}"),
)
_blanks = st.sampled_from([" ", "  ", "\t", "\u00a0", "\x0b", "\x1c"])


def test_a_row_is_made_as_it_stands() -> None:
    side = Side(
        "out_of_place",
        Printed("52.31", MICROSECONDS),
        Printed("20.05", GB_PER_SECOND),
        Printed("35.08", GB_PER_SECOND),
        Printed("0"),
    )
    inner = Side(
        "in_place", Printed("1e+01", MICROSECONDS), Printed("20.20", GB_PER_SECOND), Printed("35.36", GB_PER_SECOND)
    )
    made = layouts()["both places"].make_row(ROW, 7)
    assert made == Row(7, 1048576, (side, inner), 262144, "float", "sum", -1)
    assert made is not None
    assert type(made) is Row
    assert [type(each) for each in made.sides] == [Side, Side]
    assert type(made.sides[0].time) is Printed


@pytest.mark.parametrize("name", layouts())
@settings(max_examples=150, deadline=None)
@given(st.data())
def test_what_is_certain_is_what_the_slow_way_reads(name: str, data: st.DataObject) -> None:
    """A row that would be read, in which some words and blanks are others."""
    layout = layouts()[name]
    figures = [word for side in layout.sides for word in ["12.5"] * side.width]
    words = ["1024", "256", "float", *["sum"] * layout.has_op, *["-1"] * layout.has_root, *figures]
    words += ["2026-01-01", "10:00:00"] * len(layout.tail)
    plain = " ".join(words)
    certain = layout.make_row(plain, 1)
    assert certain == layout.read(plain, 1)
    assert (certain is None) == ("algo" in layout.tail)
    for _ in range(data.draw(st.integers(0, 3))):
        words[data.draw(st.integers(0, len(words) - 1))] = data.draw(_words)
    blanks = [data.draw(_blanks) for _ in words] if data.draw(st.booleans()) else [" "] * len(words)
    text = "".join(word + blank for word, blank in zip(words, blanks, strict=True))
    made = layout.make_row(text, 5)
    assert made is None or made == layout.read(text, 5)


def test_a_maker_refuses_columns_that_do_not_fit() -> None:
    with pytest.raises(UsageError, match="side"):
        RowColumns([Column(Cell.TIME, 1)]).quick("", 1)
    with pytest.raises(UsageError, match="64 columns"):
        RowColumns([Column(Cell.OTHER)] * 65).quick("", 1)
    with pytest.raises(UsageError, match="sides"):
        RowColumns([], []).quick("", 1)


def test_figures_that_were_seen_before_are_the_right_ones() -> None:
    """Among many, some share a place in what the maker remembers; units of columns differ."""
    make = RowColumns(
        [Column(Cell.TIME, unit=1e-6), Column(Cell.BUSBW, unit=1e9), Column(Cell.OTHER, unit=0.01, name="x")]
    ).quick
    for number in (*range(3000), *range(3000)):
        row = make(f"{number} {number / 10} {number}", number)
        time, busbw, other = Printed(str(number), 1e-6), Printed(str(number / 10), 1e9), Printed(str(number), 0.01)
        assert row == Row(number, None, (Side("", time, None, busbw, others=(("x", other),)),))


HEAD = "#  size  count  type  redop  root  time  algbw  busbw  #wrong  time  algbw  busbw  #wrong"
SETTINGS = "# nThread 1 nGpus 8 minBytes 8 maxBytes 1024 step: 2(factor) warmup iters: 5 iters: 20 validation: 1"
OSU = ["# OSU MPI Allreduce Latency Test v7.3", "# Size       Avg Latency(us)", "# Datatype: MPI_CHAR."]
IMB = ["# Benchmarking Allreduce", "# #processes = 4", "#bytes #repetitions t_min[usec] t_max[usec] t_avg[usec]"]
LINES = [
    *(HEAD, SETTINGS, ROW, ROW, ROW.replace("1048576", "2097152").replace("262144", "524288"), ROW.strip(), ROW + "\t"),
    *(*OSU, "8   3.51", "16  4.02", *IMB, "8 1000 1.0 2.0 1.5", "16 1000 1.0 2.0 1.5"),
    *(
        "",
        "# Out of bounds values : 0 OK",
        "# Avg bus bandwidth    : 12.3",
        "mpirun -np 8 ./all_reduce_perf -b 8 \\",
        "\\",
    ),
    *(
        "NCCL version 2.19.3",
        "NCCL_ALGO=Ring",
        "some words",
        "n1:1:1 [0] NCCL INFO comm",
        ROW[:40],
        ROW + " n1:1:1 [0] NCCL INFO x",
    ),
    *(
        ROW.replace("20.05", "20.05 "),
        ROW.replace("float", "fp8_e4m3"),
        ROW.replace(" 0 ", " \x1b[31m0\x1b[0m "),
        "...",
    ),
]
MARKS = [
    "",
    "",
    "",
    "0: ",
    "1: ",
    "[1,0]<stdout>:",
    "[1,0]<stdout>: ",
    "[0] ",
    "[pod/a-0] ",
    "w-1  | ",
    "2026-01-01 10:00:00 ",
    "x] ",
]


def everything(text: str) -> tuple[list[Item], list[object], int]:
    """What a log says, and what was skipped."""
    items: list[Item] = []
    imported = read_stream(io.BytesIO(text.encode()), "log", items.append)
    return items, [(one.reason, one.num_lines, one.examples) for one in imported.skipped], imported.num_lines


def slowly(text: str) -> tuple[list[Item], list[object], int]:
    """The same with every line offered to every reader, and rows read by Python alone."""

    def nothing(_text: str, _number: int) -> None:
        return None

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(importing, "_may_skip", lambda *_line: False)
        patch.setattr(RowColumns, "quick", property(lambda _: nothing))
        return everything(text)


_sections = st.tuples(
    st.sampled_from([(HEAD,), (SETTINGS, HEAD), OSU, IMB, ()]),
    st.sampled_from([ROW, ROW, "8   3.51", "8 1000 1.0 2.0 1.5"]),
    st.lists(st.one_of(st.just(""), st.sampled_from(LINES)), max_size=4),
    st.lists(st.sampled_from(MARKS), min_size=1, max_size=2),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(_sections, max_size=6))
def test_the_quick_way_changes_nothing(sections: list[tuple[Sequence[str], str, list[str], list[str]]]) -> None:
    """Headings, then rows with other lines between, of one process or of two in turns."""
    lines = []
    for heads, row, others, marks in sections:
        for line in (*heads, *(each for other in ["", *others] for each in (row, row, other) if each)):
            lines += [mark + line for mark in marks]
    text = "\n".join(lines)
    assert everything(text) == slowly(text)


@pytest.mark.parametrize(
    "lines",
    [
        [mark + line for line in (HEAD, ROW, ROW, ROW) for mark in ("0: ", "1: ")],
        [*OSU, "8   3.51", *["1024 256 float sum -1 10.00 0.10 0.18 0"] * 600, "16  4.02"],
        [*(HEAD, ROW, ROW + " NCCL_ALGO=Ring srun all_reduce_perf \\", ROW, ROW), "mpirun all_reduce_perf", HEAD, ROW],
    ],
    ids=["two processes", "a table of another program is open", "a row ends in a command that goes on"],
)
def test_the_quick_way_changes_nothing_where_it_could(lines: list[str]) -> None:
    text = "\n".join(lines)
    assert everything(text) == slowly(text)


def test_rows_do_pass_the_quick_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the test above could not fail."""
    calls: list[int] = []
    cleaned = importing.clean
    monkeypatch.setattr(importing, "clean", lambda number, raw: calls.append(number) or cleaned(number, raw))
    for head, row, mark in (
        ([HEAD], ROW, ""),
        ([HEAD], ROW, "0: "),
        (OSU, "8   3.51", ""),
        (OSU, "8   3.51", "[1,0]<stdout>:"),
        (IMB, "8 1000 1.0 2.0 1.5", ""),
    ):
        calls.clear()
        everything("\n".join(mark + line for line in (*head, *[row] * 50)))
        assert len(calls) <= len(head) + 1, (row, mark)
