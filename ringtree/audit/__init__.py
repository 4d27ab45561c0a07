"""The audit: what a log really says, by arithmetic.

For: holding other people's figures against themselves and against what hardware permits. Not for: reading them
(ringtree.logs), rates and limits of hardware (ringtree.hardware), comparing runs (ringtree.lab).
"""

from ringtree.audit.checks import RULES
from ringtree.audit.checks.limits import Ceiling, ceiling, rates
from ringtree.audit.material import Subject
from ringtree.audit.records import AUDIT_FORMAT, Audit, FileReport, Finding, Severity
from ringtree.audit.session import Session, audit_files
from ringtree.audit.setup import Setup

__all__ = [
    "AUDIT_FORMAT",
    "RULES",
    "Audit",
    "Ceiling",
    "FileReport",
    "Finding",
    "Session",
    "Setup",
    "Severity",
    "Subject",
    "audit_files",
    "ceiling",
    "rates",
]
