"""Job files: what a cluster's own scheduler or tool needs to start ringtree on several hosts.

For: the table of kinds. To add one: a module here with `render(job: Job) -> list[JobFile]` and, where the cluster has a
client, `submit(job: Job, files: list[Path]) -> list[str]` (its command), and a line below; `ringtree launch` then has
an option of that name. A client that answers no mistake in a line has `reach`, tried first. Not for: running anything
(ringtree.cli.launch), or what started processes are told (ringtree.launchers).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from ringtree.launchers.jobs import ansible, kubernetes, ray, slurm
from ringtree.launchers.jobs.job import Job, JobFile

__all__ = ["KINDS", "Job", "JobFile", "Kind"]


class Kind(NamedTuple):
    """`summary`: of its option; `submit`: None: there is no client to hand the files to. `uses`: fields of a job that
    not all kinds have a use for: port, image, claim, wheel. `reach`: what to run to see whether the client reaches its
    cluster, and what to do where it does not; None: the client itself says that in a line."""

    summary: str
    render: Callable[[Job], list[JobFile]]
    submit: Callable[[Job, list[Path]], list[str]] | None = None
    uses: tuple[str, ...] = ()
    reach: tuple[list[str], str] | None = None


KINDS = {
    "slurm": Kind("A batch script for Slurm's sbatch.", slurm.render, slurm.submit),
    "k8s": Kind(
        "A manifest for Kubernetes: an indexed Job.",
        kubernetes.render,
        kubernetes.submit,
        uses=("port", "image", "claim"),
    ),
    "ray": Kind("A script for `ray job submit`.", ray.render, ray.submit, reach=ray.REACH),
    "ansible": Kind(
        "A playbook and its inventory, for hosts that you reach by ssh.",
        ansible.render,
        ansible.submit,
        uses=("port", "wheel"),
    ),
}
