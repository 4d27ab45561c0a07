"""The last section: what was concluded from the tables, judged.

For: docs/published/claims.csv with its verdicts. Not for: judging (ringtree.audit.claims).
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from published.markdown import paragraphs
from ringtree.audit.claims import Judgement, Verdict, judge_file

TEXT = """
Sentences that the authors drew from these tables, in our words, judged by `ringtree audit --claims
docs/published/claims.csv`; the authors' own words get the same verdicts. Right arithmetic is not enough: a sentence
falls if what it means is wrong.
"""


def claims(folder: Path) -> str:
    """How many of each, then every sentence with why and the numbers."""
    judged = judge_file(folder / "claims.csv")
    counts = Counter(one.verdict for one in judged)
    total = ", ".join(f"{counts[verdict]} {_words(verdict)}" for verdict in Verdict)
    return "\n\n".join([paragraphs(TEXT), f"Of {len(judged)}: {total}.", *map(_one, judged)])


def _one(one: Judgement) -> str:
    lines = [
        f"**{one.verdict.value.capitalize()}:** “{one.claim}”",
        "",
        f"- {_plain(one.reason)}",
        f"- *Numbers:* {_plain(one.arithmetic)}",
    ]
    if one.settles:
        lines.append(f"- *Would settle it:* {_plain(one.settles)}")
    return "\n".join(lines)


def _words(verdict: Verdict) -> str:
    return {Verdict.HOLDS: "hold", Verdict.FALLS: "fall", Verdict.OPEN: "can't be told"}[verdict]


def _plain(text: str) -> str:
    """Underscores and stars of names are no emphasis, a tilde strikes nothing out."""
    for mark in ("\\", "*", "_", "~", "<", "["):
        text = text.replace(mark, f"\\{mark}")
    return text
