"""The element type that a replay's calls have: the traced one, or one of the same bytes where an arm lacks it.

For: bfloat16 as the job sent it wherever all arms can, else a stand-in that a note names. Not for: data and their check
(ringtree.measure).

All arms replay the same element type, so that they are compared in the same work.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ringtree.arms import common_boundary, kind_named
from ringtree.arms.kind import ArmKind, lacks_torch
from ringtree.errors import UsageError
from ringtree.joblog.script import Script
from ringtree.measure.exact_data import DTYPES
from ringtree.measure.narrow_floats import NARROW_FLOATS
from ringtree.measure.plan import label_arms
from ringtree.results import Boundary

# As wide, but complex128, of which each element is two: the bytes that are sent stay the same.
_INSTEAD = {
    "bool": "uint8",
    "int16": "float16",
    "uint16": "float16",
    "bfloat16": "float16",
    "uint32": "int32",
    "uint64": "int64",
    "complex32": "float32",
    "complex64": "float64",
    "complex128": "float64",
    **dict.fromkeys(("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu"), "uint8"),
}


def with_dtypes_of(script: Script, arms: Sequence[str]) -> tuple[Script, list[str]]:
    """Returns the script in element types that all arms have, and a line for each that is replaced. Raises UsageError
    where an arm has neither a type nor its stand-in."""
    kinds = {arm.label: kind_named(arm.name) for arm in label_arms(arms)}
    chosen = {dtype: _chosen(dtype, kinds) for dtype in dict.fromkeys(call.dtype for call in script.calls)}
    notes = [
        f"{dtype} is replayed as {other}, the same bytes: {_reason(dtype, kinds)}"
        for dtype, other in chosen.items()
        if other != dtype
    ]
    return replace(script, calls=[replace(call, dtype=chosen[call.dtype]) for call in script.calls]), notes


def boundary_for(script: Script, arms: Sequence[str]) -> Boundary:
    """Returns how the arms are called: through PyTorch where NumPy lacks an element type."""
    narrow = any(call.dtype in NARROW_FLOATS for call in script.calls)
    return "torch" if narrow else common_boundary(arms)


def _chosen(dtype: str, kinds: dict[str, ArmKind]) -> str:
    for candidate in (dtype, _INSTEAD.get(dtype, dtype)):
        if all(_has(kind, candidate) for kind in kinds.values()):
            return candidate
    raise UsageError(f"replay can't run {dtype}: {_reason(dtype, kinds)}")


def _has(kind: ArmKind, dtype: str) -> bool:
    through_torch = "torch" in kind.boundaries and lacks_torch() is None
    return dtype in kind.dtypes and (dtype in DTYPES or (dtype in NARROW_FLOATS and through_torch))


def _reason(dtype: str, kinds: dict[str, ArmKind]) -> str:
    if dtype not in (*DTYPES, *NARROW_FLOATS):
        return f"its results can't be checked in {dtype}"
    return f"arm {next(label for label, kind in kinds.items() if not _has(kind, dtype))} lacks it"
