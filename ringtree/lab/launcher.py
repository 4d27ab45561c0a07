"""The command that starts the ranks of a launch somewhere else: a template of the user's launcher.

For: `--launcher "srun --ntasks {ranks} …"`: checked, stored with the plan and shown by `--dry-run`. Not for: running
it: ranks of several hosts need links between hosts, which the engine does not have yet, so only local launches run.

Placeholders: {ranks}, the number of ranks; {command}, what each of them runs (appended if it is not there).
"""

from __future__ import annotations

import re
import shlex

from ringtree.errors import UsageError
from ringtree.lab.environment import without_secrets

COMMAND = ("python", "-m", "ringtree.lab.rank_process")
_KNOWN = ("ranks", "command")


def check_launcher(template: str) -> str:
    """Returns `template` if it can be used. Raises UsageError with one line if it can't."""
    unknown = [name for name in re.findall(r"\{([^{}]*)\}", template) if name not in _KNOWN]
    if unknown:
        raise UsageError(f"--launcher has an unknown placeholder {{{unknown[0]}}}; there are {{ranks}} and {{command}}")
    if without_secrets(template) != template:
        raise UsageError("--launcher seems to hold a secret, and it is stored with the run: pass it by the environment")
    try:
        words = shlex.split(template)
    except ValueError as error:
        raise UsageError(f"--launcher {template!r} can't be split into words: {error}") from error
    if not words or words[0] in ("{ranks}", "{command}"):
        raise UsageError("--launcher is empty: write a command, for example 'srun --ntasks {ranks}'")
    return template


def launcher_command(template: str, num_ranks: int) -> list[str]:
    """Returns the words of the command that would start the ranks of one launch."""
    words: list[str] = []
    for word in shlex.split(template):
        words += COMMAND if word == "{command}" else [word.replace("{ranks}", str(num_ranks))]
    return words if "{command}" in shlex.split(template) else [*words, *COMMAND]
