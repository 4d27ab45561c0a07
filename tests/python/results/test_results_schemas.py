"""The published JSON schemas are those of the records.

For: the committed files of docs/reference against the records. Not for: checking records.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from lab_support import make_cell, make_launch, make_plan, make_run

ROOT = Path(__file__).parents[3]
REFERENCE = ROOT / "docs" / "reference"


def test_committed_schemas_are_current() -> None:
    checked = subprocess.run(
        [sys.executable, ROOT / "tools" / "write_schemas.py", "--check"], capture_output=True, text=True, cwd=ROOT
    )
    assert (checked.returncode, checked.stderr) == (0, "")


@pytest.mark.parametrize(
    ("name", "identity", "record"),
    [
        ("run.schema.json", "ringtree.run/2", make_run(make_plan())),
        ("launch.schema.json", "ringtree.run/2#launch", make_launch(0, [make_cell("a", 8, 1.0)])),
    ],
)
def test_a_schema_names_its_format_and_every_field(name: str, identity: str, record: object) -> None:
    schema = json.loads((REFERENCE / name).read_text())
    assert schema["$id"] == identity
    written = json.loads(record.model_dump_json())  # type: ignore[attr-defined]
    assert set(schema["properties"]) == set(written)
    assert schema["additionalProperties"] is False


def test_a_wrong_element_may_be_no_number() -> None:
    schema = json.loads((REFERENCE / "launch.schema.json").read_text())
    assert {"enum": ["NaN", "Infinity", "-Infinity"]} in schema["$defs"]["WrongElement"]["properties"]["found"]["anyOf"]
