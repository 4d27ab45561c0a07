"""Tables with one thing changed: what arithmetic can see is found, and clean ones are not accused.

For: a sample of what `support/mutated_tables.py` makes; the bar is 95 % of 2,000 and none of 300. Not for: single rules
(test_audit_rules.py).
"""

from __future__ import annotations

from random import Random

import mutated_tables
import pytest

SHARE = 0.95
MUTANTS, CLEAN = 300, 60


@pytest.fixture(scope="module")
def tried() -> list[mutated_tables.Tried]:
    return list(mutated_tables.mutants(MUTANTS))


def test_changes_that_arithmetic_can_see_are_found(tried: list[mutated_tables.Tried]) -> None:
    seen = [one for one in tried if one.seen]
    missed = [f"{one.sheet.layout}, {one.kind}: {one.what}" for one in seen if not one.found]
    assert len(seen) > MUTANTS / 2
    assert {one.kind for one in seen} == set(mutated_tables.CHANGES)
    assert {one.sheet.layout for one in seen} == set(mutated_tables.LAYOUTS)
    assert len(missed) <= (1 - SHARE) * len(seen), missed


def test_clean_tables_are_not_accused() -> None:
    assert mutated_tables.accused(CLEAN) == []


@pytest.mark.parametrize("layout", mutated_tables.LAYOUTS)
def test_clean_tables_are_read_as_a_whole(layout: str) -> None:
    sheet = mutated_tables.clean(Random(1), layout)
    report = mutated_tables.audited(mutated_tables.as_text(sheet))
    sides = 1 if layout in ("log", "csv", "markdown") else 2
    assert (report.num_rows, report.num_rows_left_out) == (len(sheet.sizes) * sides, 0)


@pytest.mark.parametrize(
    ("time", "algbw", "busbw", "seen"),
    [
        ("100.00", "10.49", "18.35", False),
        ("100.00", "10.50", "18.35", False),  # a trailing zero of a table that somebody typed says nothing
        ("100.00", "10.53", "18.35", True),
        ("100.00", "10.49", "18.39", True),
        ("100.00", "10.49", "10.49", True),
    ],
)
def test_the_oracle(time: str, algbw: str, busbw: str, seen: bool) -> None:
    """1 MiB in 100 µs are 10.48576 GB/s, times 1.75 18.35008."""
    columns = [
        mutated_tables.Column("", means, unit, [text])
        for means, unit, text in (("time", "us", time), ("algbw", "GB/s", algbw), ("busbw", "GB/s", busbw))
    ]
    sheet = mutated_tables.Sheet("csv", "all_reduce", 8, [1 << 20], columns)
    assert mutated_tables.can_be_seen(sheet) is seen
