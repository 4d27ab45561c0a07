"""The form of claims: a TOML or JSON file with what is known of the tables, and each claim's statements.

For: the shape that a person or a program fills in (docs/claims.md, claims.schema.json), and reading it. Not for: what
a kind of statement says (kinds/), judging.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Final, Literal

from pydantic import Field, ValidationError

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
    """Reads a file of claims. Raises UsageError, in one line, for one that can't be read or is not in the form."""
    try:
        with open(path, "rb") as file:
            text = file.read(_MAX_BYTES).decode("utf-8", "replace").removeprefix("\ufeff")
    except OSError as error:
        raise UsageError(f"can't read {path}: {error.strerror or error}") from error
    try:
        return ClaimsFile.model_validate(json.loads(text) if text.lstrip().startswith("{") else tomllib.loads(text))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part + 1) if isinstance(part, int) else part for part in first["loc"]) or "the whole"
        message = first["msg"].removeprefix("Value error, ")
        raise UsageError(f"{path}: {where}: {message} (the form: docs/claims.md)") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is neither TOML nor JSON: {error} (the form: docs/claims.md)") from None
