"""A JSON file read one part after the other, held against json.loads."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringtree.logs import json_stream
from ringtree.logs.json_stream import MalformedError, members

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


def parts(data: bytes, *arrays: str) -> list[tuple[str, Any]]:
    return list(members(io.BytesIO(data), arrays))


@given(st.dictionaries(st.text(max_size=8), VALUES, max_size=6), st.lists(VALUES, max_size=6), st.integers(1, 40))
def test_parts_are_those_of_the_whole(value: dict[str, Any], elements: list[Any], block: int) -> None:
    value = {**value, "elements": elements}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_stream, "_BLOCK", block)
        for text in (json.dumps(value), json.dumps(value, indent=3, ensure_ascii=False)):
            found = parts(text.encode("utf-8", "surrogatepass"), "elements")
            if "\ud800" <= max(text, default="") <= "\udfff":
                continue  # no UTF-8 has these
            assert [item for key, item in found if key == "elements"] == elements
            assert {key: item for key, item in found if key != "elements"} == {
                key: item for key, item in value.items() if key != "elements"
            }


def test_an_array_at_the_top() -> None:
    assert parts(b" [1, {}, [2]] ") == [("", 1), ("", {}), ("", [2])]
    assert parts(b"[]") == parts(b"{}") == []


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b'{"a"',
        b'{"a": ',
        b'{"a": 1',
        b'{"a": 1,',
        b'{"a": 1 "b": 2}',
        b"{1: 2}",
        b"[1, ",
        b"[1 2]",
        b'["abc',
        b"nothing",
        b"[" * 200_000,
        b"[" + b"9" * 6000 + b"]",
        b'{"a": [tru',
        b'["\xff',
    ],
)
def test_what_is_no_json_is_told_in_one_line(data: bytes) -> None:
    with pytest.raises(MalformedError) as told:
        parts(data)
    assert "\n" not in str(told.value)


def test_what_came_before_an_error_was_given() -> None:
    found = members(io.BytesIO(b'{"a": 1, "list": [1, 2, oops]}'), ("list",))
    assert [next(found) for _ in range(3)] == [("a", 1), ("list", 1), ("list", 2)]
    with pytest.raises(MalformedError):
        next(found)


def test_a_value_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "_MAX_VALUE", 1000)
    monkeypatch.setattr(json_stream, "_BLOCK", 100)
    assert parts(b'["' + b"x" * 500 + b'"]')
    with pytest.raises(MalformedError, match="too large"):
        parts(b'["' + b"x" * 5000 + b'"]')
