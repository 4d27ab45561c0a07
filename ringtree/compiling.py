"""Runs the compiler: one at a time for a user, and never longer than the process that asked for it.

For: what is compiled where it runs (building.py). Not for: what that is, or where it is kept.

A job that is killed while it compiles must leave nothing behind: a compiler takes 1.6 GB, and each retry of the job
would start another. So the compiler runs in a process group of its own, with a watcher that holds one end of a pipe:
when the process that asked is gone, however it went, the pipe ends and the watcher kills the group. The lock stays with
the group until then.
"""

from __future__ import annotations

import fcntl
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ringtree.errors import RingtreeError

# Standard input ends with the process that asked. The whole group is killed then, this shell with it.
_TIED = """
exec 3<&0 </dev/null
"$@" 3<&- &
compiler=$!
(read -r _ <&3; kill -KILL -$$) &
watcher=$!
wait $compiler
status=$?
kill -KILL $watcher
exit $status
"""


class BuildError(RingtreeError):
    """Something could not be compiled; the text says what is missing."""


@contextmanager
def compiler_lock(folder: Path, hint: str = "") -> Iterator[int]:
    """Waits until no other process of this user compiles into `folder`; yields the lock's descriptor."""
    with open(folder / "compiler.lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say("waiting for another process that compiles", hint)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock.fileno()


def compile_file(command: Sequence[str], target: Path, lock: int, what: str, hint: str = "") -> None:
    """Makes `target` with the compiler's `command`; it appears as a whole or not at all. Raises BuildError.

    `what` is said meanwhile, with a `hint` how to have it done beforehand; `lock`: of compiler_lock().
    """
    _say(f"compiling {what}, once", hint)
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        made = Path(scratch) / target.name
        status, errors = _run_tied([*command, "-o", str(made)], lock)
        if status != 0:
            raise BuildError(f"{what} could not be compiled with\n  {shlex.join(command)}\n{errors[-4000:]}")
        made.chmod(0o755)  # whatever the umask says: other users may load what root has compiled
        made.replace(target)  # whoever finds it finds all of it


def _run_tied(command: Sequence[str], lock: int) -> tuple[int, str]:
    """Returns the exit status of `command` and what it wrote as errors; it ends when this process does."""
    end, alive = os.pipe()
    try:
        compiler = subprocess.Popen(
            ["/bin/sh", "-c", _TIED, "ringtree", *command],
            stdin=end,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            pass_fds=(lock,),
            start_new_session=True,
            text=True,
        )
        os.close(end)
        _, errors = compiler.communicate()
        return compiler.returncode, errors
    finally:
        os.close(alive)


def _say(what: str, hint: str) -> None:
    print(f"ringtree: {what}{hint and f' ({hint})'}", file=sys.stderr, flush=True)
