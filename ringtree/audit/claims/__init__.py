"""Sentences that people draw from tables of collectives' performance: do they hold?

    for one in judge_file(Path("claims.csv")):
        print(one.verdict.value, one.claim, one.reason)

For: `ringtree audit --claims`. A sentence is read by forms (forms/, one a file): what it says is found by pattern, the
quantities are checked against its table, ringtree's schedules, NCCL's constants or the limits of hardware. Nothing is
known of particular files or sentences. Not for: tables themselves (ringtree.audit's checks), understanding prose: what
no form matches can't be told, and is said to be so.
"""

from ringtree.audit.claims.judging import judge, judge_file, missing_tables
from ringtree.audit.claims.records import Judgement, Part, Verdict
from ringtree.audit.claims.text import as_text

__all__ = ["Judgement", "Part", "Verdict", "as_text", "judge", "judge_file", "missing_tables"]
