"""The columns of every version of nccl-tests and rccl-tests are read as what they are."""

from __future__ import annotations

import pytest
from nccltests_support import STYLES, Style, concluded, heading, only_table, printed, row

from ringtree.logs import IN_PLACE, NOT_STATED, OUT_OF_PLACE

VALUES = {
    "redop": ("sum",),
    "op": ("sum",),
    "root": ("0",),
    "time": ("104.9", "209.7"),
    "cputime": ("104.9", "209.7"),
    "hipevt": ("99.8", "199.6"),
    "algbw": ("10.00", "5.00"),
    "busbw": ("17.50", "8.75"),
    "#wrong": ("0", "N/A"),
    "error": ("2e-07", "N/A"),
    "res": ("0e+00", "N/A"),
    "i_min": ("90.00", "190.0"),
    "i_max": ("120.5", "1.2e+08"),
    "i_p99": ("119.0", "230.0"),
    "i_cv%": ("3.21", "0.00"),
    "timestamp": ("2026-01-02 03:04:05",),
}
PLACES = {"out-of-place": OUT_OF_PLACE, "in-place": IN_PLACE}


def text_of(style: Style) -> str:
    values = dict(VALUES)
    if style.milliseconds:
        values["time"] = ("0.105", "0.210")
    return "\n".join([*heading(style), row(style, 1048576, 262144, values)]) + "\n"


@pytest.mark.parametrize("style", STYLES, ids=lambda style: style.name)
def test_a_row_is_read_to_the_printed_digit(style: Style) -> None:
    table = only_table(text_of(style))
    read = table.rows[0]
    assert (read.line, read.size_bytes, read.count, read.dtype) == (len(heading(style)) + 1, 1048576, 262144, "float")
    assert read.op == ("sum" if {"redop", "op"} & set(style.lead) else None)
    assert read.root == (0 if "root" in style.lead else None)
    assert [side.place for side in read.sides] == [PLACES[place] for place in style.places]
    time = "cputime" if "cputime" in style.figures else "time"
    wrong = style.figures[style.figures.index("busbw") + 1]
    for index, side in enumerate(read.sides):
        shown = VALUES[time][index] if not style.milliseconds else ("0.105", "0.210")[index]
        expected = (shown, VALUES["algbw"][index], VALUES["busbw"][index], VALUES[wrong][index])
        assert printed(side) == tuple(None if text == "N/A" else text for text in expected)
    assert table.columns == {"time": time, "algbw": "algbw", "busbw": "busbw", "wrong": wrong}


@pytest.mark.parametrize("style", STYLES, ids=lambda style: style.name)
def test_figures_are_in_seconds_and_bytes_a_second(style: Style) -> None:
    side = only_table(text_of(style)).rows[0].sides[0]
    assert side.time is not None
    assert side.algbw is not None
    assert side.time.value == pytest.approx(105e-6 if style.milliseconds else 104.9e-6, rel=1e-12)
    assert side.algbw.value == pytest.approx(10e9)
    assert side.algbw.resolution == pytest.approx(0.01e9)


def test_columns_of_single_iterations() -> None:
    style = next(style for style in STYLES if "i_min" in style.figures)
    first, second = only_table(text_of(style)).rows[0].sides
    assert [(name, figure.text) for name, figure in first.others] == [
        ("i_min", "90.00"),
        ("i_max", "120.5"),
        ("i_p99", "119.0"),
        ("i_cv%", "3.21"),
    ]
    assert dict(first.others)["i_cv%"].value == pytest.approx(0.0321)
    assert dict(second.others)["i_max"].value == pytest.approx(120.0)


def test_the_event_time_of_rccl_tests_and_its_na() -> None:
    style = next(style for style in STYLES if "hipevt" in style.figures)
    assert dict(only_table(text_of(style)).rows[0].sides[1].others)["hipevt"].value == pytest.approx(199.6e-6)
    values = dict(VALUES, hipevt=("N/A", "N/A"))
    assert only_table("\n".join([*heading(style), row(style, 8, 2, values)])).rows[0].sides[0].others == ()


