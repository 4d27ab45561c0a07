"""The errors that ringtree raises. Three kinds: the caller's mistake (UsageError and below), the world's failure
(PeerError, DeadlineError, MismatchError: the communicator is unusable from then on), and everything else as plain
RingtreeError.

Not for: deciding what is an error. The C++ core raises these through core/bindings/bind_errors.cpp.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class RingtreeError(Exception):
    """Base of all errors of ringtree."""


class UsageError(RingtreeError, ValueError):
    """The caller's mistake; the message says what to do. Nothing has happened."""


class ScheduleError(UsageError):
    """A schedule that is not well formed; the message names rank and step."""


class VerificationError(UsageError):
    """A well-formed schedule that does not compute its collective; the message names the step or link where the fault
    first shows."""


class PeerError(RingtreeError):
    """A rank died or left while it was needed; the message names rank, pid, collective and sequence number.

    `ranks`: which, in order, and with it those that were known to have died by then: of ranks that die together perhaps
    not all (Communicator.gone has those that were found since). Empty where a rank refused to meet and says why, and
    where ranks lost each other though none ended.
    """

    def __init__(self, message: str = "", ranks: Iterable[int] = ()) -> None:
        super().__init__(message)
        self.ranks = tuple(ranks)


class DeadlineError(RingtreeError, TimeoutError):
    """A call passed its deadline; the message says which rank has not come how far.

    `ranks`: those that had not come to meet, of many perhaps the first, or the one that did not answer while links were
    probed; empty where all had, where there was no time to find one that had, and once they have met.
    """

    def __init__(self, message: str = "", ranks: Iterable[int] = ()) -> None:
        super().__init__(message)
        self.ranks = tuple(ranks)


class MismatchError(RingtreeError):
    """The ranks are in different calls; the message says who said what."""


@contextmanager
def os_errors(what: str, then: str = "", kind: type[RingtreeError] = UsageError) -> Iterator[None]:
    """Says in one line what failed: `what` ("can't write FILE"), the system's reason, and what to do (`then`)."""
    try:
        yield
    except OSError as error:
        raise kind(f"{what}: {error.strerror or error}{then and f'; {then}'}") from error
