"""Lines of a file in blocks are those that one would read one after the other, whatever the bytes are."""

from __future__ import annotations

import html
import io
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ringtree.logs import lines

_BLANK = "\u00a0\u2002\u2003\u2007\u2009\u202f\u3000"


def one_by_one(data: bytes, longest: int) -> Iterator[tuple[int, str, bool]]:
    """The slow way: (number, text, was too long) of each line."""
    parts = data.split(b"\n")
    for index, part in enumerate(parts[:-1] if parts[-1] == b"" else parts):
        text = part[:longest].decode("utf-8", "replace").rstrip("\r")
        if index == 0:
            text = text.removeprefix("\ufeff")
        text = text.rpartition("\r")[2]
        for blank in _BLANK:
            text = text.replace(blank, " ")
        if "&" in text and ";" in text:
            for entity in ("&lt;", "&gt;", "&nbsp;", "&quot;", "&amp;"):
                text = text.replace(entity, html.unescape(entity).replace("\u00a0", " "))
        yield index + 1, text, len(part) >= longest


_pieces = st.one_of(
    st.sampled_from(
        [
            "\n",
            "\n\n",
            "\r\n",
            "\r",
            "a\rb",
            "&lt;1&gt;",
            "&amp;lt;",
            "& ;",
            "µs",
            "\u3000",
            "x\u00a0y",
            "8 2 float",
            "\\n",
        ]
    ).map(lambda text: text.encode()),
    st.binary(max_size=6),
    st.integers(0, 70).map(lambda length: b"=" * length),
)


@settings(max_examples=400, deadline=None)
@given(st.lists(_pieces, max_size=40), st.integers(1, 90))
def test_blocks_change_nothing(pieces: list[bytes], block: int) -> None:
    data = b"".join(pieces)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "_BLOCK", block)
        patch.setattr(lines, "MAX_LINE", 32)
        too_long: list[int] = []
        found = list(lines.raw_lines(io.BytesIO(data), too_long.append))
    expected = list(one_by_one(data, 32))
    assert found == [(number, text) for number, text, _ in expected]
    assert too_long == [number for number, _, is_long in expected if is_long]


def test_a_mark_of_another_byte_order_is_no_text_of_the_first_line() -> None:
    assert list(lines.raw_lines(io.BytesIO("\ufeffa\n\ufeffb".encode()), lambda _: None)) == [(1, "a"), (2, "\ufeffb")]


@pytest.mark.parametrize("beginning", lines._NO_BEGINNING)
def test_no_mark_begins_so(beginning: str) -> None:
    for rest in ("0: x", " 0: x", "[1,0]<stdout>: x", "2026-01-01 10:00:00 x", "a | 1"):
        assert lines._SRUN.match(beginning + rest) is None
        assert lines._START.match(beginning + rest) is None
        assert lines._COMPOSE.match(beginning + rest) is None
