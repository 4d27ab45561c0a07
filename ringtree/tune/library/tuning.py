"""One tuning of a library: all its switches, a choice, and what that gains in place.

For: the steps from a library's name to rules that won. Not for: choices (choosing.py), formats (formats.py).

    screening    every switch beside the library's own choice, a few launches: chooses, does not count
    validation   the rules as they are deployed, in fresh processes beside the library's own choice: what is not shown
                 to be faster goes back to that
    check        what is left is deployed once more: is it taken?
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from ringtree.arms import kind_named
from ringtree.arms.mpi_libraries import MpiProgram
from ringtree.errors import RingtreeError, UsageError
from ringtree.judge.comparison import Comparison
from ringtree.judge.summary import summarise
from ringtree.measure.estimate import start_of
from ringtree.measure.plan import DEFAULT_LAUNCHES
from ringtree.measure.progress import LiveProgress
from ringtree.measure.recording import run_comparison
from ringtree.measure.request import Request, make_plan
from ringtree.results import Plan, StoredRun
from ringtree.results.files import write_whole
from ringtree.tune.library.check import how_taken
from ringtree.tune.library.choosing import chosen, named_failures, winners
from ringtree.tune.library.formats import Deployed, deployed, extension, takes_ranges
from ringtree.tune.library.rules import DEFAULT, SizeRange, ranges
from ringtree.tune.library.switches import COLLECTIVE, candidates, library_of
from ringtree.tune.library.tuned import LibraryRules, TunedSize

SCREENING_LAUNCHES = 4
SCREENING_SHARE = 0.4  # of the time
LEAST_CELL, MOST_CELL = 0.02, 1.0
Progress = Callable[[Plan], AbstractContextManager[LiveProgress]]


@dataclass(frozen=True)
class LibraryAsked:
    """What is asked: `arm` as "openmpi" or "mpich5"; `budget`: seconds; `file`: where the result is to lie."""

    arm: str
    num_ranks: int
    sizes: str
    budget: float
    seed: int
    file: Path | None = None

    @property
    def library(self) -> str:
        return library_of(self.arm)

    @property
    def place(self) -> Path:
        """Where the file or the variables are to lie."""
        return (self.file or Path(f"ringtree-{self.arm}.{extension(self.library)}")).absolute()


def tune_library(asked: LibraryAsked, runs: Path, progress: Progress) -> LibraryRules:
    """Runs a tuning and writes its rules. Raises UsageError, or RingtreeError if nothing could be measured."""
    lacks = kind_named(asked.arm).lacks() if library_of(asked.arm) else None
    if lacks is not None:
        raise UsageError(lacks)
    screening = _run(screening_plan(asked), runs, progress)
    failed = named_failures(screening)
    choices = chosen(screening, asked.arm, takes_ranges(asked.library))
    if not choices:
        raise RingtreeError(f"{asked.arm} could not be measured: {failed.get(asked.arm, 'too few rounds')}")
    rules, told, comparison, validation = ranges(choices), "nothing was deployed", None, None
    kept = dict.fromkeys(choices, DEFAULT)
    if rules:
        plan = validation_plan(asked, _deploy(asked, rules, screening.path))
        validation = _run(plan, runs, progress)
        comparison = summarise(validation)
        kept = held(choices, comparison, tuned_label(asked.arm), takes_ranges(asked.library))
        rules = ranges(kept)
    if rules and validation is not None:
        told = how_taken(asked.library, asked.arm, validation.run.plan, kept, _deploy(asked, rules, validation.path))
    final = deployed(asked.library, rules, asked.num_ranks, asked.place)
    if final.environment:
        write_whole(asked.place, final.text.encode())
    return LibraryRules(
        arm=asked.arm,
        library=asked.library,
        version=MpiProgram(asked.library, _major(asked.arm)).found().toolchain.version,
        collective=COLLECTIVE,
        num_ranks=asked.num_ranks,
        rules=rules,
        environment=dict(final.environment),
        file=str(asked.place) if rules else None,
        taken=told,
        sizes=_sizes(asked, choices, kept, comparison),
        left_out={arm: why for arm, why in failed.items() if arm != asked.arm},
        screening=screening.run.run_id,
        validation=None if validation is None else validation.run.run_id,
        level=screening.run.plan.level,
        margin=screening.run.plan.margin,
    )


def screening_plan(asked: LibraryAsked) -> Plan:
    """Returns the plan of the screening. Raises UsageError."""
    plan = _plan(asked, candidates(asked.arm), SCREENING_LAUNCHES)
    return _timed(plan, SCREENING_SHARE * asked.budget).model_copy(update={"purpose": "pilot"})


def validation_plan(asked: LibraryAsked, rules: Deployed) -> Plan:
    """Returns the plan that holds the rules against the library's own choice."""
    plan = _plan(asked, [asked.arm, asked.arm], DEFAULT_LAUNCHES)
    own, tuned = plan.arms
    tuned = tuned.model_copy(update={"label": tuned_label(asked.arm), "environment": dict(rules.environment)})
    return _timed(plan.model_copy(update={"arms": [own, tuned]}), (1 - SCREENING_SHARE) * asked.budget)


