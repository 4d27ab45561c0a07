"""Numbers with units, as people write them."""

from __future__ import annotations

import pytest

from ringtree.logs.quantities import PERCENT, RATE, SIZE, TIME, quantity, unit_of, whole_number


@pytest.mark.parametrize(
    ("word", "kind", "scale"),
    [
        ("us", TIME, 1e-6),
        ("µs", TIME, 1e-6),
        ("ms", TIME, 1e-3),
        ("s", TIME, 1.0),
        ("GBps", RATE, 1e9),
        ("GB/s", RATE, 1e9),
        ("GiB/s", RATE, float(1 << 30)),
        ("Gbps", RATE, 1e9 / 8),
        ("Gb/s", RATE, 1e9 / 8),
        ("Mbytes/sec", RATE, 1e6),
        ("KiB", SIZE, 1024.0),
        ("%", PERCENT, 0.01),
    ],
)
def test_units(word: str, kind: str, scale: float) -> None:
    unit = unit_of(word)
    assert unit is not None
    assert (unit.kind, unit.scale) == (kind, scale)


@pytest.mark.parametrize("word", ["", "nodes", "gpu", "GB/h", "B/s/s", "xs", "per"])
def test_no_units(word: str) -> None:
    assert unit_of(word) is None


def test_a_number_keeps_its_digits() -> None:
    for cell, text in [
        ("1.440GBps", "1.440"),
        ("0.82 GB/s", "0.82"),
        ("**+27.2%**", "+27.2"),
        ("1,234.50 us", "1234.50"),
    ]:
        found = quantity(cell)
        assert found is not None
        assert found.text == text


def test_a_spread() -> None:
    found = quantity("98.96±45.08")
    assert found is not None
    assert (found.text, found.spread, found.unit) == ("98.96", "45.08", None)


@pytest.mark.parametrize(
    "cell",
    [
        "",
        "-",
        "---",
        "n/a",
        "< 128 KB",
        "~95 %",
        "8 nodes",
        "2x2",
        "1.2.3",
        "nan",
        "inf",
        "1e999",
        "١٢",
        "9" * 99 + "x",
    ],
)
def test_what_is_no_number(cell: str) -> None:
    assert quantity(cell) is None


def test_whole_numbers() -> None:
    assert whole_number(" 1,024 ") == 1024
    assert whole_number("9" * 19) is None
    assert whole_number("1.0") is None
