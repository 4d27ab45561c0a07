"""A run against an earlier one: has an arm become slower?

For: the gate `--fail-if-slower-than RUN`. Not for: comparing arms of one run (summary.py), which are paired and thus
sharper.

If both runs have the same reference arm and at least one further arm in common, the further arms are held against the
reference in each run and these ratios are compared: what the machine does to all arms then cancels. The reference is
the yardstick and is not judged, so a slower machine alone is not a regression. Neither is code that became slower for
all arms alike, and a reference that became faster makes the others look slower: best is an arm that the tested
change does not touch, a library. Where the runs have one arm in common, or different references, plain times are
compared, which a busier machine lengthens too; a caveat says so.

A disqualified cell is not compared, and a disqualified reference leaves nothing to compare at that size: plain times
instead would bring back by a wrong result what the reference is there to keep out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from ringtree.errors import UsageError
from ringtree.judge.cells import ONE_CLASS, RunCells, effect_matrix, rows_of
from ringtree.judge.comparison import MIXED, Regressed, Regression
from ringtree.judge.phrases import placement_phrase
from ringtree.measure.environment import difference
from ringtree.results import Plan, Provenance, StoredRun
from ringtree.stats import slower_than_baseline
from ringtree.units import count, format_factor, format_factor_range, format_margin, format_size


@dataclass(frozen=True)
class Common:
    """What both runs have: labels of the arms that are judged, sizes, and the arm that those are held against.

    `relative_to`: None for plain log times.
    """

    arms: tuple[str, ...]
    sizes: tuple[int, ...]
    relative_to: str | None

    def __post_init__(self) -> None:
        if self.relative_to in self.arms:
            raise ValueError(f"{self.relative_to} is the reference and can't be judged itself")


@dataclass(frozen=True)
class Pair:
    """One cell that both runs have: block -> effect in each."""

    size_bytes: int
    placement: str
    arm: str
    current: Mapping[int, float]
    baseline: Mapping[int, float]


def compare_with_baseline(current: StoredRun, baseline: StoredRun) -> Regression:
    """Returns whether `current` is slower than `baseline` in any cell that both have.

    Margin, level and seed are those of the current run's plan. Raises UsageError for runs that measured different
    things, or have no cell in common that may be compared.
    """
    plan, other = current.run.plan, baseline.run.plan
    _check_same_question(plan, other, baseline.run.run_id)
    common = _common(plan, other)
    cells_here, cells_there = RunCells(current), RunCells(baseline)
    pairs = _pairs(common, cells_here, cells_there)
    wrong = [*_disqualified(common, cells_here, "here"), *_disqualified(common, cells_there, "in the baseline")]
    if not pairs:
        if wrong:
            raise UsageError(f"no cell can be compared with {baseline.run.run_id}: {'; '.join(wrong)}")
        raise UsageError(f"{baseline.run.run_id} measured nothing that was measured here too: choose another run")
    found = slower_than_baseline(
        effect_matrix([pair.current for pair in pairs]),
        effect_matrix([pair.baseline for pair in pairs]),
        margin=plan.margin,
        level=plan.level,
        seed=plan.seed,
    )
    cells = [
        Regressed.from_fields_of(
            one,
            size_bytes=pair.size_bytes,
            placement=pair.placement,
            arm=pair.arm,
            relative_to=common.relative_to,
            low=one.low if one.coverage else None,
            high=one.high if one.coverage else None,
            num_launches=one.num_current,
            num_launches_baseline=one.num_baseline,
        )
        for pair, one in zip(pairs, found, strict=True)
    ]
    return Regression(
        run=current.run.run_id,
        baseline=baseline.run.run_id,
        margin=plan.margin,
        level=plan.level,
        cells=cells,
        caveats=[
            *_machine(baseline.run.provenance, current.run.provenance),
            *_differing_plans(plan, other, common),
            *wrong,
            _measure(plan, other, common),
        ],
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
            f"{count(len(regression.cells), 'cell')}; the intervals allow for up to "
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
        "simulated cluster": (_simulated(plan), _simulated(other)),
    }
    told = [f"{name} is {now}, was {then}" for name, (now, then) in fields.items() if now != then]
    if told:
        raise UsageError(f"{baseline} measured something else: {'; '.join(told)}")


def _cluster(plan: Plan) -> str:
    one = plan.emulation
    return "none" if one is None else f"{one.hosts}x{one.ranks_per_host}, {one.alpha:g} s, {one.beta:g} bytes/s"


def _simulated(plan: Plan) -> str:
    return "none" if plan.simulation is None else plan.simulation.called


def _common(plan: Plan, other: Plan) -> Common:
    """An arm with other variables is another arm, whatever its label."""
    there = {(arm.label, tuple(sorted(arm.environment.items()))) for arm in other.arms}
    arms = [arm.label for arm in plan.arms if (arm.label, tuple(sorted(arm.environment.items()))) in there]
    sizes_there = {size.size_bytes for size in other.sizes}
    sizes = tuple(size.size_bytes for size in plan.sizes if size.size_bytes in sizes_there)
    if plan.reference == other.reference and plan.reference in arms and len(arms) > 1:
        # A slower machine slows the reference too: it is the yardstick and not judged.
        return Common(tuple(arm for arm in arms if arm != plan.reference), sizes, plan.reference)
    return Common(tuple(arms), sizes, None)


def _differing_plans(plan: Plan, other: Plan, common: Common) -> list[str]:
    """What of the plan can't be compared, or only with care."""
    caveats = []
    batches = {size.size_bytes: size.batch for size in other.sizes}
    changed = [size.size_bytes for size in plan.sizes if batches.get(size.size_bytes, size.batch) != size.batch]
    if changed:
        caveats.append(f"calls are batched differently at {', '.join(map(format_size, changed))}")
    missing = [arm.label for arm in plan.arms if arm.label not in (*common.arms, common.relative_to)]
    missing += [format_size(size.size_bytes) for size in plan.sizes if size.size_bytes not in common.sizes]
    if missing:
        caveats.append(f"not in the baseline, so not compared: {', '.join(missing)}")
    return caveats


