"""Anything may stand in a file: tables that are damaged in any way, or bytes that are none at all."""

from __future__ import annotations

import io
import random

from hypothesis import given, settings
from hypothesis import strategies as st
from nccltests_support import FOOTER, STYLES, heading, modern_header, modern_row, read_text, row

from ringtree.logs import read_stream

WORDS = st.sampled_from(
    [
        *(
            "1024",
            "256",
            "0",
            "-1",
            "1e+06",
            "0.00",
            "N/A",
            "nan",
            "inf",
            "float",
            "half",
            "sum",
            "none",
            "size",
            "count",
        ),
        *(
            "type",
            "redop",
            "root",
            "time",
            "algbw",
            "busbw",
            "#wrong",
            "error",
            "#",
            "|",
            "-",
            "\t",
            "\n",
            "[1,0]<stdout>:",
        ),
        *(
            "[0]",
            "0:",
            "NCCL INFO x",
            "# nThread 1 nGpus 1 minBytes 8",
            "# Rank 0 on a device 0 [0] b",
            "...",
            "out-of-place",
        ),
        *(
            "# Out of bounds values : 0 OK",
            "# Avg bus bandwidth : 1",
            "# Collective test starting: x_perf",
            "XXX.XX",
            "\x1b[",
        ),
    ]
)
FIGURE = st.floats(0, 9e6, allow_nan=False).map(lambda value: f"{value:.2f}")


@given(st.binary(max_size=2000))
def test_any_bytes(data: bytes) -> None:
    read_stream(io.BytesIO(data), "any")


@settings(max_examples=400)
@given(st.lists(WORDS, max_size=120).map(" ".join))
def test_any_words_of_the_format(text: str) -> None:
    for table in read_text(text).tables:
        for read in table.rows:
            assert all(side.time is not None and side.time.value >= 0 for side in read.sides)


@settings(max_examples=200)
@given(st.integers(0, 2**32), st.integers(1, 30))
def test_tables_that_lost_or_gained_characters(seed: int, cuts: int) -> None:
    rng = random.Random(seed)
    text = modern_header() + modern_row(1024) + modern_row(2048) + FOOTER
    text = text * 2
    for _ in range(cuts):
        at, length = rng.randrange(len(text)), rng.randrange(20)
        text = text[:at] + rng.choice(("", "\n", "[1,0]<stdout>:", "0", " ")) + text[at + length :]
    read_text(text)


@given(st.sampled_from(STYLES), st.lists(st.tuples(st.integers(0, 40), *[FIGURE] * 6), min_size=1, max_size=8))
def test_what_any_version_prints_is_read_as_it_was_printed(style: object, tables: list[tuple[int, ...]]) -> None:
    assert style in STYLES
    chosen = next(each for each in STYLES if each is style)
    lines = heading(chosen)
    for power, *figures in tables:
        first, second = tuple(map(str, figures[:3])), tuple(map(str, figures[3:]))
        sides = zip(first, second, strict=True)
        values: dict[str, tuple[str, ...]] = dict(zip(("time", "algbw", "busbw"), sides, strict=True))
        values |= {"cputime": values["time"], "redop": ("sum",), "op": ("sum",), "root": ("0",)}
        values |= dict.fromkeys(("#wrong", "hipevt", "i_min", "i_max", "i_p99", "i_cv%"), ("0", "0"))
        values |= {"error": ("0e+00", "0e+00"), "res": ("0e+00", "0e+00"), "timestamp": ("2026-01-02 03:04:05",)}
        lines.append(row(chosen, 1 << power, (1 << power) // 4, values))
    rows = [read for table in read_text("\n".join(lines)).tables for read in table.rows]
    assert [read.size_bytes for read in rows] == [1 << power for power, *_ in tables]
    for read, (_, *figures) in zip(rows, tables, strict=True):
        texts = [figure.text for side in read.sides for figure in (side.time, side.algbw, side.busbw) if figure]
        assert texts == list(map(str, figures))[: len(texts)]
        assert len(texts) == 3 * len(chosen.places)
