"""A run against an earlier one: has an arm become slower?

For: the gate `--fail-if-slower-than RUN`. Not for: comparing arms of one run (summary.py), which are paired and thus
sharper.

If both runs have the same reference arm, the other arms are held against it in each run and these ratios are compared:
what the machine does to all arms then cancels. The reference itself, and arms of runs without a common one, are
compared by their plain times, which a busier machine lengthens too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from ringtree.errors import UsageError
from ringtree.lab.cells import ONE_CLASS, RunCells, effect_matrix, rows_of
from ringtree.lab.comparison import MIXED, Regressed, Regression
from ringtree.lab.environment import difference
from ringtree.lab.units import count, format_factor, format_factor_range, format_margin, format_size
from ringtree.lab.words import placement_phrase
from ringtree.results import Plan, Provenance, StoredRun
from ringtree.stats import slower_than_baseline


@dataclass(frozen=True)
class Pair:
    """One cell that both runs have: block -> effect in each. `relative_to`: None for plain log times."""

    size_bytes: int
    placement: str
    arm: str
    relative_to: str | None
    current: Mapping[int, float]
    baseline: Mapping[int, float]


def compare_with_baseline(current: StoredRun, baseline: StoredRun) -> Regression:
    """Returns whether `current` is slower than `baseline` in any cell that both have.

    Margin, level and seed are those of the current run's plan. Raises UsageError for runs that measured different
    things, or have no cell in common.
    """
    plan, other = current.run.plan, baseline.run.plan
    _check_same_question(plan, other, baseline.run.run_id)
    pairs, caveats = _pairs(RunCells(current), RunCells(baseline))
    if not pairs:
        raise UsageError(f"{baseline.run.run_id} measured nothing that was measured here too: choose another run")
    found = slower_than_baseline(
        effect_matrix([pair.current for pair in pairs]),
        effect_matrix([pair.baseline for pair in pairs]),
        margin=plan.margin,
        level=plan.level,
        seed=plan.seed,
    )
    cells = [
        Regressed(
            size_bytes=pair.size_bytes,
            placement=pair.placement,
            arm=pair.arm,
            relative_to=pair.relative_to,
            ratio=one.ratio,
            low=one.low if one.coverage else None,
            high=one.high if one.coverage else None,
            coverage=one.coverage,
            p=one.p,
            verdict=one.verdict,
            num_launches=one.num_current,
            num_launches_baseline=one.num_baseline,
            label=one.label,
        )
        for pair, one in zip(pairs, found, strict=True)
    ]
    return Regression(
        run=current.run.run_id,
        baseline=baseline.run.run_id,
        margin=plan.margin,
        level=plan.level,
        cells=cells,
        caveats=[*_machine(baseline.run.provenance, current.run.provenance), *caveats],
        regressed=any(cell.verdict == "slower" for cell in cells),
    )


def regression_lines(regression: Regression) -> list[str]:
    """Returns the finding in plain words, worst first; a slowdown that was not shown may still be there."""
    lines = [
        f"slower than in {regression.baseline}: {_name(cell)}, {format_factor(cell.ratio)}×{_interval(cell)}"
        for cell in sorted(regression.cells, key=lambda cell: -cell.ratio)
        if cell.verdict == "slower"
    ]
    if not lines:
        worst = max(regression.cells, key=lambda cell: cell.high or math.inf)
        lines = [
            f"no slowdown of more than {format_margin(regression.margin)} against {regression.baseline} is shown in "
            f"{count(len(regression.cells), 'cell')}; the intervals leave room for "
            f"{format_factor(worst.high) + '×' if worst.high is not None else 'any'} ({_name(worst)})"
        ]
    return [*lines, *(f"note: {caveat}" for caveat in regression.caveats)]


def _check_same_question(plan: Plan, other: Plan, baseline: str) -> None:
    fields = {
        "collective": (plan.collective, other.collective),
        "op": (plan.op, other.op),
        "dtype": (plan.dtype, other.dtype),
        "number of ranks": (plan.num_ranks, other.num_ranks),
        "emulated cluster": (_cluster(plan), _cluster(other)),
    }
    told = [f"{name} is {now}, there {then}" for name, (now, then) in fields.items() if now != then]
    if told:
        raise UsageError(f"{baseline} measured something else: {'; '.join(told)}")


def _cluster(plan: Plan) -> str:
    one = plan.emulation
    return "none" if one is None else f"{one.hosts}x{one.ranks_per_host}, {one.alpha:g} s, {one.beta:g} bytes/s"


def _pairs(current: RunCells, baseline: RunCells) -> tuple[list[Pair], list[str]]:
    """The cells that both runs have, and what must be said about their choice."""
    plan, other = current.plan, baseline.plan
    caveats, pairs = [], []
    common = plan.reference == other.reference
    there = {(arm.label, tuple(sorted(arm.environment.items()))) for arm in other.arms}
    arms = [arm.label for arm in plan.arms if (arm.label, tuple(sorted(arm.environment.items()))) in there]
    sizes = [size.size_bytes for size in plan.sizes if size.size_bytes in {size.size_bytes for size in other.sizes}]
    batches = {size.size_bytes: size.batch for size in other.sizes}
    changed = [size.size_bytes for size in plan.sizes if batches.get(size.size_bytes, size.batch) != size.batch]
    if changed:
        caveats.append(f"calls are batched differently at {', '.join(map(format_size, changed))}")
    missing = [arm.label for arm in plan.arms if arm.label not in arms]
    missing += [format_size(size.size_bytes) for size in plan.sizes if size.size_bytes not in sizes]
    if missing:
        caveats.append(f"not in the baseline, so not compared: {', '.join(missing)}")
    for size_bytes in sizes:
        for here, placement_there in _placements(current, baseline, size_bytes):
            for arm in arms:
                relative_to = plan.reference if common and arm != plan.reference else None
                now, then = (
                    _effects(cells, size_bytes, arm, relative_to, placement)
                    for cells, placement in ((current, here), (baseline, placement_there))
                )
                if now and then:
                    pairs.append(Pair(size_bytes, here, arm, relative_to, now, then))
    plain = list(dict.fromkeys(pair.arm for pair in pairs if pair.relative_to is None))
    if plain:
        why = "it is the reference" if common else "the runs have different references"
        caveats.append(
            f"{', '.join(plain)}: plain times are compared, as {why}: a busier or slower machine shows there too"
        )
    return pairs, caveats


def _effects(cells: RunCells, size_bytes: int, arm: str, relative_to: str | None, placement: str) -> dict[int, float]:
    if relative_to is not None:
        return cells.effects(size_bytes, arm, relative_to, placement)
    if cells.why_disqualified(size_bytes, arm) is not None:
        return {}
    return {block: math.log(median) for block, median in cells.medians(size_bytes, arm, placement).items()}


def _placements(current: RunCells, baseline: RunCells, size_bytes: int) -> list[tuple[str, str]]:
    """Pairs of placements, here and there, that mean the same.

    Where both runs have a placement with enough launches under it, those are compared by name; a run with a single
    class is taken for the class of the other one that its typical hand-off falls into. Else everything is taken
    together, like with like.
    """
    here, there = ([row.placement for row in rows_of(cells, size_bytes) if row.judged] for cells in (current, baseline))
    if MIXED in here or MIXED in there:
        return [(MIXED, MIXED)]
    same = [(one, one) for one in here if one in there]
    if not same and here == [ONE_CLASS]:
        same = [(ONE_CLASS, name) for name in there if name == baseline.class_of(current.typical_handoff)]
    elif not same and there == [ONE_CLASS]:
        same = [(name, ONE_CLASS) for name in here if name == current.class_of(baseline.typical_handoff)]
    return same or [(MIXED, MIXED)]


def _machine(before: Provenance, now: Provenance) -> list[str]:
    """What differs besides the code, which is what is being tested."""

    def without_code(provenance: Provenance) -> Provenance:
        versions = {name: version for name, version in provenance.versions.items() if name != "ringtree"}
        return provenance.model_copy(update={"git_commit": None, "versions": versions})

    return [f"since the baseline, {told}" for told in difference(without_code(before), without_code(now))]


def _name(cell: Regressed) -> str:
    where = f" on {placement_phrase(cell.placement)}" if cell.placement else ""
    measure = f" relative to {cell.relative_to}" if cell.relative_to is not None else ""
    return f"{cell.arm} at {format_size(cell.size_bytes)}{where}{measure}"


def _interval(cell: Regressed) -> str:
    if cell.low is None or cell.high is None:
        return f" ({cell.label})"
    return f" ({cell.label}: {format_factor_range(cell.low, cell.high)}×)"
