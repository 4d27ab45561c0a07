"""A playbook for hosts that are reached by ssh and have no scheduler, with its inventory, variables and secret.

For: `ringtree launch --ansible`. Not for: what the playbook does, step by step: that is playbook.yml beside this, which
is the same for every job.

Everything of the job stands in job.yml. A word is written as JSON with the tag !unsafe, so that Ansible does not take
braces in it for an expression.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from ringtree.errors import UsageError, os_errors
from ringtree.launchers.jobs.job import Job, JobFile
from ringtree.launchers.jobs.templates import text_of

PLAYBOOK, INVENTORY, VARIABLES, SECRET = "playbook.yml", "inventory.yml", "job.yml", "job.secret"
_LOCAL = ("localhost", "127.0.0.1")  # needs no ssh


def render(job: Job) -> list[JobFile]:
    """Returns the four files. Raises UsageError without names of hosts, or for a wheel that can't be read."""
    if not job.host_names:
        raise UsageError("Ansible needs the hosts by name: --hosts gpu[01-04] or --hosts a,b")
    job.keep_runs_in_place()
    return [
        JobFile(PLAYBOOK, text_of(PLAYBOOK)),
        JobFile(INVENTORY, _inventory(job)),
        JobFile(VARIABLES, _variables(job)),
        JobFile(SECRET, job.secret + "\n", is_secret=True),
    ]


def submit(job: Job, files: list[Path]) -> list[str]:
    """Returns the command that runs the playbook."""
    folder = files[0].parent
    return ["ansible-playbook", "-i", str(folder / INVENTORY), str(folder / PLAYBOOK)]


def _inventory(job: Job) -> str:
    lines = ["# Made by `ringtree launch --ansible`. The first host is where ranks meet and the run is stored."]
    lines += ["ringtree:", "  hosts:"]
    for rank, name in enumerate(job.host_names):
        local = ", ansible_connection: local" if name in _LOCAL else ""
        lines.append(f"    {json.dumps(name)}: {{ringtree_rank: {rank}{local}}}")
    return "\n".join(lines) + "\n"


def _variables(job: Job) -> str:
    variables = (f"{json.dumps(name)}: {_literal(value)}" for name, value in job.environment.items())
    values = {
        "job_name": _literal(job.name),
        "job_words": f"[{', '.join(map(_literal, job.words))}]",
        "job_seconds": str(job.seconds),
        "job_python": _literal(job.python or "python3"),
        "job_address": _literal(job.host_names[0].rpartition("@")[2]),
        "job_port": str(job.port),
        "job_variables": f"{{{', '.join(variables)}}}",
        "job_wheel": "null" if job.wheel is None else _literal(str(job.wheel.resolve())),
        "job_wheel_id": "null" if job.wheel is None else _literal(_checksum(job.wheel)),
    }
    heading = "# Made by `ringtree launch --ansible`. job_address: of the first host, as the others reach it.\n"
    return heading + "".join(f"{name}: {value}\n" for name, value in values.items())


def _checksum(wheel: Path) -> str:
    with os_errors(f"can't read the wheel {wheel}"):
        return hashlib.sha256(wheel.read_bytes()).hexdigest()[:12]


def _literal(word: str) -> str:
    return f"!unsafe {json.dumps(word, ensure_ascii=False)}"
