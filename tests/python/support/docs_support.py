"""What stands on a page of the documentation: links, anchors, blocks of code and the commands in them.

For: tests of pages, without building them. Not for: what only Sphinx knows (`make docs`, where a warning is an error).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ringtree.cli.commands import COMMANDS, loaded

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
PAGES = sorted(
    file
    for file in (*DOCS.rglob("*.md"), *ROOT.glob("*.md"), *ROOT.glob("tests/**/*.md"))
    if "_build" not in file.parts
)
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))

_FENCE = re.compile(r"^(?P<fence>`{3,})(?P<info>[^\n`]*)\n(?P<text>.*?)^(?P=fence)[ \t]*$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"!?\[[^\]\[]*(?:\[[^\]]*\][^\]\[]*)?\]\(\s*([^)\s]+)(?:\s+\"[^\"]*\")?\s*\)")
_HEADING = re.compile(r"^(#{1,3})\s+(.*?)\s*#*$", re.MULTILINE)
_END_OF_COMMAND = "();<>|&\n"


class Block(NamedTuple):
    """A fenced block. `info`: what stands behind the fence; `line`: where, counted from 1."""

    info: str
    text: str
    line: int


def blocks(text: str) -> list[Block]:
    return [
        Block(found["info"].strip(), found["text"], text.count("\n", 0, found.start()) + 1)
        for found in _FENCE.finditer(text)
    ]


def prose(text: str) -> str:
    """The text without blocks and inline code, in which brackets are not links."""
    return re.sub(r"`[^`\n]*`", "``", _FENCE.sub("", text))


def anchors(text: str) -> set[str]:
    """The anchors of the headings as GitHub and MyST make them; the second of one name ends in -1."""
    found: dict[str, int] = {}
    made = set()
    for _, title in _HEADING.findall(_FENCE.sub("", text)):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)|<[^>]*>|`", r"\1", title).lower()
        slug = re.sub(r"[^\w\- ]", "", plain).strip().replace(" ", "-")
        count = found.get(slug, 0)
        made.add(slug if count == 0 else f"{slug}-{count}")
        found[slug] = count + 1
    return made


def broken_links(file: Path, text: str) -> list[str]:
    """Links of the page to files or headings that are not there; addresses of the web are not looked at."""
    broken = []
    for target in _LINK.findall(prose(text)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        there = (file.parent / path).resolve()
        if path and not there.exists():
            broken.append(f"{target}: no such file")
        elif (
            anchor and (not path or path.endswith(".md")) and anchor not in anchors(there.read_text() if path else text)
        ):
            broken.append(f"{target}: no such heading")
    return broken


def commands(block: Block) -> Iterator[list[str]]:
    """The arguments of each `ringtree …` of a block, and of `make … ARGS=` as if it were one; ["make", target] of each
    `make`."""
    if block.info.startswith("{player}"):
        yield ["play", *shlex.split(block.info.removeprefix("{player}"))]
    elif block.info in ("sh", "bash"):
        yield from _of_script(block.text)
    elif block.info in ("console", "text"):
        typed = re.findall(r"^\$ ((?:.*\\\n)*.*)$", block.text, re.MULTILINE)
        yield from _of_script("\n".join(typed))


def _of_script(script: str) -> Iterator[list[str]]:
    script = re.sub(r"(^|\s)#.*$", r"\1", script.replace("\\\n", " "), flags=re.MULTILINE)
    lexer = shlex.shlex(script, posix=True, punctuation_chars=_END_OF_COMMAND)
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t", True, ""
    command: list[str] = []
    for word in (*lexer, "\n"):
        if not set(word) <= set(_END_OF_COMMAND):
            command.append(word)
            continue
        yield from _of_command(command)
        command = []


def _of_command(command: list[str]) -> Iterator[list[str]]:
    for place, word in enumerate(command):
        if word == "-c" and command[place + 1 :] and "python" not in command[0]:
            yield from _of_script(command[place + 1])
        if word == "make":
            yield ["make", *(one for one in command[place + 1 :] if "=" not in one and not one.startswith("-"))]
            given = [one.partition("=")[2] for one in command if one.startswith("ARGS=")]
            if "compare" in command and given:
                yield ["compare", *shlex.split(given[0])]
            return
        if Path(word).name == "ringtree":
            yield command[place + 1 :]
            return


def wrong_command(arguments: list[str]) -> str | None:
    """Why the command line does not take these arguments; None if it does. Nothing is run."""
    if arguments[:1] == ["make"]:
        unknown = [one for one in arguments[1:] if one not in TARGETS]
        return f"make has no {unknown[0]}" if unknown else None
    if arguments[:1] in ([], ["--version"], ["--help"]):
        return None
    words = 2 if " ".join(arguments[:2]) in COMMANDS else 1
    name, rest = " ".join(arguments[:words]), arguments[words:]
    if name not in COMMANDS:
        return f"there is no command {name}"
    try:
        context = loaded(name).make_context(name, list(rest))
    except Exception as error:
        # typer brings its own copy of click's exceptions in some versions, so they are known by what they can.
        if hasattr(error, "format_message"):
            return str(error.format_message())
        return None if type(error).__name__ == "Exit" else repr(error)
    return f"{name} takes no {context.args[0]}" if context.args else None
