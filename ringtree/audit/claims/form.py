"""The form of claims: a TOML or JSON file with what is known of the tables, and each claim's statements.

For: the shape that a person or a program fills in (docs/claims.md, claims.schema.json), and reading it. Not for: what
a kind of statement says (kinds/), judging.
"""

from __future__ import annotations

import json
import re
import sys
from itertools import product
from pathlib import Path
from typing import Final, Literal

from pydantic import Field, ValidationError

from ringtree.audit.claims.amounts import amount
from ringtree.audit.claims.grid import csv_rows, read_grid
from ringtree.audit.claims.kinds import Kind
from ringtree.audit.claims.statement import Setup
from ringtree.errors import UsageError
from ringtree.results.record import Record

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CLAIMS_FORMAT: Final = "ringtree.claims/2"
_MAX_BYTES = 16 << 20
_FIGURE = re.compile(r"[~≈]?\d[\d,]*(?:\.\d+)?\s*(?:[KMGT]?i?B/s|us|µs|ms|%|steps)")


class Claim(Setup):
    """A sentence and what it says, statement by statement; it holds if all of them do. What it says of its runs
    replaces what is known of the table."""

    sentence: str = Field(min_length=1, description="the claim in words, as its label: nothing is read from it")
    table: str = Field(default="", description="file beside the claims that it was drawn from")
    says: tuple[Kind, ...] = Field(min_length=1, description="what it says; each has a kind")


class ClaimsFile(Record):
    """Claims and the tables that they were drawn from."""

    format: Literal["ringtree.claims/2"] = CLAIMS_FORMAT
    tables: dict[str, Setup] = Field(default_factory=dict, description="what is known of a table's runs, by file name")
    claims: tuple[Claim, ...] = Field(min_length=1)


def read_claims(path: Path) -> ClaimsFile:
    """Reads a file of claims. Raises UsageError for one that can't be read or is not in the form: one line, which for
    the sentences of former versions says what to write instead."""
    try:
        with open(path, "rb") as file:
            text = file.read(_MAX_BYTES).decode("utf-8", "replace").removeprefix("\ufeff")
    except OSError as error:
        raise UsageError(f"can't read {path}: {error.strerror or error}") from error
    if re.match(r'\s*(?:"?\w+"?,)*"?(?:table|claim)"?\s*(?:,|$)', text):
        raise UsageError(_instead(path, text))
    try:
        return ClaimsFile.model_validate(json.loads(text) if text.lstrip().startswith("{") else tomllib.loads(text))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part + 1) if isinstance(part, int) else part for part in first["loc"]) or "the whole"
        message = first["msg"].removeprefix("Value error, ")
        raise UsageError(f"{path}: {where}: {message} (the form: docs/claims.md)") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is neither TOML nor JSON: {error} (the form: docs/claims.md)") from None


def _instead(path: Path, text: str) -> str:
    """What to write for the first sentence of the old form: its figure, and the cell of its table that has it."""
    rows = csv_rows(text.splitlines()[:2])
    first = dict(zip(rows[0], rows[-1], strict=False)) if len(rows) > 1 else {}
    sentence, table = first.get("claim", "").strip() or "a sentence", first.get("table", "").strip()
    figure = _FIGURE.search(sentence)
    said, where = {"kind": "value", "value": figure[0] if figure else "140 GB/s", "column": "HEADING"}, ""
    grid = read_grid(path.parent / table) if table and Path(table).name == table else None
    if figure is not None and figure[0].endswith("steps"):
        said = {"kind": "steps", "algorithm": "ring", "count": figure[0].split()[0]}
    elif figure is not None and grid is not None:
        stated = amount(figure[0])
        cells = product(grid.of_kind(stated.unit), range(len(grid.rows)))
        for column, row in ((one, row) for one, row in cells if stated.agrees(grid.value(row, one) or -1.0)):
            said["column"] = column.name
            where = f", row = {{{_text(grid.headings[0])} = {_text(grid.rows[row][0])}}}"
            break
    fields = ", ".join(f"{name} = {_text(value)}" for name, value in said.items())
    return (
        f"{path} has sentences, and claims are data now: write what each says into a TOML file; for its first line for "
        f"example: claims = [{{sentence = {_text(sentence)}, table = {_text(table)}, says = [{{{fields}{where}}}]}}] "
        "(kinds and fields: docs/claims.md)"
    )


def _text(value: str) -> str:
    """A string in TOML, of printable characters."""
    return json.dumps(" ".join(value.split()), ensure_ascii=False)
