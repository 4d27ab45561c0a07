"""docs/architecture.md describes the house that stands: every layer, room and package, and only files that exist.

For: its tables and the paths that it names. Not for: who may import whom (`make layers`), links (test_docs_pages.py).
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from docs_support import DOCS, ROOT

PAGE = (DOCS / "architecture.md").read_text()
# Where a path of the page may begin.
BASES = (ROOT, ROOT / "ringtree", ROOT / "core")
ENDINGS = ("py", "cpp", "h", "toml", "md")


def code(text: str) -> set[str]:
    """What stands between backticks, outside of blocks."""
    return set(re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)))


def rows(text: str, heading: str) -> list[list[str]]:
    """The cells of the table whose first line begins so."""
    (found,) = re.findall(rf"^\| {re.escape(heading)}.*\n\|[-:| ]+\n((?:\|.*\n)+)", text, re.MULTILINE)
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in found.splitlines()]


def packages(root: Path) -> set[str]:
    """The packages and modules directly below `root`, and the packages inside them by their paths."""
    inner = {one.parent.relative_to(root).as_posix() for one in root.rglob("__init__.py")} - {"."}
    return inner | {one.stem for one in root.glob("*.py") if not one.stem.startswith("__")}


def links(cmake: str) -> set[str]:
    """What a layer's CMake list links to."""
    of_layer = re.search(r"ringtree_layer\(\s*\w+\s+DEPS\s+([\w\s]*?)\s*(?:SOURCES|INTERFACE|\))", cmake)
    plain = re.findall(r"target_link_libraries\((?:_core|ringtree) PRIVATE ([^)]*)\)", cmake)
    return set(of_layer[1].split() if of_layer else []) | {
        one.removeprefix("rt_") for line in plain for one in line.split()
    }


def paths(text: str) -> set[str]:
    """The files and folders that are named: what has a slash, or the ending of a file."""
    return {one for one in code(text) if re.fullmatch(rf"[\w./]+\.(?:{'|'.join(ENDINGS)})|\w+(?:/\w+)+", one)}


def missing(text: str) -> set[str]:
    """Those that are not there. A file's name alone means one anywhere in the package or the core."""
    anywhere = {one.name for base in BASES[1:] for one in base.rglob("*.*")}
    return {one for one in paths(text) if one not in anywhere and not any((base / one).exists() for base in BASES)}


def test_every_package_is_named() -> None:
    assert packages(ROOT / "ringtree") - code(PAGE) == set()


def test_every_folder_of_the_tree_is_named() -> None:
    beside = {row[0].strip("`") for row in rows(PAGE, "folder")}
    assert beside == {"include", "workers", "tools", "tests", "examples"}
    assert all((ROOT / one).is_dir() for one in beside)


def test_layers_are_those_of_the_core() -> None:
    layers = {row[0].strip("`"): code(row[2]) for row in rows(PAGE, "layer")}
    assert set(layers) == {one.parent.name for one in (ROOT / "core").glob("*/CMakeLists.txt")}
    for name in layers:
        assert layers[name] == links((ROOT / "core" / name / "CMakeLists.txt").read_text()), name


def test_the_drawings_have_every_layer_and_room() -> None:
    core, house = re.findall(r"^```text\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[1:]
    assert {row[0].strip("`") for row in rows(PAGE, "layer")} <= set(re.findall(r"\w+", core))
    assert {one for one in packages(ROOT / "ringtree") if "/" not in one} <= set(re.findall(r"\w+", house))


def test_named_files_exist() -> None:
    assert len(paths(PAGE)) > 60
    assert missing(PAGE) == set()


@pytest.mark.parametrize("walk", ["A sample", "A line of a log", "A buffer"])
def test_walks_have_ten_lines(walk: str) -> None:
    (found,) = re.findall(rf"^{walk}, from .*:\n\n((?:\d+\. .*\n)+)", PAGE, re.MULTILINE)
    assert len(found.splitlines()) == 10


def test_what_is_wrong_is_found(tmp_path: Path) -> None:
    for name in ("here", "here/inner", "forgotten"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()
    (tmp_path / "leaf.py").touch()
    page = "`here` and `leaf`\n\n```text\n`forgotten`\n```\n"
    assert packages(tmp_path) - code(page) == {"forgotten", "here/inner"}
    there = "`measure/visit_loop.py`, `visit_loop.py`, `core/engine`, `a word`"
    nowhere = "`measure/no_loop.py`, `no.py`, `core/nowhere`"
    assert missing(f"{there}, {nowhere}") == code(nowhere)
    assert links("ringtree_layer(a\n  DEPS b c\n  SOURCES a.cpp)\n") == {"b", "c"}
    assert links("target_link_libraries(_core PRIVATE rt_a rt_b)") == {"a", "b"}