def held(choices: Mapping[int, str], comparison: Comparison, label: str, by_size: bool) -> dict[int, str]:
    """Returns the choices that hold: where the rules were shown to be faster. One that counts for all sizes holds for
    all or for none: if it is faster somewhere and slower nowhere."""
    won = winners(comparison, label)
    if by_size:
        return {size: switch if size in won else DEFAULT for size, switch in choices.items()}
    cells = [cell for cell in comparison.cells if cell.arm == label and cell.versus_reference is not None]
    lost = [cell for cell in cells if cell.versus_reference is not None and cell.versus_reference.verdict == "slower"]
    return dict(choices) if won and not lost else dict.fromkeys(choices, DEFAULT)


def tuned_label(arm: str) -> str:
    """Returns the label of the library with its rules."""
    return f"{arm}+rules"


def _deploy(asked: LibraryAsked, rules: list[SizeRange], folder: Path) -> Deployed:
    """Writes rules beside a run, so that what was measured is kept."""
    file = folder.absolute() / f"{asked.arm}.{extension(asked.library)}"
    made = deployed(asked.library, rules, asked.num_ranks, file)
    write_whole(file, made.text.encode())
    return made


def _sizes(
    asked: LibraryAsked, choices: Mapping[int, str], kept: Mapping[int, str], comparison: Comparison | None
) -> list[TunedSize]:
    if comparison is None:
        return [
            TunedSize(size_bytes=size, placement="", switch=switch, kept=False, default=None, tuned=None, gain=None)
            for size, switch in choices.items()
        ]
    found = []
    for row in comparison.shown_rows():
        own = comparison.find(row.size_bytes, asked.arm, row.placement)
        tuned = comparison.find(row.size_bytes, tuned_label(asked.arm), row.placement)
        found.append(
            TunedSize(
                size_bytes=row.size_bytes,
                placement=row.placement,
                switch=choices.get(row.size_bytes, DEFAULT),
                kept=kept.get(row.size_bytes, DEFAULT) != DEFAULT,
                default=None if own is None else own.time,
                tuned=None if tuned is None else tuned.time,
                gain=None if tuned is None else tuned.versus_reference,
            )
        )
    return found


def _plan(asked: LibraryAsked, arms: list[str], num_launches: int) -> Plan:
    return make_plan(
        Request(
            ranks=asked.num_ranks,
            sizes=asked.sizes,
            arms=",".join(arms),
            launches=num_launches,
            seed=asked.seed,
            collective=COLLECTIVE,
            reference=asked.arm,
        )
    )


def _timed(plan: Plan, seconds: float) -> Plan:
    a_launch = seconds / plan.num_launches - start_of(plan)
    cell = a_launch / (len(plan.arms) * len(plan.sizes))
    return plan.model_copy(update={"cell_budget": min(MOST_CELL, max(LEAST_CELL, cell))})


def _run(plan: Plan, runs: Path, progress: Progress) -> StoredRun:
    with progress(plan) as shown:
        return run_comparison(plan, runs, shown.on_progress)


def _major(arm: str) -> int | None:
    digits = arm.lstrip("abcdefghijklmnopqrstuvwxyz")
    return int(digits) if digits else None
