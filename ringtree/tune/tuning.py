"""A tuning from its request to its last launch: begun, or gone on with where it was killed.

For: the order of launches, storing what they measure, what Ctrl-C leaves. Not for: what is measured next (plan.py), the
profile (build.py) or printing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from ringtree.errors import UsageError
from ringtree.measure.environment import capture, difference
from ringtree.measure.messages import ProgressReport
from ringtree.measure.rank_group import RANK_ENVIRONMENT
from ringtree.tune.history import History
from ringtree.tune.launch import MeasureLaunch, measure_launch
from ringtree.tune.measured import Header, LaunchDone, Line, Measured, TuneLaunch, TuneRequest
from ringtree.tune.plan import next_launch, resumed
from ringtree.tune.state import StateWriter, StoredTuning, discard, read_state
from ringtree.units import count, format_size

OnProgress = Callable[[TuneLaunch, ProgressReport], None]


def unfinished(directory: Path) -> StoredTuning | None:
    """Returns the state in `directory` if it is one that was interrupted. Raises UsageError if it can't be read."""
    stored = read_state(directory)
    if stored is None:
        return None
    history = History(stored.lines)
    over = history.open_launch() is None and next_launch(stored.header.request, history) is None
    return None if over else stored


def begin_or_resume(directory: Path, request: TuneRequest | None, fresh: bool) -> tuple[Header, StoredTuning | None]:
    """Returns the header of the tuning to run, and its stored lines if it goes on.

    `request` None: go on with the interrupted one, whatever it was asked. Otherwise an interrupted tuning with the same
    request goes on, unless `fresh`, which discards whatever is there. Raises UsageError if there is nothing to go on
    with, if an interrupted tuning of something else is in the way, or if it was begun under other conditions.
    """
    now = capture(emulated=False, rank_defaults=RANK_ENVIRONMENT)
    if fresh:
        discard(directory)
    stored = unfinished(directory)
    if request is None and stored is None:
        raise UsageError(f"there is no interrupted tuning in {directory}: leave --resume out")
    if stored is not None:
        begun = stored.header.request
        if request is not None and request.model_copy(update={"seed": begun.seed}) != begun:
            raise UsageError(
                f"an interrupted tuning of {_words(begun)} is stored in {directory}: continue it with --resume, or "
                "discard it with --fresh"
            )
        differences = difference(stored.header.provenance, now)
        if differences:
            raise UsageError(
                f"the interrupted tuning in {directory} can't be continued: {'; '.join(differences)}; discard it with "
                "--fresh"
            )
        return stored.header, stored
    assert request is not None
    return Header(created_utc=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), request=request, provenance=now), None


def run(
    directory: Path,
    header: Header,
    stored: StoredTuning | None,
    on_progress: OnProgress,
    measure: MeasureLaunch = measure_launch,
) -> History:
    """Runs all launches that are missing; returns everything that was measured.

    Raises LaunchFailed if a launch fails, UsageError if it can't be stored; what was stored stays. On Ctrl-C all ranks
    are gone before KeyboardInterrupt leaves, which says what is kept and how to go on.
    """
    request = header.request
    history = History(stored.lines if stored is not None else ())
    with StateWriter(directory, header, stored) as writer:

        def keep(line: Line) -> None:
            history.add(line)
            writer.append(line)

        try:
            while True:
                launch = history.open_launch()
                if launch is None:
                    launch = next_launch(request, history)
                    if launch is None:
                        break
                    keep(launch)
                _run_launch(request, launch, history, keep, on_progress, measure)
                writer.sync()
        except KeyboardInterrupt:
            kept = f"{count(history.num_rounds, 'round')} stored in {directory}"
            raise KeyboardInterrupt(f"{kept}; repeat the command to continue") from None
    return history


def _run_launch(
    request: TuneRequest,
    launch: TuneLaunch,
    history: History,
    keep: Callable[[Line], None],
    on_progress: OnProgress,
    measure: MeasureLaunch,
) -> None:
    left, first_sweep = resumed(launch, history)
    before = launch.seconds - left.seconds

    def on_measured(said: Measured | ProgressReport) -> None:
        if isinstance(said, ProgressReport):
            on_progress(launch, said)
        else:
            keep(said)

    started = time.monotonic()
    if launch.cells:
        measure(request, left, first_sweep, on_measured)
    keep(LaunchDone(launch=launch.number, wall_seconds=before + time.monotonic() - started))


def _words(request: TuneRequest) -> str:
    sizes = f"{format_size(request.sizes[0])}–{format_size(request.sizes[-1])}"
    worlds = ", ".join(world.words for world in request.worlds)
    return f"{', '.join(request.collectives)} with {worlds}, {sizes}"
