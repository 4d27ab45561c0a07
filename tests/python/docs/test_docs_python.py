"""The Python of the documentation: its examples run, and its reference names everything that is public.

For: docs/collectives.md and docs/reference/python.md. Not for: the README (test_examples.py).
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import ringtree

DOCS = Path(__file__).parents[3] / "docs"
EXAMPLES = re.findall(r"^```python\n(.*?)^```", (DOCS / "collectives.md").read_text(), re.MULTILINE | re.DOTALL)
REFERENCE = (DOCS / "reference" / "python.md").read_text()


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_examples_of_the_collectives_run(example: str) -> None:
    assert "assert " in example, "an example shows what it gives"
    exec(compile(example, "docs/collectives.md", "exec"), {})


def test_every_public_name_is_in_the_reference() -> None:
    named = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]*)`", REFERENCE))))
    public = {name for name in ringtree.__all__ if not name.startswith("_")}
    for kind in (ringtree.Communicator, ringtree.Work, ringtree.Group):
        public |= {name for name in dir(kind) if not name.startswith("_")}
    assert public - named == set()


def test_the_reference_names_nothing_that_is_not_there() -> None:
    section = re.compile(r"^## (\w+)$(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
    for title, text in section.findall(REFERENCE):
        of = getattr(ringtree, title, ringtree)
        for cell in re.findall(r"^\| (.*?) \|", text, re.MULTILINE):
            for name in re.findall(r"`(\w+)", cell):
                assert hasattr(of, name) or name in ("rank", "world_size", "group"), f"{title}: {name}"
