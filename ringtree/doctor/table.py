"""The probes: in which section each stands, and whose needs it is about.

For: adding a probe: its function in probes/, its line here. Not for: what a probe does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from ringtree.arms.kind import ArmKind
from ringtree.arms.mpi_libraries import MpiProgram
from ringtree.doctor.host import Host
from ringtree.doctor.probes import (
    arms,
    cgroup,
    clock,
    cores,
    fabric,
    gdr,
    gpus,
    infiniband,
    interfaces,
    kernel,
    launcher,
    limits,
    load,
    memory,
    mpi,
    nccl_libraries,
    software,
    topology,
    variables,
)
from ringtree.doctor.records import Fact

ALL, GPU, HOSTS, MPI, TORCH = "all", "gpu", "several hosts", "mpi", "torch"


class Probe(NamedTuple):
    """One thing that is looked at. `needs`: arms that have one of these care."""

    section: str
    look: Callable[[Host], Iterator[Fact]]
    needs: frozenset[str] = frozenset((ALL,))


def _for(*needs: str) -> frozenset[str]:
    return frozenset(needs)


PROBES: tuple[Probe, ...] = (
    Probe("cores", cores.processor),
    Probe("cores", cores.cores),
    Probe("cores", cores.threads),
    Probe("cores", cores.numa),
    Probe("cores", cgroup.cpu_quota),
    Probe("cores", clock.governor),
    Probe("cores", clock.clock_source),
    Probe("cores", load.average),
    Probe("cores", load.busy),
    Probe("memory", memory.memory),
    Probe("memory", cgroup.memory_limit),
    Probe("memory", memory.huge_pages),
    Probe("memory", memory.shared_memory, _for(MPI, GPU)),
    Probe("system", kernel.kernel),
    Probe("system", kernel.container),
    Probe("system", kernel.ptrace, _for(MPI)),
    Probe("system", limits.locked_memory, _for(GPU, MPI)),
    Probe("system", limits.open_files),
    Probe("system", limits.processes),
    Probe("network", interfaces.interfaces, _for(HOSTS)),
    Probe("network", interfaces.chosen, _for(HOSTS)),
    Probe("network", infiniband.ports, _for(GPU)),
    Probe("network", infiniband.slots, _for(GPU)),
    Probe("network", infiniband.firmware, _for(GPU)),
    Probe("network", infiniband.devices_node, _for(GPU)),
    Probe("GPUs", gpus.gpus, _for(GPU)),
    Probe("GPUs", gpus.driver, _for(GPU)),
    Probe("GPUs", gpus.slots, _for(GPU)),
    Probe("GPUs", fabric.fabric_manager, _for(GPU)),
    Probe("GPUs", topology.links, _for(GPU)),
    Probe("GPUs", topology.cores, _for(GPU)),
    Probe("GPUs", topology.nics, _for(GPU)),
    Probe("GPUs", topology.numa, _for(GPU)),
    Probe("GPUs", gdr.rdma, _for(GPU)),
    Probe("GPUs", gdr.iommu, _for(GPU)),
    Probe("GPUs", gdr.acs, _for(GPU)),
    Probe("software", software.versions),
    Probe("software", software.pytorch, _for(TORCH)),
    Probe("software", software.compilers, _for(TORCH, MPI)),
    Probe("software", nccl_libraries.called, _for(GPU)),
    Probe("software", nccl_libraries.copies, _for(GPU)),
    Probe("software", mpi.libraries, _for(MPI)),
    Probe("software", mpi.inside_a_job, _for(MPI)),
    Probe("launcher", launcher.launcher),
    Probe("variables", variables.nccl_variables, _for(GPU)),
    Probe("variables", variables.others),
    Probe("arms", arms.arms),
)


def needs_of(kind: ArmKind) -> frozenset[str]:
    """Returns what arms of a kind care for."""
    native = kind.native(kind.written[0], None) if kind.written else None
    return frozenset(
        need
        for need, has in (
            (ALL, True),
            (GPU, kind.device == "cuda"),
            (HOSTS, bool(kind.written) and kind.several_hosts(kind.written[0])),
            (MPI, native is not None and isinstance(native.program, MpiProgram)),
            (TORCH, "torch" in kind.boundaries or "torch" in kind.heads),
        )
        if has
    )
