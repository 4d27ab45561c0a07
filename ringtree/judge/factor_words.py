"""What a run says of the factors of its design, in plain words.

For: a line an effect, and for interactions that were shown a line on what they mean. Not for: the effects (factors.py),
arms (words.py).
"""

from __future__ import annotations

from collections.abc import Sequence

from ringtree.judge.comparison import Comparison, FactorEffect
from ringtree.judge.phrases import at_sizes, grouped, on_placement, placements_of, size_span, told_of
from ringtree.units import format_change


def effect_lines(comparison: Comparison) -> list[str]:
    """Returns a line for each effect of the factors of a design, and one for each interaction that was shown, with what
    it means for its first factor; none without a design."""
    lines = []
    for effect in dict.fromkeys(one.effect for one in comparison.effects):
        same = [one for one in comparison.effects if one.effect == effect]
        placed = [[one for one in same if one.placement == place] for place in placements_of(comparison)]
        maybe = f" (could equally be {' or '.join(same[0].aliases)})" if same[0].aliases else ""
        told = told_of(comparison, [grouped(one, comparison) for one in placed], "")
        what = f"interaction {effect}" if len(same[0].factors) > 1 else effect
        lines += [f"{what}: {said}{maybe}" for _, said in told]
        lines += [line for one in placed if not maybe for line in _depending(comparison, one)]
    missing = [size for size in comparison.sizes if size not in {one.size_bytes for one in comparison.effects}]
    if comparison.design is not None and missing:
        where = " under one placement" if len(comparison.placements) > 1 else ""
        lines.append(f"no effects {at_sizes(missing)}: no block has correct times of every arm of the design{where}")
    return lines


def _depending(comparison: Comparison, same: Sequence[FactorEffect]) -> list[str]:
    """What a factor does with either value of another one, at the sizes where they were shown to interact."""
    factors = {} if comparison.design is None else {one.variable: one for one in comparison.design.factors}
    told, start = [], ""
    for one in same:
        mine, *others = (factors[name] for name in one.factors)
        two_valued = all(len(factor.values) == 2 for factor in (mine, *others))
        if not others or not two_valued or one.versus_reference.verdict not in ("faster", "slower"):
            continue
        alone = next(each for each in comparison.effects if each.factors == [mine.variable] and _beside(each, one))
        # An interaction is half of what the factor's effect differs by.
        half, mean, other = one.versus_reference.ratio, alone.versus_reference.ratio, others[0]
        ways = zip((mean / half, mean * half), other.values, strict=True)
        with_each = ", ".join(f"{format_change(ratio)} with {other.variable}={value}" for ratio, value in ways)
        start = f"{alone.effect}: "
        told.append(f"{with_each} {size_span([one.size_bytes])}")
    return [start + "; ".join(told) + on_placement(comparison, same[0].placement)] if told else []


def _beside(one: FactorEffect, other: FactorEffect) -> bool:
    return (one.size_bytes, one.placement) == (other.size_bytes, other.placement)
