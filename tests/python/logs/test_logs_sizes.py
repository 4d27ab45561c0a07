"""Sizes whose K is 1000 or 1024."""

from __future__ import annotations

import pytest

from ringtree.logs import Format
from ringtree.logs.quantities import unit_of
from ringtree.logs.records import Table
from ringtree.logs.sizes import Sizes


@pytest.mark.parametrize(
    ("cell", "size"),
    [
        ("32KiB", 32768),
        ("16GiB", 16 << 30),
        ("1 MB", 1 << 20),
        ("4 KB", 4096),
        ("1M", 1 << 20),
        ("8 GB", 8 << 30),
        ("0.5MB", 1 << 19),
        ("33MB", 1 << 25),  # cut after 33.55
        ("67MB", 1 << 26),
        ("268MB", 1 << 28),
        ("262KB", 1 << 18),
        ("17MB", 1 << 24),  # rounded up from 16.8
        ("40KB", 40960),
        ("62.50KB", 64000),
        ("8B", 8),
        ("1,024", 1024),
        ("0", 0),
        ("0K", 0),
    ],
)
def test_sizes(cell: str, size: int) -> None:
    assert Sizes().bytes_of(cell) == size


@pytest.mark.parametrize("cell", ["", "-", "256M+", "< 128 KB", "1e3", "12 apples", "9" * 30, "0.0001K.", "9" * 90])
def test_what_is_no_size(cell: str) -> None:
    assert Sizes().bytes_of(cell) is None


@pytest.mark.parametrize(
    ("cells", "concluded"),
    [
        (("1MB", "33MB"), {"size_bytes": "33MB = 33554432", "size unit": "powers of 1024"}),
        (("1MiB", "16B"), {}),  # all is said
    ],
)
def test_conclusions_are_written_down(cells: tuple[str, ...], concluded: dict[str, str]) -> None:
    sizes = Sizes()
    for cell in cells:
        sizes.bytes_of(cell)
    table = Table(Format("x"), 1)
    sizes.infer(table)
    assert {one.what: one.value for one in table.inferences} == concluded


def test_the_headings_unit() -> None:
    assert Sizes(unit_of("MB")).bytes_of("16") == 16 << 20
    assert Sizes(unit_of("bytes")).bytes_of("16") == 16
