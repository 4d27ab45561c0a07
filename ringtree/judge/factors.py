"""What a run says of the factors of its design: main effects and interactions, with verdicts.

For: contrasts over the arms of each row of a run. Not for: which combinations run (ringtree.measure.factors), the
mathematics (ringtree.stats.factorial), sentences (factor_words.py).

A block gives one value of an effect: its contrast of the arms' log ratios to the reference, which cancels, as the
weights sum to zero. So the effects are those of the ratios that stand in the table. All effects in all rows are one
family, apart from that of the arms' verdicts: any false "faster" or "slower" among them has a probability of 1 - level
at most. An effect needs all of its arms, so a disqualified one leaves its size without effects.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ringtree.judge.cells import RunCells, effect_matrix
from ringtree.judge.comparison import FactorEffect, SizeRow
from ringtree.judge.versus import versus_record
from ringtree.results import FactorialDesign, Plan
from ringtree.stats import Contrast, contrasts, judge, resolution
from ringtree.stats.factorial import Term
from ringtree.units import count

_ROMAN = {3: "III", 4: "IV", 5: "V", 6: "VI"}


def contrasts_of(plan: Plan) -> list[Contrast]:
    """Returns the contrasts of a plan's design over its arms, in their order; none without a design."""
    if plan.design is None:
        return []
    return contrasts(_levels(plan))


def term_name(design: FactorialDesign, term: Term) -> str:
    """Returns "NCCL_ALGO Ring→Tree", "NCCL_ALGO × NCCL_PROTO"; with levels where a factor has more than two."""
    return " × ".join(_name(design, factor, level, alone=len(term) == 1) for factor, level in term)


def alias_names(design: FactorialDesign, contrast: Contrast) -> list[str]:
    """Returns the names of what a contrast may be instead, "−A × B" for one that counts the other way round."""
    return [("−" if sign < 0 else "") + term_name(design, term) for sign, term in contrast.aliases]


def design_line(plan: Plan) -> str:
    """Returns "2 factors, all combinations: 4 arms", of a fraction also its resolution and what is confounded; ""
    without a design."""
    design = plan.design
    if design is None:
        return ""
    start = f"{count(len(design.factors), 'factor')}, {{}}: {count(len(plan.arms), 'arm')}"
    length = None if design.fraction == "full" else resolution(_levels(plan))
    if length is None:
        return start.format("all combinations")
    aliased = [
        f"{term_name(design, one.term)} with {', '.join(alias_names(design, one))}"
        for one in contrasts_of(plan)
        if one.aliases
    ]
    merged = f"; confounded: {'; '.join(aliased)}" if aliased else ""
    return f"{start.format(f'{design.fraction} of all combinations (resolution {_ROMAN.get(length, length)})')}{merged}"


def effects_of(cells: RunCells, rows: Sequence[SizeRow]) -> list[FactorEffect]:
    """Returns the effects of every row that has all arms, row by row."""
    plan, found = cells.plan, contrasts_of(cells.plan)
    columns = {
        (row, place): values
        for row in rows
        for place, contrast in enumerate(found)
        if (values := _of_blocks(cells, row, contrast))
    }
    if not columns or plan.design is None:
        return []
    judged = judge(effect_matrix(list(columns.values())), margin=plan.margin, level=plan.level, seed=plan.seed)
    effects = []
    for (row, place), one in zip(columns, judged, strict=True):
        contrast = found[place]
        num_launches = len(cells.seen(row.size_bytes, plan.reference))
        effects.append(
            FactorEffect(
                size_bytes=row.size_bytes,
                placement=row.placement,
                effect=term_name(plan.design, contrast.term),
                factors=[plan.design.factors[factor].variable for factor, _ in contrast.term],
                values=[plan.design.factors[factor].values[level] for factor, level in contrast.term],
                aliases=alias_names(plan.design, contrast),
                versus_reference=versus_record(one, num_launches),
            )
        )
    return effects


def _levels(plan: Plan) -> NDArray[np.int64]:
    assert plan.design is not None
    return np.array([plan.design.levels(arm) for arm in plan.arms], dtype=np.int64)


def _of_blocks(cells: RunCells, row: SizeRow, contrast: Contrast) -> dict[int, float]:
    """Returns block -> the contrast of its log ratios; blocks that lack an arm are left out."""
    arms = [arm.label for arm, weight in zip(cells.plan.arms, contrast.weights, strict=True) if weight]
    weights = contrast.weights[contrast.weights != 0]
    of_arms = [_ratios(cells, row, arm) for arm in arms]
    complete = set.intersection(*(set(one) for one in of_arms))
    return {
        block: float(sum(weight * one[block] for weight, one in zip(weights, of_arms, strict=True)))
        for block in sorted(complete)
    }


def _ratios(cells: RunCells, row: SizeRow, arm: str) -> Mapping[int, float]:
    reference = cells.plan.reference
    if arm != reference:
        return cells.effects(row.size_bytes, arm, reference, row.placement)
    return dict.fromkeys(cells.medians(row.size_bytes, reference, row.placement), 0.0)


def _name(design: FactorialDesign, factor: int, level: int, alone: bool) -> str:
    variable, values = design.factors[factor].variable, design.factors[factor].values
    return f"{variable} {values[0]}→{values[level]}" if alone or len(values) > 2 else variable
