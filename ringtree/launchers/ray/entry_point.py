"""The entry point of a Ray job: a script for `ray job submit`, which starts `ringtree ray` on the cluster.

For: whoever submits and does not stay. Not for: what the driver does (job.py), or Ray's own options, which stay as they
are on the command line of `ray job submit`.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence


def entry_point(
    words: Sequence[str],
    num_agents: int,
    name: str = "ringtree",
    seconds: int = 1800,
    python: str = "python3",
    environment: Mapping[str, str] | None = None,
    cpus: float = 1,
) -> str:
    """Returns the script. `words`: of ringtree ("compare", "--ranks", …); `num_agents`: one a node; `seconds`: the most
    that they may take, after which SIGTERM ends them in order; `cpus`: of each agent. Runs come to ~/<name> of the node
    that the script runs on, as Ray clears away the folder of a job."""
    exports = "".join(f"export {key}={shlex.quote(value)}\n" for key, value in (environment or {}).items())
    command = shlex.join(
        [
            python,
            "-m",
            "ringtree",
            "ray",
            "--agents",
            str(num_agents),
            "--place",
            "STRICT_SPREAD",
            "--cpus",
            f"{cpus:g}",
        ]
    )
    file = f"{name}.ray.sh"
    return (
        "#!/bin/sh\n"
        f"# Submit it from the folder that it is in: ray job submit --working-dir . -- sh {file}\n"
        "set -eu\n"
        f"{exports}"
        f"exec timeout --signal=TERM --kill-after=60 {seconds} \\\n"
        f'  {command} --home "$HOME/{name}" -- \\\n'
        f"  {shlex.join(words)}\n"
    )
