"""The command in this process, for tests of options and output: invoke it, or see that it refuses in one line."""

from __future__ import annotations

from typer.testing import CliRunner, Result

from ringtree.cli import app


def invoke(*arguments: object, stdin: str | None = None, **environment: str) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin, env=environment)


def assert_refused(result: Result, said: str) -> None:
    """A mistake of the user's: exit code 2, one line that says what to do, nothing on standard output."""
    assert result.exit_code == 2
    (line,) = result.stderr.strip().splitlines()
    assert line.startswith("ringtree: ")
    assert said in line
    assert result.stdout == ""
