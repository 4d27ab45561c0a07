"""Sentences in, judgements out.

For: `ringtree audit --claims FILE`, and single sentences in Python. Not for: what a form checks (forms/).

A sentence holds only if every number in it was judged: what no form looked at can't be told.
"""

from __future__ import annotations

import csv
import io
import os
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from ringtree.audit.claims import words
from ringtree.audit.claims.claim import Claim
from ringtree.audit.claims.grid import Grid, read_grid
from ringtree.audit.claims.records import Judgement, Part, Verdict, judgement
from ringtree.audit.claims.registry import FORMS
from ringtree.audit.claims.surroundings import surroundings
from ringtree.errors import UsageError

MAX_SENTENCE = 1000
MAX_SENTENCES = 10_000
_MAX_BYTES = 16 << 20


def judge_file(path: Path, tables: Path | None = None) -> list[Judgement]:
    """Judges every sentence of a CSV file with the columns `table` and `claim`, in order.

    `tables`: the folder with the tables that it names; by default the one that the file lies in. A table that is not
    there is no error here (missing_tables names them): then a sentence is judged by what it says itself. Raises
    UsageError for a file that can't be read or lacks a column.
    """
    folder = path.parent if tables is None else tables
    read = lru_cache(maxsize=64)(lambda name: _grid(folder, name))
    return [_judge(claim, table, read(table), folder) for table, claim in _sentences(path)]


def missing_tables(path: Path, tables: Path | None = None) -> list[str]:
    """The tables that a file of sentences names and that can't be read or don't lie beside it, each once, in order."""
    folder = path.parent if tables is None else tables
    names = dict.fromkeys(name for name, _ in _sentences(path) if name)
    return [
        name
        for name in names
        if not _beside(name) or not (folder / name).is_file() or not os.access(folder / name, os.R_OK)
    ]


def judge(sentence: str, table: Path | None = None) -> Judgement:
    """Judges one sentence, with the table at `table` if there is one."""
    if table is None:
        return _judge(sentence, "", None, None)
    return _judge(sentence, table.name, _grid(table.parent, table.name), table.parent)


def _sentences(path: Path) -> list[tuple[str, str]]:
    try:
        with open(path, "rb") as file:
            text = file.read(_MAX_BYTES).decode("utf-8", "replace").removeprefix("\ufeff")
    except OSError as error:
        raise UsageError(f"can't read {path}: {error.strerror or error}") from error
    try:
        rows = list(csv.DictReader(io.StringIO(text, newline="")))
    except csv.Error as error:
        raise UsageError(f"{path} is no CSV file: {error}") from error
    if rows and not {"table", "claim"} <= set(rows[0]):
        raise UsageError(f"{path} needs the columns table and claim; it has {', '.join(map(str, rows[0]))}")
    if not rows:
        raise UsageError(f"{path} holds no sentences: a heading `table,claim` and a sentence a line")
    return [(row["table"] or "", (row["claim"] or "").strip()) for row in rows[:MAX_SENTENCES]]


def _grid(folder: Path, name: str) -> Grid | None:
    """Tables lie beside the sentences: a name that leads elsewhere is none."""
    return read_grid(folder / name) if _beside(name) else None


def _beside(name: str) -> bool:
    return bool(name) and name not in (".", "..") and Path(name).name == name


def _judge(sentence: str, table: str, grid: Grid | None, folder: Path | None) -> Judgement:
    if not sentence or len(sentence) > MAX_SENTENCE:
        what = (
            "there is no sentence" if not sentence else f"a sentence of more than {MAX_SENTENCE} characters is not read"
        )
        return judgement(table, sentence[:MAX_SENTENCE], [_open("none", what, "a shorter sentence")])
    claim = Claim(sentence, table, grid)
    if folder is not None and Path(table).name == table and table:
        claim = replace(claim, around=surroundings(folder, table))
    parts: list[Part] = []
    for form in FORMS:
        found = form(claim)
        parts += found
        claim = replace(claim, taken=claim.taken + tuple(span for part in found for span in part.covers))
    if not parts:
        return judgement(table, sentence, [_unknown(claim)])
    return judgement(table, sentence, _denied(sentence, parts) + _left_over(claim))


def _unknown(claim: Claim) -> Part:
    missing = " (its table is not there)" if claim.table and claim.grid is None else ""
    return _open("none", f"no form of sentence that is known here matches{missing}", "somebody who reads it")


def _left_over(claim: Claim) -> list[Part]:
    """Numbers that no form judged."""
    left = [one for one in claim.quantities if not any(_overlap(one.span, span) for span in claim.taken)]
    left = [one for one in left if one.kind != "number" or one.place < 1]
    if not left:
        return []
    return [_open("none", f"nothing here checks {', '.join(one.text for one in left)}", "what these numbers rest on")]


def _overlap(a: tuple[int, int], b: tuple[int, int]) -> bool:
    return a[0] < b[1] and b[0] < a[1]


# Forms that read a denial themselves.
_READ_DENIALS = frozenset(("forced algorithm", "none"))
_OPPOSITE = {Verdict.HOLDS: Verdict.FALLS, Verdict.FALLS: Verdict.HOLDS, Verdict.OPEN: Verdict.OPEN}


def _denied(sentence: str, parts: list[Part]) -> list[Part]:
    """What is denied holds if it falls. With several parts it is not clear which one is denied."""
    if not words.denies(sentence) or all(part.form in _READ_DENIALS for part in parts):
        return parts
    if len(parts) == 1:
        (part,) = parts
        return [
            part.model_copy(
                update={"verdict": _OPPOSITE[part.verdict], "reason": f"the sentence denies it, and: {part.reason}"}
            )
        ]
    return [_open("none", "the sentence denies something, and says several things", "a sentence for each")]


def _open(form: str, reason: str, settles: str) -> Part:
    return Part(form=form, verdict=Verdict.OPEN, reason=reason, settles=settles)
