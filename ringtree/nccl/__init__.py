"""NCCL's facts by version: names, the grammar of its variables, support, what its algorithms move, constants.

    library_support("all_gather", "Tree", nccl_version="2.28.3").outcome
    limit("all_reduce", "NVLSTree", topology).arithmetic

For: readers of what NCCL prints, the audit, and whoever sets NCCL's variables. Not for: calling NCCL, reading files.
"""

from ringtree.nccl.grammar import Reading, Variable, read
from ringtree.nccl.limits import limit, why_not
from ringtree.nccl.steps import minimum_steps
from ringtree.nccl.support import Support, library_support

__all__ = ["Reading", "Support", "Variable", "library_support", "limit", "minimum_steps", "read", "why_not"]
