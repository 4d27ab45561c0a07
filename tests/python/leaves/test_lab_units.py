"""Quantities as people write them: what is understood, and that everything else is one clear line.

For: ringtree.units. Not for: which quantities a command takes (test_cli.py).
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringtree import units
from ringtree.errors import UsageError


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("8", 8),
        ("1K", 1024),
        ("1k", 1024),
        ("64M", 1 << 26),
        ("4 KB", 4096),
        ("1.5KiB", 1536),
        ("2G", 2 << 30),
        ("0", 0),
    ],
)
def test_sizes(text: str, size: int) -> None:
    assert units.parse_size(text) == size


@pytest.mark.parametrize("text", ["", "K", "-1", "1X", "1.3", "0.1K", "1e3", "9999T", "1K2", "٣"])
def test_bad_sizes(text: str) -> None:
    with pytest.raises(UsageError) as error:
        units.parse_size(text)
    assert "\n" not in str(error.value)


def test_ranges_go_by_four_and_always_end_at_their_end() -> None:
    assert units.parse_sizes("1K:64K") == [1024, 4096, 16384, 65536]
    assert units.parse_sizes("1K:100K") == [1024, 4096, 16384, 65536, 102400]
    assert units.parse_sizes("8:64:2,1K,16") == [8, 16, 32, 64, 1024]
    assert units.parse_sizes("8:8") == [8]
    assert units.parse_sizes("1:3:1.1") == [1, 2, 3]


@pytest.mark.parametrize(
    "text", ["64M:1K", "1K:", "1:2:3:4", "1K:2K:1", "1K:2K:x", "0:4", "1,,2", "1:64M:1.001", "a:b"]
)
def test_bad_ranges(text: str) -> None:
    with pytest.raises(UsageError):
        units.parse_sizes(text)


@pytest.mark.parametrize(
    ("text", "seconds"), [("1ms", 1e-3), ("50us", 5e-5), ("50 µs", 5e-5), ("2s", 2.0), ("1e2ns", 1e-7)]
)
def test_durations(text: str, seconds: float) -> None:
    assert units.parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "1", "ms", "-1ms", "1 h", "1msec"])
def test_bad_durations(text: str) -> None:
    with pytest.raises(UsageError, match="invalid duration"):
        units.parse_duration(text)


@pytest.mark.parametrize(
    ("text", "rate"), [("200MB/s", 2e8), ("1.5 GB/s", 1.5e9), ("10Gbit/s", 1.25e9), ("1MiB/s", 1 << 20), ("5B/s", 5.0)]
)
def test_rates(text: str, rate: float) -> None:
    assert units.parse_rate(text) == rate


@pytest.mark.parametrize("text", ["", "200", "200MB", "0MB/s", "-1MB/s", "fast", "1XB/s"])
def test_bad_rates(text: str) -> None:
    with pytest.raises(UsageError, match="invalid bandwidth"):
        units.parse_rate(text)


def test_clusters_and_counts() -> None:
    assert units.parse_cluster("2x8") == (2, 8)
    assert units.parse_counts("4", "ranks") == [4]
    assert units.parse_counts("1-3,8,2", "ranks") == [1, 2, 3, 8]
    for text in ("2", "0x8", "2x", "x", "-1x2"):
        with pytest.raises(UsageError, match="invalid cluster"):
            units.parse_cluster(text)
    for text in ("", "0", "4-1", "a", "1-", "1,,2"):
        with pytest.raises(UsageError, match="invalid number of ranks"):
            units.parse_counts(text, "ranks")


@given(st.integers(min_value=0, max_value=999), st.sampled_from(["B", "KB", "MB", "GB"]))
def test_a_size_that_is_printed_reads_back(count: int, unit: str) -> None:
    size = units.parse_size(f"{count} {unit}")
    assert units.parse_size(units.format_size(size)) == size


def test_formats() -> None:
    assert units.format_time(0.0000123) == "12.3 µs"
    assert units.format_time(0.9999999) == "1.00 s"
    assert units.format_time(5e-9) == "5.00 ns"
    assert units.format_time_range(0.0009, 0.0011) == "0.90–1.10 ms"
    assert units.format_rate(2.5e9) == "2.50 GB/s"
    assert units.format_rate(5e6) == "5.00 MB/s"
    assert units.format_size(1536) == "1.5 KB"
    assert [units.count(n, "launch") for n in (0, 1, 2)] == ["0 launches", "1 launch", "2 launches"]
    assert [units.count(n, "rank") for n in (1, 2)] == ["1 rank", "2 ranks"]


def test_factors_changes_and_shares() -> None:
    assert units.format_factor_range(1.31, 1.52) == "1.31–1.52"
    assert units.format_factor_range(1.311, 1.312) == "1.31"
    assert units.format_factor_range(1.9, 12.3) == "1.90–12"
    changes = (1.0, 1.0004, 0.9996, 1.031, 0.8, 1.5, 1.995, 2.0, 5.0)
    assert [units.format_change(ratio) for ratio in changes] == [
        "0.0%",
        "0.0%",
        "0.0%",
        "+3.1%",
        "-20%",
        "+50%",
        "+100%",
        "2.0×",
        "5.0×",
    ]
    spans = ((0.95, 1.05), (1.057, 2.04), (2.1, 3.04), (0.1, 2.5))
    assert [units.format_change_range(*span) for span in spans] == [
        "-5.0% to +5.0%",
        "+5.7% to +104%",
        "2.1× to 3.0×",
        "-90% to +150%",
    ]
    assert [units.format_share(share) for share in (1.0, 0.12, 0.099, 0.0005)] == ["100%", "12%", "9.9%", "0.05%"]
    assert [units.format_margin(margin) for margin in (0.02, 0.005, 0.1)] == ["2 %", "0.5 %", "10 %"]


def test_sizes_that_were_estimated() -> None:
    assert units.format_size_range(1.2 * (1 << 20), 2.34 * (1 << 20)) == "1.2–2.3 MB"
    assert units.format_size_range(512 << 10, 2 << 20) == "0.5–2.0 MB"
    assert units.format_size_range(100 << 10, 200 << 10) == "100–200 KB"
    assert units.format_size_range(2e6, 2e6) == "1.9 MB"
    assert units.format_size_range(10.2, 12.0) == "10.2–12.0 B"
