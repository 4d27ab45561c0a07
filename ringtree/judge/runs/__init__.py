"""Runs against each other: what two or more runs, stored here or read from somebody's logs, really tell.

For: `ringtree compare-runs`. Not for: arms of one run (judge/summary.py), which are paired and thus sharper; what is
wrong with a log (ringtree.audit).
"""

from ringtree.judge.runs.judging import SINGLE, compare
from ringtree.judge.runs.runs_comparison import FORMAT, RunsComparison
from ringtree.judge.runs.sources import Contender, read_contender

__all__ = [
    "FORMAT",
    "SINGLE",
    "Contender",
    "RunsComparison",
    "compare",
    "read_contender",
]
