"""Holm's adjustment: against its definition by rejection, one hypothesis after the other, and by hand."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from ringtree.stats import holm


def rejected(p: Sequence[float], level: float) -> set[int]:
    """As the paper has it: the smallest is held against level / n, the next one against level / (n - 1), ..."""
    found: set[int] = set()
    for place, index in enumerate(sorted(range(len(p)), key=lambda one: p[one])):
        if p[index] > level / (len(p) - place):
            break
        found.add(index)
    return found


def test_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03]).tolist() == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.9]).tolist() == [1.0, 1.0]
    assert holm([0.2]).tolist() == [0.2]
    assert holm([]).tolist() == []


def test_as_hypotheses_are_rejected_one_by_one() -> None:
    for seed in range(200):
        draw = random.Random(seed)
        p = [draw.choice([1, 0.1]) * draw.random() for _ in range(draw.randint(1, 8))]
        level = draw.choice([0.025, 0.05, 0.3])
        assert {i for i, one in enumerate(holm(p)) if one <= level} == rejected(p, level), seed
