"""Numbers with units, as people write them."""

from __future__ import annotations

import pytest

from ringtree.logs.quantities import ITEMS, PERCENT, RATE, SIZE, TIME, quantities, quantity, unit_of, whole_number


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


@pytest.mark.parametrize("cell", ["98.96±45.08", "98.96 +/- 45.08", "98.96 us ± 45.08 us", "98.96±45.08 us"])
def test_a_spread(cell: str) -> None:
    found = quantity(cell)
    assert found is not None
    assert (found.text, found.spread, found.unit is not None) == ("98.96", "45.08", "us" in cell)


@pytest.mark.parametrize("mark", ["~", "≈ ", "about ", "ca. "])
def test_approximately(mark: str) -> None:
    found = quantity(f"{mark}9 GB/s")
    assert found is not None
    assert (found.text, found.about) == ("9", True)


@pytest.mark.parametrize(
    "cell", ["1 ms (18 GB/s)", "1 ms / 18 GB/s", "1 ms, 18 GB/s", "1 ms<br>18 GB/s", "1 ms @ 18 GB/s"]
)
def test_several_in_a_cell(cell: str) -> None:
    assert [(one.text, one.unit.kind if one.unit else "") for one in quantities(cell)] == [("1", TIME), ("18", RATE)]


@pytest.mark.parametrize("cell", ["1 ms (best)", "1 ms (18 GB/s) on 8", "1,2,3 ms", "1 / 2 / 3 / 4 / 5", "-"])
def test_words_between_numbers(cell: str) -> None:
    assert quantities(cell) == ()


@pytest.mark.parametrize(("word", "scale"), [("tokens/s", 1.0), ("k tok/s", 1e3), ("samples/sec/GPU", 1.0)])
def test_items_of_a_training(word: str, scale: float) -> None:
    assert unit_of(word) == (ITEMS, scale, word)
    assert unit_of("tokens") is None


@pytest.mark.parametrize(
    "cell",
    [
        "",
        "-",
        "---",
        "n/a",
        "< 128 KB",
        "< ~95 %",
        "6.99 ms (18 GB/s)",
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
