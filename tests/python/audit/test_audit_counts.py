"""Sizes, counts and types: which quotients a table may have. For: counts.py beyond one row that differs."""

from __future__ import annotations

import pytest
from audit_support import codes, make_table

from ringtree.logs import Table
from ringtree.logs.tables.csv_file import FORMAT as CSV


def typed(table: Table, dtype: str) -> Table:
    """Returns a table of floats whose type column says another one."""
    table.rows = [row._replace(dtype=dtype) for row in table.rows]
    return table


@pytest.mark.parametrize(
    ("collective", "num_ranks", "dtype", "disagrees"),
    [
        ("all_reduce", 8, "float", False),
        ("all_reduce", 8, "half", True),  # size = 2 × count × 2 bytes
        ("all_reduce", 2, "half", True),  # 2 is the number of ranks, but nothing is in blocks
        ("broadcast", 4, "half", True),
        ("all_reduce", 8, "double", True),  # half a block
        ("all_gather", 8, "float", False),
        ("all_gather", 8, "half", True),  # 16 blocks of 8 ranks
        ("all_to_all", 8, "int8", True),
        ("gather", 8, "float", False),
    ],
)
def test_a_type_that_was_not_used(collective: str, num_ranks: int, dtype: str, disagrees: bool) -> None:
    found = codes(typed(make_table(collective, num_ranks), dtype))
    assert ("counts-disagree" in found) is disagrees


def test_a_communicator_of_some_ranks_has_its_own_blocks() -> None:
    """Ranks that are split into groups of 4: a size is 4 blocks, and the rank lines say 8."""
    table = make_table("all_gather", 4)
    table.num_ranks = 8
    assert "counts-disagree" not in codes(table)


def test_counts_of_other_programs_are_not_judged() -> None:
    table = typed(make_table("all_reduce", 8), "half")
    table.format = CSV
    assert "counts-disagree" not in codes(table)
