"""Runs that say themselves that they failed.

For: errors of the benchmark, its launcher and NCCL. Not for: output that merely stops (rows_missing.py), results that
are wrong (wrong_results.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from ringtree.audit.findings import Finding
from ringtree.audit.material import Material
from ringtree.audit.rule import of_file, warning
from ringtree.logs import FAILED, warns_of_failure
from ringtree.logs.nccl_info.shapes import NcclWarnings

RUN_FAILED = warning(
    "run-failed",
    "the log reports that its run failed",
    "a rerun that ends without an error; with NCCL_DEBUG=WARN NCCL says where it failed",
)
_MAX_TEXT = 160


@of_file(RUN_FAILED)
def check(material: Material) -> Iterator[Finding]:
    """Yields one finding for a file: the first line that says so, and how many do."""
    failed = [(skipped, *one) for skipped in material.skipped if skipped.reason == FAILED for one in skipped.examples]
    lines = [(number, text, one.num_lines if (number, text) == one.examples[0] else 0) for one, number, text in failed]
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
        yield RUN_FAILED.found(material, f"line {number}: {short}{more}")
