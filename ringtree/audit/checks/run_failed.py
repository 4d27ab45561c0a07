"""Runs that say themselves that they failed.

For: errors of the benchmark, its launcher and NCCL. Not for: output that merely stops (rows_missing.py), results that
are wrong (wrong_results.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from ringtree.audit.findings import Finding, Severity
from ringtree.audit.material import Material
from ringtree.audit.rule import FileCheck, Rule
from ringtree.logs import FAILED, warns_of_failure
from ringtree.logs.nccl_info.shapes import NcclWarnings

RUN_FAILED = Rule(
    code="run-failed",
    severity=Severity.WARNING,
    title="the run says that it failed",
    means="The benchmark, its launcher or NCCL reports an error that ends a run. Rows before it were printed by a "
    "machine that then failed, those after it may be of another try, and what is missing is missing for a reason.",
    settles="the run again until it ends without an error; with NCCL_DEBUG=WARN NCCL says where it failed",
    example="line 31: node-1: Test NCCL failure common.cu:401 'unhandled system error (run with NCCL_DEBUG=INFO for "
    "details) / ' (3 such lines)",
)
_MAX_TEXT = 160


def check(material: Material) -> Iterator[Finding]:
    """Yields one finding for a file: the first line that says so, and how many do."""
    lines = [
        (number, text, skipped.num_lines if first == 0 else 0)
        for skipped in material.skipped
        if skipped.reason == FAILED
        for first, (number, text) in enumerate(skipped.examples)
    ]
    for document in material.documents:
        if document.kind == "nccl_warnings":
            warnings = NcclWarnings.model_validate(document.data).warnings
            lines += [(one.line, f"NCCL WARN {one.text}", one.num) for one in warnings if warns_of_failure(one.text)]
    if lines:
        number, text, _ = min(lines)
        short = " ".join(text.split())
        short = short if len(short) <= _MAX_TEXT else f"{short[:_MAX_TEXT]} …"
        num = sum(count for *_, count in lines)
        more = f" ({num} such lines)" if num > 1 else ""
        yield RUN_FAILED.found(None, f"line {number}: {short}{more}", file=material.file)


CHECK = FileCheck((RUN_FAILED,), check)
