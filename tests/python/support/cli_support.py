"""The command in this process: invoke it, see that it refuses in one line, or let it compare without a new process,
whose imports take a second. Not for: commands that are killed, or found by their pid (lab_support.py)."""

from __future__ import annotations

import pytest
from hanging import ended_after
from typer.testing import CliRunner, Result

from ringtree.cli import app
from ringtree.measure import request

LIMIT_S = 300  # of a comparison


def invoke(*arguments: object, stdin: str | None = None, **environment: str) -> Result:
    """Runs the command to its end. Raises what it raises but does not print: a bug, with its traceback."""
    return CliRunner().invoke(
        app, [str(argument) for argument in arguments], input=stdin, env=environment, catch_exceptions=False
    )


def invoke_quickly(*arguments: object) -> Result:
    """As invoke(), of a comparison whose times nobody looks at (quick_ringtree.py)."""
    with pytest.MonkeyPatch.context() as patch, ended_after(LIMIT_S):
        patch.setattr(request, "DEFAULT_SECONDS", 0.0)
        return invoke(*arguments)


def assert_refused(result: Result, said: str) -> None:
    """A mistake of the user's: exit code 2, one line that says what to do, nothing on standard output."""
    assert result.exit_code == 2
    (line,) = result.stderr.strip().splitlines()
    assert line.startswith("ringtree: ")
    assert said in line
    assert result.stdout == ""
