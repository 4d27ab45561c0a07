"""Runs with a plan of MSCCL's: which columns measure it?

For: settings that hand the library a plan (an XML file) of its own. Not for: halves that visibly ran different things
(sides.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from ringtree.audit.findings import Finding, Severity
from ringtree.audit.material import Subject
from ringtree.audit.rule import of_table, warning

FORCED_PLAN = warning(
    "forced-plan",
    "a plan was handed to the library, and not every column measures it",
    "the plan's XML: its inplace, outofplace, minBytes and maxBytes",
)
_FILES = ("MSCCL_XML_FILES", "MSCCL_XML_FILE", "MSCCL_ALGO_FILE", "MSCCL_ALGO_DIR", "MSCCLPP_EXECUTION_PLAN_DIR")
_ALLOWED = ("RCCL_MSCCL_ENABLE", "RCCL_MSCCL_FORCE_ENABLE", "MSCCL_ENABLE")


@of_table(FORCED_PLAN)
def check(subject: Subject) -> Iterator[Finding]:
    """Yields a finding if the settings name plans, or allow them."""
    environment = subject.table.environment
    named = [name for name in _FILES if environment.get(name)]
    allowed = [name for name in _ALLOWED if environment.get(name, "0") not in ("0", "")]
    if "msccl" in environment.get("NCCL_ALGO", "").lower():
        allowed.append("NCCL_ALGO")
    for name in (named or allowed)[:1]:
        yield FORCED_PLAN.found(
            subject,
            f"{name}={environment[name]}",
            subject.table.rows,
            severity=None if named else Severity.INFO,
            title="" if named else "the library may run plans in place of its algorithms",
        )
