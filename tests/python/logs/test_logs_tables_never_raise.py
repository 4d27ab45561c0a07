"""Whatever stands in a file, reading it raises nothing."""

from __future__ import annotations

import io
from pathlib import Path
from random import Random

import pytest
from fuzz_logs.mutate import make
from hypothesis import given, settings
from hypothesis import strategies as st
from logs_support import shared_data
from logs_tables_support import ours

from ringtree.logs import read_stream

SEEDS = [path.read_bytes() for path in sorted((Path(__file__).resolve().parents[2] / "fuzz" / "logs").iterdir())]


def read(data: bytes) -> None:
    imported = read_stream(io.BytesIO(data), "1x8-fuzz_bw.csv")
    for table in ours(imported):
        assert table.rows
        for row in table.rows:
            for side in row.sides:
                for printed in (side.time, side.algbw, side.busbw, side.wrong, *(one for _, one in side.others)):
                    if printed is not None:
                        _ = printed.value, printed.resolution


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.binary(max_size=2000))
def test_bytes(data: bytes) -> None:
    read(data)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.sampled_from(SEEDS), st.lists(st.tuples(st.integers(0, 400), st.binary(max_size=12)), max_size=6))
def test_seeds_with_other_bytes_in_them(seed: bytes, changes: list[tuple[int, bytes]]) -> None:
    data = bytearray(seed)
    for at, piece in changes:
        data[at : at + len(piece)] = piece
    read(bytes(data))


@pytest.mark.parametrize("first", range(0, 4000, 1000))
def test_mutated_seeds(first: int) -> None:
    for number in range(first, first + 1000):
        read(make(Random(f"tables/{number}"), SEEDS))


def test_mutated_collected_logs() -> None:
    files = [
        path.read_bytes() for path in sorted((shared_data() / "logs").glob("*.txt")) if path.stat().st_size < 30_000
    ]
    for number in range(1500):
        read(make(Random(f"collected/{number}"), files))


@pytest.mark.parametrize(
    "number", [b"9" * 5000, b"1e999", b"-" * 3000, b"|" * 3000, b"[" * 20_000, b"0." + b"0" * 4000]
)
def test_numbers_and_lines_without_measure(number: bytes) -> None:
    for seed in SEEDS:
        for old in (b"1024", b"2000", b"1.5", b"128", b"256", b"12.5", b"100", b"8"):
            read(seed.replace(old, number))
