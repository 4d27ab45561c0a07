"""Kubernetes' indexed Jobs and JobSets: JOB_COMPLETION_INDEX, with the number of pods in WORLD_SIZE.

For: one process a pod, numbered by its index. Not for: Kubeflow's PyTorchJob, which sets RANK (by_hand.py).

Kubernetes tells a pod its index, but neither how many there are nor under which service they are found: the manifest
sets WORLD_SIZE (to .spec.completions) and MASTER_ADDR. Without WORLD_SIZE the index counts pods that know nothing of
each other. Read as its documentation describes it; not tried on a cluster.
"""

from __future__ import annotations

from ringtree.launchers.identity import Finding, Identity, Surroundings


def read(surroundings: Surroundings) -> Identity | None:
    """Returns what an indexed Job says, None if this is not one, or WORLD_SIZE is not set."""
    environment = surroundings.environment
    found = Finding("Kubernetes", environment)
    if not found.has("JOB_COMPLETION_INDEX", "WORLD_SIZE") or found.has("RANK"):
        return None
    found.number("rank", "JOB_COMPLETION_INDEX")
    pods = found.number("world_size", "WORLD_SIZE")
    found.take("num_hosts", pods, "WORLD_SIZE, which counts pods")
    found.take("local_rank", 0, "a process a pod")
    found.take("local_size", 1, "a process a pod")
    if pod := environment.get("HOSTNAME"):  # <name of the job>-<index>
        found.take("job", pod.removesuffix(f"-{environment['JOB_COMPLETION_INDEX']}"), "HOSTNAME")
    return found.identity()
