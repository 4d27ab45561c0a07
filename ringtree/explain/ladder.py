"""From a stored run and its pilot to the ladder: steps, what each thing is worth at the top, and where the two differ.

For: joining RESULT records with ringtree.stats. Not for: formulas (ringtree.stats), the record's shape
(ladder_record.py), text and pictures (show/ladder).

With e = log(time after / time before), one value a launch, taken round by round (ringtree.stats.round_effect):

    step         e of a rung against the rung that it stands on
    worth        e of the top against the top without one thing
    interaction  e of the step minus e of the worth of the same thing, launch by launch: 0 if the effects only multiply

All factors of a ladder are one family: the chance that any verdict in it is wrong is 1 - level at most.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from ringtree.arms import boundary_of
from ringtree.explain.ladder_kinds import kind_of
from ringtree.explain.ladder_record import TOO_FEW_ROUNDS, Effect, Ladder, PanelRecord, RungRecord, TakingRecord
from ringtree.explain.pilot import decide, executed
from ringtree.explain.plan import ladders_of
from ringtree.explain.rungs import Rung
from ringtree.judge.cells import RunCells, effect_matrix
from ringtree.judge.comparison import CellSummary, Comparison, Interval, SizeRow
from ringtree.judge.summary import summarise
from ringtree.results import Plan, StoredRun
from ringtree.stats import Judged, judge

STEP, WORTH, INTERACTION, TOTAL = "step", "worth", "interaction", "total"
Key = tuple[int, str, str, str]  # size, placement, kind of effect, key of the rung
Effects = Mapping[int, float]  # block -> log ratio


def ladder_of(stored: StoredRun, pilot: StoredRun) -> Ladder:
    """Returns the ladder of a run; launches that are missing simply count less. Raises UsageError for another run."""
    run, plan = stored.run, stored.run.plan
    kind, algorithm = kind_of(plan)
    labels = {arm.label for arm in plan.arms}
    ladders, taken = ladders_of(
        kind,
        algorithm,
        plan.num_ranks,
        len(run.provenance.affinity),
        decide(pilot, kind, algorithm),
        lambda arm: None if arm in labels else plan.left_out.get(arm, "it took no part in this run"),
    )
    comparison, cells = summarise(stored), RunCells(stored)
    panels = [_Panel(comparison, cells, row, ladders[row.size_bytes], kind.top) for row in comparison.shown_rows()]
    for panel in panels:
        panel.take_away(taken[panel.row.size_bytes])
    judged = _judge(plan, {key: found for panel in panels for key, found in panel.effects.items()})
    return Ladder.from_fields_of(
        comparison,
        pilot=pilot.run.run_id,
        created_utc=run.created_utc,
        provenance=run.provenance,
        ladder=kind.name,
        top=kind.top,
        algorithm=algorithm,
        through=boundary_of(plan),
        floor_formula=kind.floor,
        panels=[panel.record(judged) for panel in panels],
    )


class _Panel:
    """One row of the run while its ladder is put together."""

    def __init__(self, comparison: Comparison, cells: RunCells, row: SizeRow, ladder: list[Rung], top: str) -> None:
        self.row, self._top = row, top
        self._comparison, self._cells = comparison, cells
        self.effects: dict[Key, Effects] = {}
        self._rungs: list[tuple[Rung, str | None]] = []  # with the arm below
        self._takings: list[Rung] = []
        below: str | None = None
        for rung in ladder:
            self._rungs.append((rung, below))
            if rung.arm is not None and below is not None:
                self._note(STEP, rung.key, self._between(rung.arm, below))
            if rung.arm is not None and not rung.aside and self._is_timed(rung.arm):
                below = rung.arm
        first = next((rung.arm for rung, _ in self._rungs if rung.arm is not None and self._is_timed(rung.arm)), None)
        if first is not None:
            self._note(TOTAL, TOTAL, self._between(self._top, first))

    def take_away(self, takings: list[Rung]) -> None:
        """Adds what the top is worth without one thing."""
        self._takings = takings
        for taking in takings:
            if taking.arm is None:
                continue
            worth = self._between(self._top, taking.arm)
            self._note(WORTH, taking.key, worth)
            step = self.effects.get(self._key(STEP, taking.key), {})
            self._note(INTERACTION, taking.key, {block: step[block] - worth[block] for block in step if block in worth})

    def record(self, judged: Mapping[Key, Judged]) -> PanelRecord:
        """Returns the panel with its effects judged."""
        top = self._cell(self._top)

        def effect(kind: str, key: str) -> Effect | None:
            found = judged.get(self._key(kind, key))
            return None if found is None else _effect(found)

        return PanelRecord(
            size_bytes=self.row.size_bytes,
            placement=self.row.placement,
            judged=self.row.judged,
            rungs=[
                RungRecord(
                    key=rung.key,
                    title=rung.title,
                    arm=rung.arm,
                    below=below if rung.arm is not None else None,
                    step=effect(STEP, rung.key),
                    aside=rung.aside,
                    why=rung.why or self._what_is_wrong(rung.arm),
                    executed=self._told(rung.arm),
                    time=self._time(rung.arm),
                )
                for rung, below in self._rungs
            ],
            takings=[
                TakingRecord(
                    key=taking.key,
                    title=taking.title,
                    arm=taking.arm,
                    worth=effect(WORTH, taking.key),
                    interaction=effect(INTERACTION, taking.key),
                    why=taking.why or self._what_is_wrong(taking.arm),
                    executed=self._told(taking.arm),
                    time=self._time(taking.arm),
                )
                for taking in self._takings
            ],
            total=effect(TOTAL, TOTAL),
            floor=None if top is None else top.limit,
        )

    def _key(self, kind: str, key: str) -> Key:
        return (self.row.size_bytes, self.row.placement, kind, key)

    def _note(self, kind: str, key: str, effects: Effects) -> None:
        if effects:
            self.effects[self._key(kind, key)] = effects

    def _between(self, arm: str, other: str) -> Effects:
        """block -> log(time of arm / time of other)."""
        return self._cells.effects(self.row.size_bytes, arm, other, self.row.placement) if arm != other else {}

    def _cell(self, arm: str | None) -> CellSummary | None:
        return None if arm is None else self._comparison.find(self.row.size_bytes, arm, self.row.placement)

    def _is_timed(self, arm: str) -> bool:
        cell = self._cell(arm)
        return cell is not None and cell.time is not None

    def _time(self, arm: str | None) -> Interval | None:
        cell = self._cell(arm)
        return None if cell is None else cell.time

    def _told(self, arm: str | None) -> str | None:
        told = None if arm is None else executed(self._cells, self.row.size_bytes, arm)
        return None if told is None else described(told)

    def _what_is_wrong(self, arm: str | None) -> str | None:
        if arm is None:
            return None
        cell = self._cell(arm)
        if cell is None:
            return self._comparison.left_out.get(arm, "no launch of it is stored")
        return cell.disqualified or (None if cell.time is not None else TOO_FEW_ROUNDS)


def described(told: Mapping[str, object]) -> str:
    """Returns "two_shot/simple/64K/streaming" of what an arm says that it executed."""
    parts = [str(told[word]) for word in ("algorithm", "protocol") if told.get(word)]
    size = told.get("slice_bytes")
    if isinstance(size, int) and size:
        parts.append(f"{size // 1024}K" if size % 1024 == 0 else f"{size}B")
    return "/".join([*parts, *(["streaming"] if told.get("streaming") else [])])


def _judge(plan: Plan, effects: Mapping[Key, Effects]) -> dict[Key, Judged]:
    if not effects:
        return {}
    judged = judge(effect_matrix(list(effects.values())), margin=plan.margin, level=plan.level, seed=plan.seed)
    return dict(zip(effects, judged, strict=True))


def _effect(judged: Judged) -> Effect:
    """Turned round, so that a factor above 1 is a gain; with one launch there is no interval."""
    bounded = judged.low > 0 and math.isfinite(judged.high)
    return Effect(
        factor=1 / judged.ratio,
        low=1 / judged.high if bounded else None,
        high=1 / judged.low if bounded else None,
        coverage=judged.coverage,
        num_launches=judged.num_launches,
        verdict=judged.verdict,
        label=judged.label,
    )