def test_what_rccl_tests_says_it_executed() -> None:
    lines = heading(Style("rccl -M"))
    lines[-2] += "      algo      proto      nchannels"
    small = row(Style(""), 1024, 256, VALUES) + f"{'RING':>8s}  {'LL':>8s}  {4:10d}"
    large = row(Style(""), 1048576, 262144, VALUES) + f"{'RING':>8s}  {'SIMPLE':>8s}  {16:10d}"
    table = only_table("\n".join([*lines, small, large]))
    assert len(table.rows) == 2
    assert table.settings["executed"] == "RING/LL (1024 to 1024 bytes), RING/SIMPLE (1048576 to 1048576 bytes)"
    assert (table.algorithm, table.protocol) == (None, None)
    table = only_table("\n".join([*lines, small]))
    assert (table.algorithm, table.protocol) == ("ring", "ll")


def test_timestamps_are_kept_as_the_first_and_the_last() -> None:
    style = next(style for style in STYLES if style.tail)
    later = dict(VALUES, timestamp=("2026-01-02 03:05:00",))
    table = only_table(text_of(style) + row(style, 2097152, 524288, later) + "\n")
    assert len(table.rows) == 2
    assert table.settings["first timestamp"] == "2026-01-02 03:04:05"
    assert table.settings["last timestamp"] == "2026-01-02 03:05:00"


def test_a_measurement_that_was_left_out_leaves_its_blanks() -> None:
    line = f"{1024:12d}  {256:12d}     float     sum      -1{'':32s}    12.00    0.09    0.17       0"
    read = only_table("\n".join([*heading(Style("replay")), line])).rows[0]
    assert [(side.place, side.time and side.time.text) for side in read.sides] == [(IN_PLACE, "12.00")]


def test_an_unknown_unit_is_said_to_be_concluded() -> None:
    oldest = STYLES[1]
    assert concluded(only_table(text_of(oldest)), "unit of time") == "ms"
    modern = heading(Style("no units"))[:-1]
    assert concluded(only_table("\n".join([*modern, row(Style(""), 1024, 256, VALUES)])), "unit of time") == "us"
    assert concluded(only_table(text_of(Style("all there"))), "unit of time") is None


def test_places_that_no_line_names_are_said_to_be_concluded() -> None:
    lines = heading(Style("no places"))
    table = only_table("\n".join([*lines[2:], row(Style(""), 1024, 256, VALUES)]))
    assert concluded(table, "places") == "out of place, then in place"
    assert [side.place for side in table.rows[0].sides] == [OUT_OF_PLACE, IN_PLACE]


def test_columns_without_a_heading_come_from_the_arithmetic() -> None:
    # 1 MiB in 104.9 us is 10.00 GB/s.
    table = only_table(row(Style(""), 1048576, 262144, VALUES) + "\n")
    assert table.rows[0].root == 0
    assert "redop root" in (concluded(table, "columns") or "")
    old = row(Style("", ("redop",), ("time", "algbw", "busbw", "error")), 1048576, 262144, VALUES)
    assert only_table(old).columns["wrong"] == "error"
    one = row(Style("", figures=("time", "algbw", "busbw", "#wrong"), places=("in-place",)), 1048576, 262144, VALUES)
    assert only_table(one).rows[0].sides[0].place == NOT_STATED
    milliseconds = row(Style(""), 1048576, 262144, dict(VALUES, time=("0.105", "0.210")))
    assert only_table(milliseconds).rows[0].sides[0].time is not None
    assert only_table(milliseconds).rows[0].sides[0].time.unit == 1e-3  # type: ignore[union-attr] # checked above


def test_rows_without_a_heading_that_contradict_themselves_are_skipped() -> None:
    from nccltests_support import read_text

    fast = row(Style(""), 1048576, 262144, dict(VALUES, algbw=("99.00", "5.00")))
    assert not read_text(fast).tables
    assert [skipped.reason for skipped in read_text(fast).skipped] == [
        "a row without a heading whose figures fit no known columns"
    ]
    cut = row(Style(""), 48576, 262144, VALUES)
    assert [skipped.reason for skipped in read_text(cut).skipped] == ["a row whose size is smaller than its elements"]


def test_under_a_heading_contradictions_are_read_for_the_audit() -> None:
    table = only_table(
        "\n".join([*heading(Style("")), row(Style(""), 1048576, 262144, dict(VALUES, algbw=("99.00", "5")))])
    )
    assert printed(table.rows[0].sides[0])[1] == "99.00"


@pytest.mark.parametrize("text", ["nan", "-nan", "inf"])
def test_a_rate_that_was_not_measured_is_no_rate(text: str) -> None:
    table = only_table("\n".join([*heading(Style("")), row(Style(""), 0, 0, dict(VALUES, algbw=(text, "5.00")))]))
    assert table.rows[0].sides[0].algbw is None
    assert table.rows[0].sides[1].algbw is not None