def _measure(plan: Plan, other: Plan, common: Common) -> str:
    """What is compared, and what therefore shows and does not."""
    if common.relative_to is not None:
        return (
            f"times relative to {common.relative_to} are compared and {common.relative_to} itself is not: "
            "a slowdown of all arms alike would not show"
        )
    alone = plan.reference == other.reference and plan.reference in common.arms
    why = "no other arm is in both runs" if alone else "the runs have different references"
    return f"{', '.join(common.arms)}: plain times are compared, as {why}: a busier or slower machine shows there too"


def _disqualified(common: Common, cells: RunCells, where: str) -> list[str]:
    """Which cells of one of the runs are left out as they were wrong."""
    consequences = dict.fromkeys(common.arms, "it is not compared there")
    if common.relative_to is not None:
        consequences[common.relative_to] = "nothing is compared there"
    lines = []
    for arm, consequence in consequences.items():
        sizes = [format_size(size) for size in common.sizes if cells.why_disqualified(size, arm) is not None]
        if sizes:
            lines.append(f"{arm} is disqualified {where} at {', '.join(sizes)}, so {consequence}")
    return lines


def _pairs(common: Common, current: RunCells, baseline: RunCells) -> list[Pair]:
    """The cells that both runs have, in the order of the current plan."""
    pairs = []
    for size_bytes in common.sizes:
        for here, there in _placements(current, baseline, size_bytes):
            for arm in common.arms:
                now, then = (
                    _effects(cells, size_bytes, arm, common.relative_to, placement)
                    for cells, placement in ((current, here), (baseline, there))
                )
                if now and then:
                    pairs.append(Pair(size_bytes, here, arm, now, then))
    return pairs


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
