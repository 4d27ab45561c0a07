"""What a judgement is: the verdict on a claim, and the parts that it follows from.

For: the shape of what judge_file returns and `ringtree audit --claims --json` prints. Not for: reaching it
(judging.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Final, Literal

from pydantic import Field

from ringtree.results.record import Record

JUDGEMENTS_FORMAT: Final = "ringtree.judgements/1"


class Verdict(str, Enum):
    """holds: arithmetic and meaning are right. falls: one of them is wrong. can't be told: undecided, as what is known
    does not suffice."""

    HOLDS = "holds"
    FALLS = "falls"
    OPEN = "can't be told"  # the JSON's word; people read "undecided"

    @property
    def word(self) -> str:
        """What people read."""
        return "undecided" if self is Verdict.OPEN else self.value


class Part(Record):
    """One thing that a claim says, judged."""

    kind: str = Field(description="the kind of statement")
    verdict: Verdict
    reason: str = Field(description="why, in plain words")
    arithmetic: str = Field(default="", description="the numbers, one line")
    settles: str = Field(default="", description="what would settle it; empty where nothing is left to settle")


class Judgement(Record):
    """A claim with its verdict: it falls if a part falls, else is undecided if a part is, else holds."""

    table: str
    sentence: str
    verdict: Verdict
    reason: str
    arithmetic: str
    settles: str
    parts: tuple[Part, ...]


class Judgements(Record):
    """What `ringtree audit --claims --json` prints."""

    format: Literal["ringtree.judgements/1"] = JUDGEMENTS_FORMAT
    judgements: tuple[Judgement, ...]
    missing: tuple[str, ...] = Field(default=(), description="tables and columns that claims name and are not there")


def judgement(table: str, sentence: str, parts: Sequence[Part]) -> Judgement:
    """The judgement that follows from `parts` (at least one). Parts that decide it are named first."""
    verdicts = {part.verdict for part in parts}
    verdict = next(one for one in (Verdict.FALLS, Verdict.OPEN, Verdict.HOLDS) if one in verdicts)
    ordered = sorted(parts, key=lambda part: part.verdict is not verdict)
    return Judgement(
        table=table,
        sentence=sentence,
        verdict=verdict,
        reason=_sentences([part.reason for part in ordered]),
        arithmetic=_list([part.arithmetic for part in ordered]),
        settles=_list([part.settles for part in ordered if part.verdict is verdict]),
        parts=tuple(parts),
    )


def _sentences(texts: Sequence[str]) -> str:
    unique = dict.fromkeys(text.rstrip(".") for text in texts if text)
    # The name of a file stays as it is.
    return " ".join(f"{text[0] if '.' in text.split()[0] else text[0].upper()}{text[1:]}." for text in unique)


def _list(texts: Sequence[str]) -> str:
    """What two parts both rest on is said once."""
    return "; ".join(dict.fromkeys(piece for text in texts if text for piece in text.split("; ")))
