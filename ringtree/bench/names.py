"""What belongs to which of nccl-tests' collectives and element types in `ringtree bench`.

For: the options that a collective or a dtype has. Not for: the names themselves (ringtree.nccl.nccl_tests), what an arm
can do (ringtree.arms).
"""

from __future__ import annotations

from ringtree.traits import REDUCING

NAMES_OP = (*REDUCING, "sendrecv")  # nccl-tests prints -o there as well, although nothing is reduced

NOT_IN_NUMPY = ("bfloat16", "f8e4m3", "f8e5m2")  # called through PyTorch, and not part of `-d all`
ALL = "all"
