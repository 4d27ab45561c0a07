"""Backends: what can run an arm of a comparison.

For: the engine, Gloo and schedules interpreted over torch.distributed, behind one protocol. Not for: order, timing or
statistics. PyTorch is imported only when an arm that needs it is made.
"""

from ringtree.backends.arm import Arm, Array, Operands, Setting
from ringtree.backends.registry import (
    HOW_TO_GET_TORCH,
    arm_names,
    arm_ops,
    check_arm,
    has_out_of_place,
    make_arm,
    needs_torch,
    runs_emulated,
    runs_on_hosts,
    why_unavailable,
)

__all__ = [
    "HOW_TO_GET_TORCH",
    "Arm",
    "Array",
    "Operands",
    "Setting",
    "arm_names",
    "arm_ops",
    "check_arm",
    "has_out_of_place",
    "make_arm",
    "needs_torch",
    "runs_emulated",
    "runs_on_hosts",
    "why_unavailable",
]
