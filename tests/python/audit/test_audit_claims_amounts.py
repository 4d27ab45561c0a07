"""Amounts and formulas, as claims state them: what they mean, and what is neither.

For: ringtree.audit.claims.amounts and formulas. Not for: the form of claims (test_audit_claims_form.py), or verdicts
(test_audit_claims.py).
"""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ringtree.audit.claims.amounts import amount
from ringtree.audit.claims.formulas import formula


@pytest.mark.parametrize(
    ("text", "unit", "low", "high"),
    [
        ("482 GB/s", "rate", 482e9, 482e9),
        ("400 Gb/s", "rate", 50e9, 50e9),
        ("64 MiB", "size", 64 * 2**20, 64 * 2**20),
        ("1.21 ms", "time", 1.21e-3, 1.21e-3),
        ("25-50%", "percent", 0.25, 0.5),
        ("~ 4.9x", "factor", 4.9, 4.9),
        ("2.6 times", "factor", 2.6, 2.6),
        ("at least 1,234.5 GB/s", "rate", 1234.5e9, 1234.5e9),
        ("30", "", 30, 30),
    ],
)
def test_amounts(text: str, unit: str, low: float, high: float) -> None:
    found = amount(text)
    assert (found.unit, found.low, found.high) == (unit, pytest.approx(low), pytest.approx(high))


@pytest.mark.parametrize(
    "text", ["", "fast", "482 GB/s busbw", "0 ms", "0 GB/s", "1e999 s", "-", "5 apples", "9" * 200]
)
def test_what_is_no_amount(text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(repr(text))):
        amount(text)


@pytest.mark.parametrize(
    ("text", "value", "agrees"),
    [
        ("83%", 0.8357, True),  # cut off
        ("84%", 0.8357, True),  # rounded
        ("85%", 0.8357, False),
        ("82%", 0.8357, False),
        ("~40%", 0.394, True),
        ("25-50%", 0.4, True),
        ("3x", 2.2, False),
        ("at most 50 GB/s", 32e9, True),
        ("at most 50 GB/s", 60e9, False),
        (">= 50 GB/s", 60e9, True),
    ],
)
def test_a_stated_number_agrees_with_what_it_can_be_cut_or_rounded_from(text: str, value: float, agrees: bool) -> None:
    assert amount(text).agrees(value) is agrees


def test_a_size_may_be_in_powers_of_1000() -> None:
    assert amount("64 MB").sizes == (64 * 2**20, pytest.approx(64e6))
    assert amount("64 MiB").sizes == (64 * 2**20,)
    assert amount("8").sizes == (8,)


@pytest.mark.parametrize(
    ("text", "names", "value"),
    [
        ("2(N-1)/N x S/B", {"ranks": 8, "size": 1, "rate": 1}, 1.75),
        ("(N-1)/N × size / link bandwidth", {"ranks": 4, "size": 8, "rate": 2}, 3.0),
        ("2 * ceil(log2 N)", {"ranks": 9}, 8.0),
        ("2⌊log₂ n⌋", {"ranks": 9}, 6.0),
        ("2k−1", {"ranks": 5}, 9.0),
        ("alpha + S/B", {"latency": 1, "size": 6, "rate": 3}, 3.0),
        ("2^3 N", {"ranks": 2}, 16.0),
        ("-N + max(N, 2)", {"ranks": 2}, 0.0),
        ("30", {}, 30.0),
        ("N/0", {"ranks": 3}, math.nan),
        ("log2(N-3)", {"ranks": 3}, math.nan),
        ("N^99", {"ranks": 3}, math.nan),
        ("((9^64)^64)^64 N", {"ranks": 3}, math.nan),
        ("(ceil(99 N)^64)^64", {"ranks": 3}, math.nan),
    ],
)
def test_formulas(text: str, names: dict[str, float], value: float) -> None:
    assert formula(text).value(**names) == pytest.approx(value, nan_ok=True)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "import os",
        "N-",
        "(N",
        "N N 2 3",
        "2 3",
        "__class__",
        "(" * 99 + "N" + ")" * 99,
        "N()",
        "log2",
        "N.x",
        "1,2",
        "[N]",
    ],
)
def test_what_is_no_formula(text: str) -> None:
    with pytest.raises(ValueError, match="invalid formula"):
        formula(text)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.text(alphabet="Nk2S/B+-x^()⌈⌉, log2α0.", max_size=40))
def test_no_text_raises_anything_else(text: str) -> None:
    for parse in (formula, amount):
        try:
            parse(text)
        except ValueError:
            continue
