"""What a command does as one of the processes that a launcher has started: measure as the lab, or serve it.

For: compare, train, tune and bench. Not for: agents themselves (ringtree.measure.crew), or commands that measure on one
host without a launcher only.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Sequence
from threading import Timer

from ringtree.comm.meeting import STORES, store_of
from ringtree.errors import PeerError, RingtreeError
from ringtree.launchers import Identity, identify
from ringtree.measure.crew import MEETING, Crew
from ringtree.measure.ending import ended_by_sigterm, ended_by_the_lab
from ringtree.measure.joining import crew_of_the_launcher
from ringtree.measure.who_is_left import word_of_the_lowest
from ringtree.measure.who_speaks import SaidElsewhere

MOST_NAMED = 8  # of the ranks that are missing
SILENCE = 5.0  # seconds that rank 0 waits for the other processes before it says so


def as_lab_or_agent(measure: Callable[[Crew | None], None]) -> None:
    """Calls `measure` with the crew in the process of rank 0, or with None where no launcher has started several; the
    other processes serve until all is done. Raises what `measure` raises, and SaidElsewhere."""
    crew = _meet(SILENCE)
    if crew is None:
        with ended_by_sigterm():
            measure(None)
    elif crew.is_lab:
        with ended_by_sigterm(), crew:
            measure(crew)
    else:
        with ended_by_the_lab(), crew:
            _serve(crew)


def waiting_line(identity: Identity, missing: Sequence[int] = ()) -> str:
    """Returns what rank 0 says while the others have not come, as where variables are left over in a shell. `missing`:
    the first of them, where that is known."""
    whom = "the other processes"
    missing = [rank for rank in missing if rank != identity.rank]  # on a slow start it has not come itself yet
    if missing:
        named = ", ".join(map(str, missing[:MOST_NAMED])) + (", …" if len(missing) > MOST_NAMED else "")
        whom = f"rank {named}" if len(missing) == 1 else f"ranks {named}"
    return (
        f"ringtree: waiting for {whom}: {identity.words}; to measure without a launcher, unset the "
        "variables that `ringtree launchers` lists"
    )


def _meet(silence: float) -> Crew | None:
    """Returns the crew, None without a launcher; says after `silence` seconds for whom rank 0 waits."""

    def say() -> None:
        with contextlib.suppress(RingtreeError):  # what is wrong, who waits says
            identity = identify()
            if identity is not None and identity.rank == 0:
                print(waiting_line(identity, _missing(identity)), file=sys.stderr, flush=True)

    timer = Timer(silence, say)
    timer.daemon = True
    timer.start()
    try:
        return crew_of_the_launcher()
    finally:
        timer.cancel()
        timer.join()  # a thread that ends after Python does keeps what it saw alive


def _missing(identity: Identity) -> list[int]:
    try:
        return STORES.missing(store_of(identity), identity.rank, identity.world_size, MEETING, MOST_NAMED + 1)
    except RingtreeError:  # the store has ended meanwhile
        return []


def _serve(crew: Crew) -> None:
    try:
        crew.serve()
    except RingtreeError as error:
        # The lab says what went wrong; if it has died, too, one of those that are left does.
        word = word_of_the_lowest(crew.comm, error) if isinstance(error, PeerError) else None
        raise SaidElsewhere(error) if word is None else word from None
