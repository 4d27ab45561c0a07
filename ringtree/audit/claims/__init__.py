"""Claims that people draw from tables of collectives' performance, stated as data: do they hold?

    for one in judge_file(Path("claims.toml")).judgements:
        print(one.verdict.value, one.sentence, one.reason)

For: `ringtree audit --claims`. A claim says what is claimed, of which cell, algorithm or machine; it is held against
its table, the audit's rules, ringtree's schedules, NCCL's constants and the limits of hardware (kinds/). Not for:
tables themselves (ringtree.audit's checks), reading prose: the sentence is the claim's label.
"""

from ringtree.audit.claims.form import CLAIMS_FORMAT, Claim, ClaimsFile, read_claims
from ringtree.audit.claims.judging import judge, judge_file
from ringtree.audit.claims.records import JUDGEMENTS_FORMAT, Judgement, Judgements, Part, Verdict
from ringtree.audit.claims.text import as_text

__all__ = [
    "CLAIMS_FORMAT",
    "JUDGEMENTS_FORMAT",
    "Claim",
    "ClaimsFile",
    "Judgement",
    "Judgements",
    "Part",
    "Verdict",
    "as_text",
    "judge",
    "judge_file",
    "read_claims",
]
