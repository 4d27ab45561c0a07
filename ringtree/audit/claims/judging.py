"""Claims in, judgements out.

For: `ringtree audit --claims FILE`, and claims in Python. Not for: what a kind of statement checks (kinds/).
"""

from __future__ import annotations

from pathlib import Path

from ringtree.audit.claims.about import About, Tables
from ringtree.audit.claims.form import Claim, ClaimsFile, read_claims
from ringtree.audit.claims.records import Judgement, Judgements, Part, Verdict, judgement
from ringtree.audit.claims.statement import Setup, Statement, UndecidedError
from ringtree.errors import UsageError

_OPPOSITE = {Verdict.HOLDS: Verdict.FALLS, Verdict.FALLS: Verdict.HOLDS, Verdict.OPEN: Verdict.OPEN}


def judge_file(path: Path, tables: Path | None = None) -> Judgements:
    """Judges every claim of a file (TOML or JSON), in order.

    `tables`: the folder with the tables that it names; by default the one that the file lies in. A table or column that
    is not there is reported in `missing`, not raised: the claim is then undecided. Raises UsageError for a file that
    can't be read or is not in the form.
    """
    return judge(read_claims(path), path.parent if tables is None else tables)


def judge(claims: ClaimsFile, tables: Path) -> Judgements:
    """Judges claims with the tables in that folder."""
    known = Tables(tables, claims.tables)
    judged = tuple(_judge(claim, known) for claim in claims.claims)
    return Judgements(judgements=judged, missing=tuple(dict.fromkeys(known.missing)))


def _judge(claim: Claim, tables: Tables) -> Judgement:
    known = tables.setups.get(claim.table, Setup()).with_(claim)
    parts = [part for said in claim.says for part in _parts(said, About(tables, claim.table, known.with_(said), said))]
    return judgement(claim.table, claim.sentence, parts)


def _parts(said: Statement, about: About) -> list[Part]:
    try:
        answer = said.judge(about)
    except UndecidedError as error:
        return [said.open(str(error), error.settles)]
    except UsageError as error:  # an algorithm or a machine that nothing is known of
        return [said.open(str(error), "the algorithm, step by step")]
    parts = answer if isinstance(answer, list) else [answer]
    if not said.denied:
        return parts
    verdict = judgement("", "", parts).verdict
    reason = f"the sentence denies it, and: {'; '.join(part.reason for part in parts if part.verdict is verdict)}"
    return [parts[0].model_copy(update={"verdict": _OPPOSITE[verdict], "reason": reason})]
