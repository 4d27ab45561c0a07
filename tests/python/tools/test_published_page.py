"""docs/published-results.md is what tools/published writes, and the numbers that it rests on are the published ones.

For: the page and docs/published. Not for: verdicts on claims (test_audit_claims_published.py).
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from logs_support import shared_data
from published import figures
from published.sheet import Sheet

from ringtree.audit.claims import read_claims
from ringtree.audit.claims.grid import read_grid

ROOT = Path(__file__).parents[3]
OURS = ROOT / "docs" / "published"


def test_the_page_is_current() -> None:
    checked = subprocess.run(
        [sys.executable, "-m", "published", "--check"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "tools"), str(ROOT)])},
    )
    assert (checked.returncode, checked.stderr) == (0, "")


# File, and which of its columns (by place) are which of ours; cells in between are words of the authors.
FILES = [
    ("h100x16-ring-vs-nccl.csv", "h100x16-ring-vs-nccl.csv", [(i, i) for i in range(6)]),
    ("h100x16-nccl-tests-summary.csv", "h100x16-nccl-tests-summary.csv", [(1, 1), (2, 2), (3, 3)]),
    ("finetune-h100-1to8nodes.csv", "finetune-h100-1to8nodes.csv", [(i, i) for i in range(7)]),
    ("h100-tcpx-default-vs-nvlstree.csv", "h100-tcpx-default-vs-nvlstree.csv", [(i, i) for i in range(7)]),
    ("a100x8-ring-vs-tree.csv", "a100x8-ring-vs-tree.csv", [(i, i) for i in range(4)]),
    ("pcie-typical.csv", "pcie-typical.csv", [(i, i) for i in range(3)]),
    ("protocols.csv", "protocols.csv", [(0, 0), (4, 2), (5, 3), (6, 4), (7, 5), (8, 6)]),
    ("selection.csv", "selection.csv", [(0, 0), (2, 1), (3, 2)]),
    ("h100x4-nccl-tests.txt", "h100x4-nccl-tests.csv", [(0, 0), *((i + 1, i) for i in range(1, 7))]),
    ("h100x4-all-reduce-bench.md", "h100x4-pytorch-bench.csv", [(0, 0), (1, 1), (2, 2)]),
]


@pytest.mark.parametrize(("published", "shipped", "columns"), FILES, ids=[one[1] for one in FILES])
def test_shipped_numbers_are_the_published_ones(published: str, shipped: str, columns: list[tuple[int, int]]) -> None:
    theirs, ours = read_grid(shared_data() / "published" / published), read_grid(OURS / shipped)
    assert theirs is not None
    assert ours is not None
    assert len(theirs.rows) == len(ours.rows)
    for row, own in zip(theirs.rows, ours.rows, strict=True):
        assert [_bare(row[their]) for their, _ in columns] == [_bare(own[our]) for _, our in columns]


def test_every_shipped_table_is_compared() -> None:
    assert {one[1] for one in FILES} == {path.name for path in OURS.glob("*.csv")}


def test_every_table_that_a_sentence_names_is_there() -> None:
    claims = read_claims(OURS / "claims.toml")
    named = {claim.table for claim in claims.claims} | set(claims.tables)
    assert len(named) > 7
    assert [name for name in named if not (OURS / name).is_file()] == []


def test_what_the_figures_say_in_words_is_so() -> None:
    """The words stand for the figures to whoever can't see them."""
    assert figures.crossover(8) < figures.crossover(64)
    for num_ranks in figures.RANKS:
        at = figures.crossover(num_ranks)
        below, above = (
            [figures.model_time(name, num_ranks, size) for name in ("ring", "double_tree")] for size in (at / 2, at * 2)
        )
        assert below[0] > below[1]
        assert above[0] < above[1]
    for name in ("default", "nvlstree"):
        derived: dict[str, dict[str, float]] = {"2": {}, "8": {}}
        for line in Sheet(OURS, figures.TCPX):
            if (rate := line.busbw(f"{name}_ms")) is not None:
                derived[line["nodes"]][line["size"]] = rate
        assert max(max(rates.values()) for rates in derived.values()) < 100e9
        both = derived["2"].keys() & derived["8"].keys()
        assert len(both) > 5
        assert all(derived["8"][size] < derived["2"][size] for size in both)


def test_figures_are_the_same_again(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    for drawing in figures.DRAWINGS:
        once = figures.draw(drawing, OURS, tmp_path).read_bytes()
        assert figures.draw(drawing, OURS, tmp_path).read_bytes() == once


def _bare(cell: str) -> str:
    """The digits as printed, and units of sizes; units of times and rates stand in our headings."""
    return re.sub(r"\s+|ms$|µs$|GB/s$|GBps$|x$", "", cell)
