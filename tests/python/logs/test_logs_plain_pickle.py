"""Plain values out of pickles, held against pickle.loads; everything else is refused before it is done."""

from __future__ import annotations

import contextlib
import os
import pickle
import pickletools
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringtree.logs.plain_pickle import NotPlainError, loads

NUMBERS = st.integers(-(2**100), 2**100) | st.floats(allow_nan=False)
KEYS = st.text(max_size=10) | st.integers(-1000, 1000) | st.booleans() | st.none()
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(max_size=300),
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.tuples(inner)
        | st.tuples(inner, inner, inner, inner)
        | st.dictionaries(KEYS, inner, max_size=5)
    ),
    max_leaves=20,
)


class Trap:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return os.mkdir, (str(self.path),)


@given(VALUES, st.integers(2, 5))
def test_plain_values_come_back(value: Any, protocol: int) -> None:
    assert loads(pickle.dumps(value, protocol)) == value


def test_a_value_that_occurs_twice_is_one_value() -> None:
    inner = [1]
    found = loads(pickle.dumps([inner, inner]))
    assert found[0] is found[1]


@pytest.mark.parametrize("protocol", range(6))
def test_nothing_is_called(tmp_path: Path, protocol: int) -> None:
    trap = tmp_path / "made"
    with pytest.raises(NotPlainError) as told:
        loads(pickle.dumps({"entries": [Trap(trap)]}, protocol))
    assert not trap.exists()
    assert "refused: instruction" in str(told.value)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("value", [{1, 2}, b"bytes", bytearray(b"x"), 1j, frozenset(), Path("x"), print, ...])
def test_what_is_not_plain_is_refused(value: Any) -> None:
    with pytest.raises(NotPlainError, match="refused"):
        loads(pickle.dumps(value, 4))


@given(VALUES, st.data())
def test_damage_is_refused_or_gives_plain_values(value: Any, data: st.DataObject) -> None:
    damaged = bytearray(pickle.dumps(value, 2))
    for _ in range(data.draw(st.integers(1, 3))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(NotPlainError):
        assert isinstance(loads(bytes(damaged)), (dict, list, tuple, str, int, float, bool, type(None)))


@given(st.binary(max_size=200))
def test_any_bytes(data: bytes) -> None:
    with contextlib.suppress(NotPlainError):
        loads(data)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x80\x02",
        b"\x80\x02]",
        b"\x80\x02.",
        b"\x80\x02NN.",
        b"\x80\x02(.",
        b"\x80\x02]r\xff\xff\xff\x7f.x"[:3] + b"j\x05\x00\x00\x00.",
        b"\x80\x02}(]Nu.",  # a list as a key
        b"\x80\x02}(Nu.",  # a key without a value
        b"\x80\x02Na.",
        b"\x80\x02X\xff\xff\xff\xffabc.",
        b"\x80\x02\x8b\xff\xff\xff\x7f.",
        b"\x80\x02\x8a\xffabc.",
    ],
)
def test_damaged_pickles(data: bytes) -> None:
    with pytest.raises(NotPlainError):
        loads(data)


def test_a_huge_index_of_the_memo_takes_no_memory() -> None:
    assert loads(b"\x80\x02]r\xff\xff\xff\x7f.") == []


def test_every_other_instruction_is_refused_by_its_name() -> None:
    allowed = {"PROTO", "FRAME", "MARK", "STOP", "NONE", "NEWTRUE", "NEWFALSE", "MEMOIZE", "LONG1", "BINFLOAT"}
    allowed |= {
        "BININT",
        "BININT1",
        "BININT2",
        "BINUNICODE",
        "SHORT_BINUNICODE",
        "BINUNICODE8",
        "BINPUT",
        "LONG_BINPUT",
    }
    allowed |= {"BINGET", "LONG_BINGET", "EMPTY_LIST", "EMPTY_DICT", "EMPTY_TUPLE", "APPEND", "APPENDS", "SETITEM"}
    allowed |= {"SETITEMS", "TUPLE", "TUPLE1", "TUPLE2", "TUPLE3", "LIST", "DICT"}
    for opcode in pickletools.opcodes:
        if opcode.name not in allowed:
            with pytest.raises(NotPlainError, match=f"instruction {opcode.name} at byte 0"):
                loads(opcode.code.encode("latin-1") + b"\x00" * 20)
