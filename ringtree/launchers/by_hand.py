"""RANK and WORLD_SIZE that no torchrun has set: by hand, by scripts, by Ray (`ringtree ray`, Ray Train), by Kubeflow's
PyTorchJob, by our own job files.

For: the variables that torch.distributed made common. Not for: torchrun itself (torchrun.py), or an indexed Job without
them (kubernetes.py).

Kubeflow numbers pods: in a pod, without LOCAL_WORLD_SIZE, each rank is on a host of its own.
"""

from __future__ import annotations

from ringtree.launchers.identity import Finding, Identity, Surroundings

NAME = "the environment"
RAY, KUBEFLOW = "Ray", "Kubeflow"
LAUNCHER, JOB = "RINGTREE_LAUNCHER", "RINGTREE_JOB"  # what job files of `ringtree launch` call themselves


def read(surroundings: Surroundings) -> Identity | None:
    """Returns what the variables say, None if they are not set or torchrun's."""
    environment = surroundings.environment
    in_pod = bool(environment.get("KUBERNETES_SERVICE_HOST"))
    of_pods = in_pod and bool(environment.get("MASTER_ADDR")) and not environment.get("LOCAL_WORLD_SIZE")
    name = RAY if environment.get("RAY_JOB_ID") else KUBEFLOW if of_pods else environment.get(LAUNCHER, NAME)
    found = Finding(name, environment)
    if not found.has("RANK", "WORLD_SIZE") or found.has("TORCHELASTIC_RUN_ID"):
        return None
    found.number("rank", "RANK")
    num_pods = found.number("world_size", "WORLD_SIZE")
    if name == KUBEFLOW:
        found.take("num_hosts", num_pods, "WORLD_SIZE, which counts pods")
        found.take("local_rank", 0, "a process a pod")
        found.take("local_size", 1, "a process a pod")
    else:
        found.number("local_rank", "LOCAL_RANK")
        found.number("local_size", "LOCAL_WORLD_SIZE")
        found.number("host_rank", "NODE_RANK", "GROUP_RANK")
    found.text("job", "RAY_JOB_ID", JOB)
    return found.identity()
