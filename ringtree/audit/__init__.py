"""The audit: what a log really says, by arithmetic.

For: holding other people's figures against themselves and against what hardware permits. Not for: reading them
(ringtree.logs), rates and limits of hardware (ringtree.hardware), comparing runs (ringtree.judge).
"""

from ringtree.audit.audit_run import AuditRun, audit_files
from ringtree.audit.checks import RULES
from ringtree.audit.checks.limits import Ceiling, ceiling, rates
from ringtree.audit.executed import Executed
from ringtree.audit.findings import AUDIT_FORMAT, Audit, FileReport, Finding, Severity
from ringtree.audit.material import Subject
from ringtree.audit.setup import Setup

__all__ = [
    "AUDIT_FORMAT",
    "RULES",
    "Audit",
    "AuditRun",
    "Ceiling",
    "Executed",
    "FileReport",
    "Finding",
    "Setup",
    "Severity",
    "Subject",
    "audit_files",
    "ceiling",
    "rates",
]
