"""A script for `ray job submit`: it starts `ringtree ray` on the cluster.

For: whoever submits and does not stay. Not for: what the driver does (ringtree.launchers.ray), or Ray's own options,
which stay on the command line of `ray job submit`.
"""

from __future__ import annotations

import shlex
from pathlib import Path

from ringtree.errors import UsageError
from ringtree.launchers.jobs.job import SECRET_FILE, Job, JobFile

# The client answers with a traceback where no head node runs.
REACH = (
    ["ray", "job", "list"],
    "start the cluster (ray start --head) or name it: RAY_API_SERVER_ADDRESS=http://<head>:8265",
)


def render(job: Job) -> list[JobFile]:
    """Returns the script. Each agent has a CPU for each of its ranks. After the job's time SIGTERM ends it in order.
    Runs come to ~/<name> of the node that the script runs on, as Ray clears away the folder of a job. Raises
    UsageError."""
    job.keep_runs_in_place()
    if job.host_names:
        raise UsageError("--hosts: Ray chooses the nodes: say how many")
    if SECRET_FILE in job.environment:
        raise UsageError(f"{SECRET_FILE}: `ringtree ray` makes a secret for each start: leave it out")
    placed = ["--agents", str(job.num_hosts), "--place", "STRICT_SPREAD", "--cpus", str(job.ranks_per_host)]
    for name, value in job.environment.items():
        placed += ["--env", f"{name}={value}"]
    driver = shlex.join([job.python or "python3", "-m", "ringtree", "ray", *placed])
    name = f"{job.name}.ray.sh"
    text = (
        "#!/bin/sh\n"
        "# Made by `ringtree launch --ray`. Submit it from its folder:\n"
        f"# ray job submit --working-dir . -- sh {name}\n"
        f"exec timeout --signal=TERM --kill-after=60 {job.seconds} \\\n"
        f'  {driver} --home "$HOME/{job.name}" -- \\\n'
        f"  {shlex.join(job.words)}\n"
    )
    return [JobFile(name, text)]


def submit(job: Job, files: list[Path]) -> list[str]:
    """Returns the command that hands the script over."""
    return ["ray", "job", "submit", "--working-dir", str(files[0].parent), "--", "sh", files[0].name]
