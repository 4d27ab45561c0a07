"""What nccl-tests and rccl-tests print: one concept a file, from lines (markers, scan) to tables (conclude).

For: reader.NcclTestsReader. Not for: their JSON (ringtree.logs.nccltests_json).
"""

from ringtree.logs.nccltests.reader import NcclTestsReader

__all__ = ["NcclTestsReader"]
