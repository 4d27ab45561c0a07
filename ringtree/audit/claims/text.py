"""Judgements as text for a terminal.

For: `ringtree audit --claims` without --json. Not for: colours, pages.
"""

from __future__ import annotations

import textwrap
from collections import Counter

from ringtree.audit.claims.records import Judgement, Judgements, Verdict

_WIDTH = 110


def as_text(judged: Judgements) -> str:
    """Each sentence with its verdict, why, the numbers and what would settle it, and how many of each there are."""
    number = len(judged.judgements)
    counts = Counter(one.verdict for one in judged.judgements)
    total = ", ".join(f"{counts[verdict]} {verdict.word}" for verdict in Verdict)
    return "\n\n".join([*map(_block, judged.judgements), f"{number} claim{'s' * (number != 1)}: {total}"])


def _block(one: Judgement) -> str:
    lines = [f"{one.verdict.word.upper()}: {one.sentence}"]
    for name, text in (("why", one.reason), ("numbers", one.arithmetic), ("settles it", one.settles)):
        if text:
            lines += textwrap.wrap(text, _WIDTH, initial_indent=f"  {name}: ", subsequent_indent="    ")
    return "\n".join(lines)
