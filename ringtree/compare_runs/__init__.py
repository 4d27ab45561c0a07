"""Runs against each other: what two or more runs, stored here or read from somebody's logs, really tell.

For: `ringtree compare-runs`. Not for: arms of one run (ringtree.lab), which are paired and thus sharper; what is wrong
with a log (ringtree.audit).
"""

from ringtree.compare_runs.from_tables import label_of, wrong_elements
from ringtree.compare_runs.judging import SINGLE, compare
from ringtree.compare_runs.records import FORMAT, RunsComparison
from ringtree.compare_runs.sources import Contender, read_contender

__all__ = [
    "FORMAT",
    "SINGLE",
    "Contender",
    "RunsComparison",
    "compare",
    "label_of",
    "read_contender",
    "wrong_elements",
]
