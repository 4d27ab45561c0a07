"""What hardware permits: a catalogue of GPUs, links, networks and systems with sources, and the limits that follow.

    gpu = match_gpu("NVIDIA H100 80GB HBM3").gpu
    (system,) = match_system(gpu, gpus_per_host=8, hints="p5.48xlarge")
    highest("all_reduce", topology_of(system, gpu, num_hosts=2)).arithmetic

For: holding measured rates against what cannot be exceeded (ringtree.audit), `ringtree hardware`. Not for: predicting
times (ringtree.model), NCCL's algorithms (ringtree.nccl), probing this machine (ringtree.probe).
"""

from ringtree.hardware.entries import Catalogue, Gpu, Link, Network, Source, Switch, System
from ringtree.hardware.limit_records import Limit, LinkUse, Traffic
from ringtree.hardware.limits import highest, limit, schedule_limit
from ringtree.hardware.loading import load_catalogue
from ringtree.hardware.matching import GpuMatch, is_known_hint, match_gpu, match_system, named_systems
from ringtree.hardware.topology import Topology, topology_of, topology_of_gpu

__all__ = [
    "Catalogue",
    "Gpu",
    "GpuMatch",
    "Limit",
    "Link",
    "LinkUse",
    "Network",
    "Source",
    "Switch",
    "System",
    "Topology",
    "Traffic",
    "highest",
    "is_known_hint",
    "limit",
    "load_catalogue",
    "match_gpu",
    "match_system",
    "named_systems",
    "schedule_limit",
    "topology_of",
    "topology_of_gpu",
]
