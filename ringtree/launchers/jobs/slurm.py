"""A file for sbatch: one agent a node, a secret of its own, and SIGTERM in time.

For: `ringtree launch --slurm`. Not for: a running step's variables (ringtree.launchers.slurm).
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from ringtree.launchers.jobs.job import Job, JobFile
from ringtree.launchers.jobs.templates import filled

_OWN_SECRET = """\
# Who meets must know a secret: a file that all nodes see, as they see this folder, and that goes with the job.
export RINGTREE_SECRET_FILE="$PWD/@name-$SLURM_JOB_ID.secret"
trap 'rm -f "$RINGTREE_SECRET_FILE"' EXIT
(umask 077 && head -c 32 /dev/urandom | od -An -v -tx1 | tr -d ' \\n' > "$RINGTREE_SECRET_FILE")
"""


_RESUMING = "# Where it ended too early, `sbatch FILE --resume last` goes on with the run that was stored last.\n"


def render(job: Job) -> list[JobFile]:
    """Returns the batch script."""
    words = [shlex.quote(word) for word in job.words]
    text = filled(
        "slurm.sbatch",
        name=job.name,
        num_hosts=str(job.num_hosts),
        resuming=_RESUMING if job.words[0] in ("compare", "train") else "",
        nodelist=f"#SBATCH --nodelist={','.join(job.host_names)}\n" if job.host_names else "",
        time=_time(job.seconds),
        exports="".join(f"export {name}={shlex.quote(value)}\n" for name, value in job.environment.items()),
        secret=_OWN_SECRET.replace("@name", job.name) if job.makes_secret else "",
        python=shlex.quote(job.python or sys.executable),
        command=words[0],
        options=" ".join(words[1:]),
    )
    return [JobFile(f"{job.name}.sbatch", text)]


def submit(job: Job, files: list[Path]) -> list[str]:
    """Returns the command that hands the script over."""
    return ["sbatch", str(files[0])]


def _time(seconds: int) -> str:
    """As Slurm counts: whole minutes, rounded up."""
    minutes = -(-seconds // 60)
    return f"{minutes // 60:02d}:{minutes % 60:02d}:00"
