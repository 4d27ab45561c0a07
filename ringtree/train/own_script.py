"""From a user's script, as it stands after --, to what is planned of it.

For: every check that can be made before it is started; each failed check is one line. Not for: built-in models
(request.py), starting the script (script_set.py), reading its output (metric.py).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ringtree.errors import UsageError, os_errors
from ringtree.results import TrainedModel, TrainingPlan
from ringtree.train.metric import parse_metric
from ringtree.train.request_record import OF_MODELS, TrainRequest

# What starts ranks of its own, by the name of the command, of a subcommand or of the module after -m.
_LAUNCHERS = frozenset(
    ("torchrun", "mpirun", "mpiexec", "mpiexec.hydra", "orterun", "prterun", "prun", "srun", "jsrun", "aprun",
     "palsrun", "deepspeed", "horovodrun", "accelerate launch", "flux run", "flux submit", "composer", "fabric run")
)  # fmt: skip
_LAUNCHER_MODULES = frozenset(
    ("torch.distributed.run", "torch.distributed.launch", "accelerate.commands.launch", "deepspeed.launcher.runner")
)
# What runs the command that follows it, and takes options before it.
_WRAPPERS = frozenset(
    ("env", "nice", "numactl", "taskset", "stdbuf", "time", "timeout", "uv", "run", "poetry", "conda")
)


def script_plan(request: TrainRequest, common: dict[str, Any]) -> TrainingPlan:
    """Returns the plan; `common`: the fields of any training. Raises UsageError for what can't be done."""
    said = request.said("models", "scale", *OF_MODELS, "tokens")
    if said:
        options = " ".join(f"--{name}" for name in said)
        raise UsageError(f"leave out {options}, meant for the built-in models: the script after -- has its own")
    launcher = launcher_of(request.command)
    if launcher is not None:
        script = _script_file(request.command) or "my_train.py"
        raise UsageError(
            f"{launcher} after -- would start ranks in each rank: give the script itself and its ranks by --ranks, as "
            f"in --ranks 2 -- python {script}"
        )
    if request.metric is not None:
        parse_metric(request.metric)
    name = Path(_script_file(request.command) or request.command[0]).name
    return TrainingPlan(
        models=[TrainedModel(name=name, parameters=0)],
        strategy="script",
        command=list(request.command),
        script_sha256=_digest(request.command),
        metric=request.metric,
        sequence=1,
        **common,
    )


def check_unchanged(training: TrainingPlan, run_id: str) -> None:
    """Raises UsageError if the script of a stored run is another now: its launches can't be compared with new ones."""
    if training.script_sha256 is not None and _digest(training.command) != training.script_sha256:
        raise UsageError(
            f"{run_id} can't go on: {training.models[0].name} is not what it was when the run began; bring it back, or "
            "start a new run"
        )


def launcher_of(command: Sequence[str]) -> str | None:
    """Returns the launcher that a command starts its ranks with, as it is written there; None: none that is known."""
    names = [Path(word).name for word in command]
    looks_on = names[0].startswith("python") or names[0] in _WRAPPERS
    for name, following in zip(names, [*command[1:], ""], strict=True):
        if name == "-m":
            return f"-m {following}" if following in _LAUNCHER_MODULES else None
        for launcher in (name, f"{name} {following}"):
            if launcher in _LAUNCHERS:
                return launcher
        if name.endswith(".py") or name == "-c" or not looks_on:
            return None
    return None


def _digest(command: Sequence[str]) -> str | None:
    """Of the script's file; None where the command names none, as python -m, or the shell looks for it in PATH."""
    file = Path(_script_file(command) or command[0])
    if file.name.startswith("python") or not file.is_file():
        return None
    with os_errors(f"can't read {file}"):
        return hashlib.sha256(file.read_bytes()).hexdigest()


def _script_file(command: Sequence[str]) -> str | None:
    return next((word for word in command if word.endswith(".py")), None)
