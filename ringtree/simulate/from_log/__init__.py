"""A cluster from what a machine printed: `nvidia-smi topo -m`, NCCL's topology XML, the lines of NCCL_DEBUG.

For: `ringtree cluster from LOG`. Not for: reading these formats (ringtree.logs), presets (ringtree.simulate.cluster).

What the log says counts; what it does not say is looked up in the hardware catalogue or assumed, and told.
"""

from ringtree.simulate.from_log.describing import Described, describe_log

__all__ = ["Described", "describe_log"]
