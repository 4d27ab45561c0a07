"""From exceptions to exit codes.

For: one line on standard error instead of a traceback for everything that is a user's mistake or the world's failure.
Not for: hiding bugs of ours: any other exception leaves with its traceback.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from ringtree.compare.too_noisy import TooNoisy
from ringtree.errors import RingtreeError, UsageError
from ringtree.measure.ending import Terminated
from ringtree.measure.who_speaks import SaidElsewhere
from ringtree.show.printable import printable

FAILED, USAGE, SLOWER, TOO_NOISY, NOTHING_KNOWN, WRONG, INTERRUPTED, TERMINATED = 1, 2, 3, 4, 5, 7, 130, 143


@contextmanager
def exit_codes() -> Iterator[None]:
    """Turns ringtree's errors into one line and an exit code."""
    try:
        yield
    except SaidElsewhere as error:
        raise typer.Exit(USAGE if error.is_usage else FAILED) from None
    except UsageError as error:
        _stop(str(error), USAGE)
    except TooNoisy as error:
        _stop(str(error), TOO_NOISY)
    except RingtreeError as error:
        _stop(str(error), FAILED)
    except KeyboardInterrupt as interrupt:
        # The lab says here which launches are stored; one that comes from anywhere else says nothing.
        kept = f"; {interrupt}" if interrupt.args else ""
        what, code = ("terminated", TERMINATED) if isinstance(interrupt, Terminated) else ("interrupted", INTERRUPTED)
        _stop(f"{what}; all rank processes have ended{kept}", code)


def _stop(message: str, code: int) -> None:
    typer.echo(f"ringtree: {printable(message)}", err=True)
    raise typer.Exit(code)
