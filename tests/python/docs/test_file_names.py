"""The files that openings name after "Not for:" exist.

For: Python, C++ and the player's JavaScript. Not for: links of pages (test_docs_pages.py), files of other projects.
"""

import re
from pathlib import PurePosixPath

import pytest
from docs_support import ROOT

FOLDERS = ("core", "include", "ringtree", "ringtree_autoload", "tests", "tools", "workers", "docs/_ext", "examples")
KINDS = (".py", ".h", ".cpp", ".js")
# An opening is short; what comes further down is code.
OPENING_LINES = 30


def disclaimed(text: str) -> list[str]:
    """The files named from "Not for:" to the end of its paragraph: a blank line, the docstring's end, or code."""
    opening = "\n".join(text.split("\n")[:OPENING_LINES])
    ends = r"\n(?:\s*(?://|#|\*))?\s*\n|\"\"\"|\*/|\n#(?:pragma|include)|\Z"
    found = re.search(rf"\bNot for:(.*?)(?:{ends})", opening, re.DOTALL)
    return re.findall(r"[\w./-]*\w\.(?:py|h|cpp|js)\b", found.group(1)) if found else []


def exists(name: str, beside: PurePosixPath, files: set[str]) -> bool:
    """A name without a folder means a file of the same folder; in tests, whose names are unique, of any folder."""
    if str(beside / name) in files:
        return True
    anywhere = "/" in name or beside.parts[0] == "tests"
    return anywhere and any(file == name or file.endswith("/" + name) for file in files)


def missing(texts: dict[str, str]) -> list[str]:
    """`file: name` for each file that is named and not there; `texts` has the text of every file by its path."""
    return [
        f"{path}: {name}"
        for path, text in texts.items()
        for name in disclaimed(text)
        if not exists(name, PurePosixPath(path).parent, set(texts))
    ]


def test_openings_name_files_that_exist() -> None:
    paths = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in KINDS]
    texts = {path.relative_to(ROOT).as_posix(): path.read_text() for path in paths}
    assert len(texts) > 1000
    assert missing(texts) == []


@pytest.mark.parametrize(
    ("path", "text", "named"),
    [
        ("ringtree/a/x.py", '"""For: z.py. Not for: y (y.py),\nw (w.py).\n\nNext: no.py.\n"""\n', ["y.py", "w.py"]),
        ("ringtree/a/x.py", '"""For: w. Not for: y (b/y.py)."""\nimport z  # z.py\n', ["b/y.py"]),
        ("core/a/x.h", "// For: w. Not for: y (y.cpp),\n// z (z.h).\n#pragma once\n// no.h\n", ["y.cpp", "z.h"]),
        ("core/a/x.h", "// For: w. Not for: y (y.cpp).\n\nint f();  // no.h\n", ["y.cpp"]),
    ],
)
def test_a_file_that_is_not_there_is_found(path: str, text: str, named: list[str]) -> None:
    assert disclaimed(text) == named
    assert missing({path: text}) == [f"{path}: {name}" for name in named]
    beside = PurePosixPath(path).parent
    assert missing({path: text, **{f"{beside}/{name}": "" for name in named}}) == []


def test_another_folder_is_to_be_named() -> None:
    text = '"""Not for: y (y.py)."""'
    assert missing({"ringtree/a/x.py": text, "ringtree/b/y.py": ""}) == ["ringtree/a/x.py: y.py"]
    assert missing({"ringtree/a/x.py": text.replace("y.py", "b/y.py"), "ringtree/b/y.py": ""}) == []
    assert missing({"tests/python/a/x.py": text, "tests/python/b/y.py": ""}) == []
