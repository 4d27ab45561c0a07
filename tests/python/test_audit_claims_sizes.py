"""Which rows "below 64 KB", "from 64 KB to 1 MB", "at 64 KB and above" mean, and what follows for the verdict.

For: ranges of sizes in sentences of ringtree.audit.claims. Not for: the forms otherwise (test_audit_claims.py).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from ringtree.audit.claims import Judgement, Verdict, judge
from ringtree.audit.claims.claim import Claim
from ringtree.audit.claims.grid import read_grid
from ringtree.audit.claims.lookup import rows_for

HOLDS, FALLS, OPEN = Verdict.HOLDS, Verdict.FALLS, Verdict.OPEN
K, M = 1 << 10, 1 << 20
# Tree is ahead at 1 KB, 4 KB and 1 MB, Ring at 64 KB. In `FAR` by more than a factor of two, which is beyond noise.
NEAR = "size,ring_us,tree_us\n1024,20,15\n4096,22,16\n65536,30,50\n1048576,200,120\n"
FAR = "size,ring_us,tree_us\n1024,40,15\n4096,44,16\n65536,20,50\n1048576,300,120\n"
RATES = "size,ring_GBps\n64 KB,10\n1 MB,100\n16 MB,200\n"


def _judged(sentence: str, table: str, folder: Path) -> Judgement:
    (folder / "t.csv").write_text(table)
    return judge(sentence, folder / "t.csv")


@pytest.mark.parametrize(
    ("words", "sizes"),
    [
        ("below 64 KB", [K, 4 * K]),
        ("under 64 KB", [K, 4 * K]),
        ("at less than 64 KB", [K, 4 * K]),
        ("for messages smaller than 64 KB", [K, 4 * K]),
        ("< 64 KB", [K, 4 * K]),
        ("below 60 KB", [K, 4 * K]),
        ("up to 64 KB", [K, 4 * K, 64 * K]),
        ("at most 64 KB", [K, 4 * K, 64 * K]),
        ("at no more than 64 KB", [K, 4 * K, 64 * K]),
        ("at 64 KB and below", [K, 4 * K, 64 * K]),
        ("at 64 KB or less", [K, 4 * K, 64 * K]),
        ("above 4 KB", [64 * K, M]),
        ("over 4 KB", [64 * K, M]),
        ("at more than 4 KB", [64 * K, M]),
        ("beyond 4 KB", [64 * K, M]),
        ("from 4 KB", [4 * K, 64 * K, M]),
        ("at least 4 KB", [4 * K, 64 * K, M]),
        ("at not less than 4 KB", [4 * K, 64 * K, M]),
        ("at 4 KB and above", [4 * K, 64 * K, M]),
        ("at 4 KB or more", [4 * K, 64 * K, M]),
        ("from 4 KB upwards", [4 * K, 64 * K, M]),
        ("from 4 KB to 64 KB", [4 * K, 64 * K]),
        ("from 4 to 64 KB", [4 * K, 64 * K]),
        ("between 4 KB and 64 KB", [4 * K, 64 * K]),
        ("between 4 and 64 KB", [4 * K, 64 * K]),
        ("from 64 KB to 4 KB", [4 * K, 64 * K]),
        ("above 1 KB and below 64 KB", [4 * K]),
        ("below 1 MB and above 1 KB", [4 * K, 64 * K]),
        ("above 1 KB up to 64 KB", [4 * K, 64 * K]),
        ("for sizes less than or equal to 64 KB", [K, 4 * K, 64 * K]),
        ("for sizes greater than or equal to 4 KB", [4 * K, 64 * K, M]),
        ("at 64 KB", [64 * K]),
        ("at 4 KB and 64 KB", [4 * K, 64 * K]),
        ("", [K, 4 * K, 64 * K, M]),
    ],
)
def test_rows_of_a_range(words: str, sizes: list[int], tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(NEAR)
    grid = read_grid(tmp_path / "t.csv")
    assert grid is not None
    found = rows_for(Claim(f"Tree is faster than ring {words}".strip(), "t.csv", grid))
    assert [grid.sizes(row)[0] for row in found.rows] == sizes
    assert found.unclear == ""


@pytest.mark.parametrize(
    "sentence",
    [
        "Tree is faster than ring below 4 KB and above 64 KB",
        "Tree is faster than ring below 64 KB, ring above",
        "Tree is faster below 4 KB and ring is faster above 4 KB",
        "Ring at 4 KB is faster than tree at 64 KB",
        "Tree is faster than ring below 512 bytes",
        "Tree is faster than ring above 1 GB",
        "Tree is faster than ring at 2 MB",
        "Tree is faster than ring except at 64 KB",
        "Tree is faster than ring outside 4 KB to 64 KB",
        "Tree is faster than ring at sizes other than 64 KB",
        "Tree is faster than ring at 4 KB and 2 MB",
    ],
)
def test_what_no_range_can_be_read_from_is_not_judged(sentence: str, tmp_path: Path) -> None:
    found = _judged(sentence, FAR, tmp_path)
    assert found.verdict is OPEN, found
    assert "which rows of the table are meant can't be told" in found.reason.lower()
    assert found.settles


def test_a_row_between_the_two_meanings_of_a_bound_is_not_judged(tmp_path: Path) -> None:
    """1.04e9 bytes lie above 1 GB of 10^9 and below 1 GB of 2^30."""
    found = _judged("Tree is faster than ring below 1 GB", "size,ring_us,tree_us\n1040000000,40,10\n", tmp_path)
    assert found.verdict is OPEN
    assert "powers of 1024" in found.reason


@pytest.mark.parametrize(
    ("sentence", "verdict", "shows"),
    [
        ("Tree is faster than ring below 64 KB", HOLDS, "2 of 2"),
        ("Ring is faster than tree below 64 KB", FALLS, "2 of 2"),
        ("Ring is always faster than tree above 64 KB", FALLS, "300 against 120"),
        ("Tree is faster than ring above 64 KB", HOLDS, "1 of 1"),
        ("Ring is faster than tree at 64 KB", HOLDS, "20 against 50"),
        ("Tree is faster than ring up to 64 KB", FALLS, "50 against 20"),
        ("Ring is faster than tree from 64 KB to 1 MB", FALLS, "300 against 120"),
        ("Ring is faster than tree at 64 KB and above", FALLS, "1 of 2"),
        ("For messages of 64 KB and larger tree is faster than ring", FALLS, "1 of 2"),
        ("Tree is faster than ring for messages smaller than 2 MB", FALLS, "1 of 4"),
        ("Tree is 25% faster than ring below 64 KB", OPEN, "2 rows lie at the sizes"),
        ("The crossover between ring and tree lies below 64 KB", OPEN, "4 KB and 64 KB"),
        ("The crossover between ring and tree lies above 2 MB", FALLS, "64 KB and 1 MB"),
        ("The crossover between ring and tree lies below 2 KB", FALLS, "4 KB and 64 KB"),
    ],
)
def test_verdicts_about_ranges(sentence: str, verdict: Verdict, shows: str, tmp_path: Path) -> None:
    found = _judged(sentence, FAR, tmp_path)
    assert found.verdict is verdict, found
    assert shows in f"{found.reason} {found.arithmetic}", found


def test_differences_within_noise_stay_open_in_a_range_too(tmp_path: Path) -> None:
    found = _judged("Tree is faster than ring below 64 KB", NEAR, tmp_path)
    assert found.verdict is OPEN
    assert "ahead in 2 of 2" in found.arithmetic


@pytest.mark.parametrize(
    ("sentence", "verdict"),
    [
        ("Ring stays below 250 GB/s above 64 KB", HOLDS),
        ("Ring reaches more than 150 GB/s above 64 KB", OPEN),  # at 16 MB, not at 1 MB
        ("Ring reaches 300 GB/s above 1 MB", FALLS),
        ("Ring reaches 200 GB/s above 1 MB", HOLDS),
        ("Ring reaches 200 GB/s above 16 MB", OPEN),
    ],
)
def test_rates_in_a_range(sentence: str, verdict: Verdict, tmp_path: Path) -> None:
    found = _judged(sentence, RATES, tmp_path)
    assert found.verdict is verdict, found
