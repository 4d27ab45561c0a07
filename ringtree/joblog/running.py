"""Runs a job with its ranks recorded, unchanged: the command as it is, two variables more.

For: the folder, the job's process, and one clear line where no rank was recorded. Not for: the recording (tracer.py),
nor launching ranks: torchrun, srun or the script does.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

from ringtree.compiling import BuildError
from ringtree.errors import RingtreeError, UsageError, os_errors
from ringtree.joblog.environment import EVERY, FOLDER, TIME_EVERY
from ringtree.joblog.reading import FILES

_LOADED = "loaded-*"
_OWN_WAY = 10.0  # seconds


def run_traced(command: Sequence[str], folder: Path, optimizer_steps: int = 1, time_every: int | None = None) -> int:
    """Runs `command` with its ranks recorded into `folder`; returns its exit code, 128 + n where signal n ended it.

    Raises UsageError for a folder that holds something or a command that can't be started, BuildError before the job
    starts if the tracer can't be compiled or loaded, RingtreeError if no rank was recorded (the message says why).
    """
    with os_errors(f"can't make {folder}", "choose another with --out"):
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise UsageError(f"{folder} is not empty: choose another folder with --out, or remove it")
    _compile_tracer()
    variables = {FOLDER: str(folder.resolve()), EVERY: str(optimizer_steps), TIME_EVERY: str(time_every or "")}
    with os_errors(f"can't start {command[0]}"):
        job = subprocess.Popen(command, env={**os.environ, **variables})
    code = _wait(job)
    loaded = list(folder.glob(_LOADED))
    said = [marker.read_text() for marker in loaded]
    for marker in loaded:
        marker.unlink()
    if any(folder.glob(FILES)):
        return code
    folder.rmdir()
    ended = "" if code == 0 else f"the job failed with exit code {code}; "
    if not loaded:
        raise RingtreeError(
            f"{ended}none of its processes loaded PyTorch with ringtree in the same Python, so nothing was traced "
            "(install ringtree there; TORCH_DEVICE_BACKEND_AUTOLOAD=0 prevents it)"
        )
    if reasons := [reason for reason in said if reason]:
        raise RingtreeError(f"{ended}its processes could not be traced: {reasons[0]}")
    raise RingtreeError(f"{ended}it issued no collective of torch.distributed, so there is nothing to trace")


def _compile_tracer() -> None:
    """So that no rank has to, and a job that can't be traced does not start. Where this Python has no PyTorch, the
    job's ranks, which run another, see for themselves."""
    try:
        import torch  # noqa: F401
    except Exception:  # whatever a broken one raises
        return
    from ringtree.torch.building import load

    try:
        load()
    except ImportError as error:  # compiled, but for libraries that are not here
        raise BuildError(f"the job tracer can't be loaded: {' '.join(str(error).split())}") from error


def _wait(job: subprocess.Popen[bytes]) -> int:
    """Waits for the job. A terminal's Ctrl-C reaches it as well, and it may end in its own way; if it does not, the
    signal was for us alone, and is passed on."""
    try:
        code = job.wait()
    except KeyboardInterrupt:
        try:
            job.wait(_OWN_WAY)
        except subprocess.TimeoutExpired:
            job.send_signal(signal.SIGINT)
            job.wait()
        raise
    return code if code >= 0 else 128 - code
