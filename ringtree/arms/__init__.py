"""Arms: what can run a collective in a comparison.

For: the engine, Gloo, schedules interpreted over torch.distributed and more, behind one protocol (arm.py): a file a
kind, and one table of them (registry.py). Not for: order, timing or statistics. PyTorch is imported only when an arm
that needs it is set up.
"""

from ringtree.arms.arm import Arm, Array, Setting
from ringtree.arms.kind import HOW_TO_GET_TORCH, ArmKind, Wish, lacks_torch
from ringtree.arms.program import Native, Program
from ringtree.arms.registry import (
    arms_written,
    boundary_of,
    check_arm,
    common_boundary,
    find_kind,
    has_arm,
    is_native,
    kind_named,
    kind_of,
    make_arm,
    native_of,
)

__all__ = [
    "HOW_TO_GET_TORCH",
    "Arm",
    "ArmKind",
    "Array",
    "Native",
    "Program",
    "Setting",
    "Wish",
    "arms_written",
    "boundary_of",
    "check_arm",
    "common_boundary",
    "find_kind",
    "has_arm",
    "is_native",
    "kind_named",
    "kind_of",
    "lacks_torch",
    "make_arm",
    "native_of",
]
