"""A manifest for Kubernetes: an indexed Job with a pod a host, the Service by which pods find each other, their secret.

For: `ringtree launch --k8s`. Not for: what a pod is told (ringtree.launchers.kubernetes), or JobSets, which some
clusters lack and which one Job of equal pods does not need.

A value is quoted as JSON, which is YAML too. Kubernetes itself replaces $(NAME) in arguments and values, and $$ by $.
"""

from __future__ import annotations

import json
from pathlib import Path

from ringtree.errors import UsageError
from ringtree.launchers.jobs.job import SECRET_FILE, Job, JobFile
from ringtree.launchers.jobs.templates import filled

_SECRET_IN_POD = "/tmp/ringtree.secret"


def render(job: Job) -> list[JobFile]:
    """Returns the manifest. Raises UsageError without an image, and for names of hosts, which the cluster chooses."""
    if job.image is None:
        raise UsageError("a pod needs a container image that has ringtree: name one with --image")
    if job.host_names:
        raise UsageError("Kubernetes chooses the hosts: give their number, as --hosts 4")
    job.keep_runs_in_place()
    python = job.python or "python3"
    variables = {
        "WORLD_SIZE": str(job.num_hosts),
        "MASTER_ADDR": f"{job.name}-0.{job.name}",
        "MASTER_PORT": str(job.port),
        SECRET_FILE: _SECRET_IN_POD,
        **job.environment,
    }
    text = filled(
        "kubernetes.yaml",
        name=job.name,
        num_hosts=str(job.num_hosts),
        seconds=str(job.seconds),
        image=json.dumps(job.image, ensure_ascii=False),
        cores=str(job.ranks_per_host),
        secret=job.secret,
        secret_in_pod=_SECRET_IN_POD,
        words="".join(f"            - {_literal(word)}\n" for word in (python, "-m", "ringtree", *job.words)),
        variables="".join(
            f"            - {{name: {json.dumps(name)}, value: {_literal(value)}}}\n"
            for name, value in variables.items()
        ),
        runs=f"persistentVolumeClaim: {{claimName: {json.dumps(job.claim)}}}" if job.claim else "emptyDir: {}",
    )
    return [JobFile(f"{job.name}.yaml", text, is_secret=True)]


def submit(job: Job, files: list[Path]) -> list[str]:
    """Returns the command that hands the manifest over."""
    return ["kubectl", "apply", "-f", str(files[0])]


def _literal(word: str) -> str:
    return json.dumps(word.replace("$", "$$"), ensure_ascii=False)
