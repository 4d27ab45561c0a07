"""From `--factors VAR=a,b` to a design and its arms.

For: reading factors, choosing the combinations that run, and every check before a process is started. Not for: the
mathematics of designs (ringtree.stats.factorial), or what a run says of its factors (ringtree.judge.factors).

An arm of a design is an ordinary one, `arm@VAR=value@VAR2=value2`: it is measured, stored and shown like any other.
"""

from __future__ import annotations

from collections.abc import Sequence

from ringtree.arms import find_kind
from ringtree.errors import UsageError
from ringtree.measure.plan import label_arms
from ringtree.results import Factor, FactorialDesign
from ringtree.stats import fractional_design, full_design
from ringtree.units import count

MOST_ARMS = 16  # of a design: each is measured at every size in every block
HALVINGS = {"full": 0, "1/2": 1, "1/4": 2}
FRACTIONS = tuple(HALVINGS)[1:]
EXAMPLE = "--factors OMP_NUM_THREADS=1,2"


def factorial_design(
    texts: Sequence[str], fraction: str | None, arms: str | None
) -> tuple[FactorialDesign, list[str]] | None:
    """Returns the design that was asked for and its arms, the first values' first; None without factors. Raises
    UsageError for an invalid factor, for other than one arm, and for a design that is too large or tells nothing."""
    if not texts:
        if fraction is not None:
            raise UsageError(f"--fraction needs --factors, for example {EXAMPLE}")
        return None
    if arms is None or "," in arms or not arms.strip():
        raise UsageError("--factors varies one arm: name it by --arms, for example --arms gloo")
    base = arms.strip()
    factors = [_factor(text) for text in texts]
    names = [factor.variable for factor in factors]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"{twice} is a factor twice: write all of its values in one --factors")
    (alone,) = label_arms([base])
    fixed = next((name for name in names if name in alone.environment), None)
    if fixed is not None:
        raise UsageError(f"{base} sets {fixed}={alone.environment[fixed]}: leave it out of --arms or of --factors")
    levels = _levels([len(factor.values) for factor in factors], fraction)
    written = [
        "@".join([base, *(f"{each.variable}={each.values[level]}" for each, level in zip(factors, run, strict=True))])
        for run in levels
    ]
    design = FactorialDesign.model_validate({"factors": factors, "fraction": fraction or "full"})
    return design.model_copy(update={"notes": _without_effect(design, written)}), written


def _factor(text: str) -> Factor:
    variable, equals, rest = text.partition("=")
    values = rest.split(",")
    if not equals or not variable.isidentifier() or not all(values) or any(set("@ ") & set(one) for one in values):
        raise UsageError(f"invalid factor {text!r}: write VARIABLE=value,value, for example {EXAMPLE}")
    if len(values) < 2:
        raise UsageError(f"{text} has one value, which is nothing to compare: add another, or set it in --arms")
    if len(set(values)) < len(values):
        raise UsageError(f"{text} has a value twice")
    return Factor(variable=variable, values=values)


def _levels(num_levels: Sequence[int], fraction: str | None) -> list[list[int]]:
    """Returns the level of each factor in each arm."""
    if fraction is None:
        design = full_design(num_levels)
        if len(design) > MOST_ARMS:
            raise UsageError(f"all combinations are {len(design)} arms, more than {MOST_ARMS}: {_smaller(num_levels)}")
        return [list(map(int, run)) for run in design]
    if fraction not in FRACTIONS:
        raise UsageError(f"invalid fraction {fraction!r}: write {' or '.join(FRACTIONS)}")
    if set(num_levels) != {2}:
        raise UsageError(f"--fraction needs two values a factor, not {max(num_levels)}")
    try:
        design = fractional_design(len(num_levels), HALVINGS[fraction])
    except ValueError as error:
        raise UsageError(
            f"{fraction} of {count(2 ** len(num_levels), 'arm')} can't separate {count(len(num_levels), 'factor')}: "
            "leave --fraction out, or use a larger fraction"
        ) from error
    if len(design) > MOST_ARMS:
        raise UsageError(
            f"{fraction} of all combinations are {len(design)} arms, more than {MOST_ARMS}: {_smaller(num_levels)}"
        )
    return [list(map(int, run)) for run in design]


def _smaller(num_levels: Sequence[int]) -> str:
    """What to do about a design that is too large."""
    if set(num_levels) != {2}:
        return "use fewer values (of two values a factor, --fraction runs a half or a quarter)"
    for fraction in FRACTIONS:
        num_arms = 2 ** len(num_levels) >> HALVINGS[fraction]
        if num_arms <= MOST_ARMS:
            return f"--fraction {fraction} runs {num_arms} of them"
    return "use fewer factors"


def _without_effect(design: FactorialDesign, written: Sequence[str]) -> list[str]:
    """Notes on factors that some arms pass over. Raises UsageError for one that does nothing in any of them."""
    notes: list[str] = []
    arms = label_arms(written)
    kind = find_kind(arms[0].name)
    idle = [{} if kind is None else kind.without_effect(arm.environment) for arm in arms]
    for factor in design.factors:
        reasons = [found[factor.variable] for found in idle if factor.variable in found]
        if len(reasons) == len(arms):
            raise UsageError(f"{factor.variable} does nothing here: {reasons[0]}")
        if reasons:
            notes.append(f"{factor.variable} does nothing in {len(reasons)} of {len(arms)} arms: {reasons[0]}")
    return notes
