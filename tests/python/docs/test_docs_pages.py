"""Every page: links lead somewhere, commands have the options that are written, Python compiles, and that of the
tutorial, the how-to and the explanation pages runs.

For: README, CONTRIBUTING, CHANGELOG and docs/. Not for: what Sphinx finds (`make docs`), outputs that are shown.
"""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest
from docs_support import DOCS, PAGES, ROOT, Block, anchors, blocks, broken_links, commands, wrong_command
from reference_pages import modules
from reference_pages.__main__ import main as write_reference
from reference_pages.markdown import cell

from ringtree.cli.commands import COMMANDS

NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
OF_A_JOB = "init_process_group"  # Python that shows a line of somebody's program, and can't run alone
THAT_RUN = [
    page
    for page in (DOCS / "tutorial.md", *sorted(DOCS.glob("how-to/*.md")), *sorted(DOCS.glob("explanation/*.md")))
    if any(block.info == "python" and OF_A_JOB not in block.text for block in blocks(page.read_text()))
]


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_links_lead_somewhere(page: Path) -> None:
    assert broken_links(page, page.read_text()) == []


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_commands_are_as_the_command_line_takes_them(page: Path) -> None:
    for block in blocks(page.read_text()):
        for arguments in commands(block):
            assert wrong_command(arguments) is None, f"{page.name}:{block.line}: {' '.join(arguments)}"


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_python_compiles(page: Path) -> None:
    for block in blocks(page.read_text()):
        if block.info == "python":
            compile(block.text, f"{page.name}:{block.line}", "exec")


@pytest.mark.parametrize("page", THAT_RUN, ids=[page.stem for page in THAT_RUN])
def test_python_of_how_to_and_explanation_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)  # what a page writes
    names: dict[str, object] = {}
    for block in blocks(page.read_text()):
        if block.info == "python" and OF_A_JOB not in block.text:
            exec(compile(block.text, f"{page.name}:{block.line}", "exec"), names)


def test_the_reference_is_that_of_the_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert (write_reference(["--check"]), capsys.readouterr().err) == (0, "")


def test_a_reference_that_is_not_that_of_the_code_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reference_pages.__main__.FOLDER", tmp_path)
    assert write_reference([]) == 0
    page = tmp_path / "cli.md"
    page.write_text(page.read_text().replace("--ranks", "--rank"))
    assert write_reference(["--check"]) == 1
    assert write_reference([]) == 0
    assert write_reference(["--check"]) == 0


def test_every_command_and_every_public_name_of_the_lab_has_a_row() -> None:
    text = (DOCS / "reference" / "cli.md").read_text()
    assert [name for name in COMMANDS if f"## ringtree {name}\n" not in text] == []
    text = (DOCS / "reference" / "lab.md").read_text()
    for name in modules.MODULES:
        module = importlib.import_module(f"ringtree.{name}")
        section = text.partition(f"## {module.__name__}\n")[2].partition("\n## ")[0]
        assert set(re.findall(r"^\| `(\w+)", section, re.MULTILINE)) == set(module.__all__)


def test_a_set_reads_the_same_whatever_the_seed_of_its_hashes() -> None:
    names = [f"name_{number}" for number in range(4)]
    assert modules._said(frozenset(names)) == "{'name_0', 'name_1', 'name_2', 'name_3'}"


def test_text_of_the_code_stays_text() -> None:
    assert cell("a `b|c <d>` |e| <f>\n [g]* `") == "a `b\\|c <d>` \\|e\\| \\<f> \\[g\\]\\* \\`"


# The checks themselves.


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text("# Other\n\n## It's here: 2 of 3\n\n## Twice\n\n## Twice\n")
    good = "[a](other.md#its-here-2-of-3) [b](#here) [c](other.md#twice-1) [d](https://example.org/x#y)\n\n# Here\n"
    assert broken_links(tmp_path / "page.md", good) == []
    bad = "[a](othr.md) [b](other.md#twice-2) [c](#there) `[d](no.md)`\n\n```text\n[e](no.md)\n```\n"
    assert len(broken_links(tmp_path / "page.md", bad)) == 3


def test_anchors_are_githubs() -> None:
    assert anchors("# A `b` [c](d.md)\n## x<sub>r</sub>, y!\n#### deep\n") == {"a-b-c", "xr-y"}


@pytest.mark.parametrize(
    ("info", "text", "wrong"),
    [
        ("sh", "ringtree compare --ranks 2 --sizes 8,16  # a comment", 0),
        ("sh", "ringtree compare --rank 2", 1),
        ("sh", "ringtree comparre", 1),
        ("sh", "ringtree compare --ranks two", 1),
        ("sh", "ringtree plot last", 1),  # -o is required
        ("sh", "cat x | ringtree audit - --gpuu H100", 1),
        ("sh", "RINGTREE_PROFILE= .venv/bin/ringtree which \\\n  --size 1M --rnaks 2 && ringtree runs", 1),
        ("sh", "torchrun --nnodes=2 --no-python ringtree compare --arms ring --launchez 8", 1),
        ("sh", "srun bash -c '\n  export A=1\n  exec ringtree tune --budgett 10m'", 1),
        ("sh", "ringtree bench -b 8 -e 1M -f 2", 0),
        ("sh", "ringtree bench --no-such-thing 2", 1),
        ("sh", 'make compare ARGS="--ranks 2 --sizez 8"', 1),
        ("sh", "make compare\nmake tset", 1),
        ("console", "$ ringtree runs --nope\nringtree says --no more", 1),
        ("text", "ringtree runs --nope", 0),
        ("{player} ring --ranks 4", "A ring.", 0),
        ("{player} ring --rank 4", "A ring.", 1),
    ],
)
def test_a_command_that_does_not_exist_is_found(info: str, text: str, wrong: int) -> None:
    found = [wrong_command(arguments) for arguments in commands(Block(info, text, 1))]
    assert sum(one is not None for one in found) == wrong
    assert found or info == "text"
