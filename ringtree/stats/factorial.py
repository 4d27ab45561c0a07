"""Factorial designs: which combinations of settings to run, and which effects these keep apart.

For: full designs of any levels, two-level fractions 2^(k-p) of the highest resolution, and the contrasts that estimate
main effects and two-factor interactions from a design's runs, with what each of them can't be told from. Not for: which
contrasts are shown to differ from nothing (family.py), names of factors (ringtree.judge).

A design is an array of shape (runs, factors) that holds levels, counted from 0; the first run has level 0 of all. A
*word* is a set of columns of a two-level design whose levels always sum to the same parity: its parts can't be told
apart, and the shortest word's length is the *resolution*. III: a main effect may be a two-factor interaction; IV: it
can't, but two of those interactions may be one another; V: neither (Box, Hunter & Hunter, Statistics for Experimenters,
2nd edition, chapter 6). Of the fractions with the highest resolution one with the fewest shortest words is taken (Fries
& Hunter 1980, Technometrics 22:601).

Effects of a two-level design have the usual scale: a main effect is the mean at level 1 minus that at level 0, an
interaction is half of the main effect of one factor at level 1 of the other minus that at its level 0. Of more levels
each is held against level 0. Interactions of three and more factors are taken to be none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

Levels = NDArray[np.int64]
Term = tuple[tuple[int, int], ...]  # (factor, level that is held against level 0): of one factor, or of two
LEAST_RESOLUTION = 3  # below it two main effects are one


@dataclass(frozen=True)
class Contrast:
    """One effect: `weights` @ (a value of each run). `aliases`: what else it may be, and with which sign."""

    term: Term
    weights: NDArray[np.float64]
    aliases: tuple[tuple[int, Term], ...] = ()

    def __post_init__(self) -> None:
        if not np.isclose(self.weights.sum(), 0.0):
            raise ValueError("the weights of a contrast sum to 0")


def full_design(num_levels: Sequence[int]) -> Levels:
    """Returns every combination of levels, the last factor's changing fastest. Raises ValueError for fewer than two."""
    if not num_levels or min(num_levels) < 2:
        raise ValueError(f"a design has factors of at least two levels, not {list(num_levels)}")
    return np.array(list(product(*map(range, num_levels))), dtype=np.int64)


def fractional_design(num_factors: int, num_halvings: int) -> Levels:
    """Returns the 2^(num_factors - num_halvings) runs of highest resolution. Raises ValueError below resolution III."""
    num_basic = num_factors - num_halvings
    if num_halvings < 1 or num_basic < 1:
        raise ValueError(f"a fraction halves at least once and leaves a factor, not 2^({num_factors}-{num_halvings})")
    basic = full_design([2] * num_basic)
    generators = [set(chosen) for size in range(2, num_basic + 1) for chosen in combinations(range(num_basic), size)]
    choices = list(combinations(generators, num_halvings))
    if not choices:
        raise ValueError(f"2^({num_factors}-{num_halvings}) runs can't keep the main effects apart")
    best = min(choices, key=lambda chosen: _word_lengths(chosen, num_basic))
    # The sum's parity, so that level 0 of all is among the runs, whatever the number of columns in a generator.
    made = [basic[:, sorted(generator)].sum(axis=1) % 2 for generator in best]
    return np.column_stack([basic, *made])


def resolution(design: Levels) -> int | None:
    """Returns the length of the shortest word of a two-level design; None: it is a full one, which has no word."""
    num_factors = design.shape[1]
    for length in range(1, num_factors + 1):
        for columns in combinations(range(num_factors), length):
            if len(set(design[:, columns].sum(axis=1) % 2)) == 1:
                return length
    return None


def contrasts(design: Levels) -> list[Contrast]:
    """Returns the main effects and then the two-factor interactions, each contrast once, under its first name.

    Raises ValueError for a design that lacks a combination of two factors' levels: it can't tell their effects.
    """
    found: list[Contrast] = []
    for term in _terms(design):
        weights = _weights(design, term)
        for place, one in enumerate(found):
            sign = next((sign for sign in (1, -1) if np.allclose(weights, sign * one.weights)), 0)
            if sign:
                found[place] = Contrast(one.term, one.weights, (*one.aliases, (sign, term)))
                break
        else:
            found.append(Contrast(term, weights))
    return found


def _word_lengths(generators: Sequence[set[int]], num_basic: int) -> tuple[int, ...]:
    """How many words there are of each length; the smaller this is, the higher is the resolution."""
    words = [generator | {num_basic + place} for place, generator in enumerate(generators)]
    lengths = [0] * (num_basic + len(generators) + 1)
    for size in range(1, len(words) + 1):
        for chosen in combinations(words, size):
            word: set[int] = set()
            for one in chosen:
                word ^= one
            lengths[len(word)] += 1
    return tuple(lengths)


def _terms(design: Levels) -> Iterator[Term]:
    num_levels = design.max(axis=0) + 1
    mains = [[(factor, level) for level in range(1, num)] for factor, num in enumerate(num_levels)]
    yield from ((one,) for of_factor in mains for one in of_factor)
    for first, second in combinations(mains, 2):
        yield from product(first, second)


def _weights(design: Levels, term: Term) -> NDArray[np.float64]:
    """A difference of means over runs for one factor, half the difference of two such differences for two."""
    weights = np.zeros(len(design))
    for levels in product(*((0, level) for _, level in term)):
        group = np.all([design[:, factor] == level for (factor, _), level in zip(term, levels, strict=True)], axis=0)
        if not group.any():
            raise ValueError("a design needs every combination of two factors' levels")
        sign = -1.0 if sum(level == 0 for level in levels) % 2 else 1.0
        weights[group] += sign / (len(term) * group.sum())
    return weights
