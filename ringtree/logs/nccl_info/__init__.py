"""Reading NCCL_DEBUG lines.

For: the communicators, decisions, calls and warnings of a log. Not for: nccl-tests' tables between those lines.
"""

from ringtree.logs.nccl_info.reader import NcclInfoReader

__all__ = ["NcclInfoReader"]
