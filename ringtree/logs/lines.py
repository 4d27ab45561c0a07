"""The lines of a log, without what launchers, terminals and web pages put around them.

For: one cleaned line after the other, in constant memory, whatever the bytes are. Not for: what a line means.

A line keeps the mark of the process that wrote it (`job`): mpirun's [1,0]<stdout>:, srun's "0: ", a pod's name, since
several jobs may write into one file. Such marks also appear inside a line that a program wrote in pieces.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import BinaryIO, NamedTuple

MAX_LINE = 1 << 16  # bytes; the rest of a longer line is passed over
TOO_LONG = "longer than 64 KiB: the rest was passed over"
_BLOCK = 1 << 18  # bytes that are read at once, and looked at once for what makes lines special

_ANSI = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])")
_TIME = r"\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"
# Of pages: blanks that are no ASCII blank, and what HTML writes for marks.
_BLANKS = re.compile("[\u00a0\u2002\u2003\u2007\u2009\u202f\u3000]")
_ENTITIES = {"&lt;": "<", "&gt;": ">", "&nbsp;": " ", "&quot;": '"', "&amp;": "&"}
# An output that a program kept in one string ("stdout": "# …\\n …"), as Ansible and others do.
_OF_BENCHMARK = re.compile(r"algbw +busbw|# OSU |#bytes |NCCL INFO ")
_CAPTURED_LINES = 3
# What a launcher writes before each line. Only the first two also appear inside lines; MPICH's is looked for only where
# MPICH began the line, since NCCL writes "Trees [0] 1/-1/-1->0->-1".
_INSIDE_MPIRUN = re.compile(r"\[\d+,\d+\](?:<std(?:out|err|diag)>)?:")
MARK_INSIDE = re.compile(r"\[\d+,\d+\](?:<std(?:out|err|diag)>)?:|\[\d+\](?=\s+\d)")
_START = re.compile(
    rf"""\s*(?=[\[>\dA-Zs])(?:
      (?P<mpirun>\[\d+,\d+\](?:<std(?:out|err|diag)>)?:)
    | (?P<mpich>\[\d+\](?=\s+(?:\d|\#)))
    | (?P<timestamp>\[?{_TIME}\]?:?(?:\s|$))
    | (?P<clock>\[?\d\d:\d\d:\d\d(?:[.,]\d{{1,9}})?\]?:?\s)
    | (?P<syslog>[A-Z][a-z]{{2}}\s+\d{{1,2}}\s\d\d:\d\d:\d\d\s[\w.-]+\s[\w./-]+(?:\[\d+\])?:\s)
    | (?P<stream>std(?:out|err)\s[FP]\s)
    | (?P<pod>\[(?:pod/)?[A-Za-z0-9][\w.-]*/[\w./-]+\]\s)
    | (?P<torchrun>\[[A-Za-z][\w.-]{{0,80}}:?\d{{1,6}}\]:)
    | (?P<quote>>\s)
    )""",
    re.VERBOSE,
)
# Of services, before a row (two numbers) or a comment. Tables without bars around them look alike: `ring | 45 us`.
_COMPOSE = re.compile(r"\s*(?P<compose>[A-Za-z][\w.-]*[A-Za-z0-9]\s*\|(?=\s+(?:\d[\d.]*\s+\d|\#)[^|]*$))")
_JOB_MARKS = frozenset(("mpirun", "mpich", "pod", "compose", "srun", "torchrun"))
# Most lines have no mark: a plain row begins with a number that a blank follows. Of marks srun's is the most frequent.
_NO_MARK = re.compile(r"\s*(?:\d+\s+[\d-]|#)")
_NO_BEGINNING = "|+*`-("  # of a mark, but of many lines in documents and scripts
_SRUN = re.compile(r"\s*(?P<srun>\d{1,6}:)(?=\s|#|$)")
_MAX_MARKS = 4  # a time, then a pod, then a rank
_tuple = tuple.__new__  # a NamedTuple's own constructor takes three times as long


class Line(NamedTuple):
    """`text` is cleaned and has no end of line; `raw` is what stood there, without colours."""

    number: int
    text: str
    job: str
    raw: str


def raw_lines(source: BinaryIO, on_long: Callable[[int], None]) -> Iterator[tuple[int, str]]:
    """Yields (number, text) of each line, decoded with replacement characters; calls `on_long` for a cut line.

    A carriage return inside a line is what progress bars use to write over it: what stands after the last one counts.
    Lines of an output that was kept in one string have that string's number.
    """
    number = 0
    for block in _blocks(source):
        longest = max(map(len, block.split(b"\n")))
        if longest >= MAX_LINE:
            block = _cut(block, number + 1, on_long)
        text = _readable(block)
        if number == 0:
            text = text.removeprefix("\ufeff")
        lines = text.split("\n")
        if "\r" in text:
            lines = [line.rstrip("\r").rpartition("\r")[2] for line in lines]
        has_captured = "\\n" in text
        for line in lines:
            number += 1
            if has_captured and line.count("\\n") >= _CAPTURED_LINES and _OF_BENCHMARK.search(line) is not None:
                for part in line.replace("\\t", "\t").split("\\n"):
                    yield number, part
            else:
                yield number, line


def _blocks(source: BinaryIO) -> Iterator[bytes]:
    """Yields whole lines, without the end of the last one. Of one that is too long there may be only the beginning."""
    while block := source.read(_BLOCK):
        if not block.endswith(b"\n"):
            rest = source.readline(MAX_LINE)
            block += rest
            while len(rest) == MAX_LINE and not rest.endswith(b"\n"):
                rest = source.readline(MAX_LINE)
        yield block.removesuffix(b"\n")


def _cut(block: bytes, number: int, on_long: Callable[[int], None]) -> bytes:
    lines = block.split(b"\n")
    for index, line in enumerate(lines):
        if len(line) >= MAX_LINE:
            on_long(number + index)
            lines[index] = line[:MAX_LINE]
    return b"\n".join(lines)


def _readable(block: bytes) -> str:
    if block.isascii():
        text = block.decode("ascii")
    else:
        text = block.decode("utf-8", "replace")
        if _BLANKS.search(text) is not None:
            text = _BLANKS.sub(" ", text)
    if "&" in text and ";" in text:
        for entity, mark in _ENTITIES.items():
            text = text.replace(entity, mark)
    return text


def clean(number: int, raw: str) -> Line:
    """Returns the line without colours and launchers' marks; `job` holds those that tell processes apart."""
    if "\x1b" in raw:
        raw = _ANSI.sub("", raw)
    if _NO_MARK.match(raw) is not None:
        return _tuple(Line, (number, raw if "[" not in raw else MARK_INSIDE.sub(" ", raw), "", raw))
    if raw[:1] in _NO_BEGINNING:
        return _tuple(Line, (number, raw, "", raw))
    text = raw
    job = ""
    inside = _INSIDE_MPIRUN
    for _ in range(_MAX_MARKS):
        found = _SRUN.match(text) or _START.match(text)
        if found is None and "|" in text:
            found = _COMPOSE.match(text)
        if found is None:
            break
        mark = found.lastgroup or ""
        if mark in _JOB_MARKS:
            job += found.group(mark).strip()
            inside = MARK_INSIDE if mark == "mpich" else inside
        text = text[found.end() :]
        if _NO_MARK.match(text) is not None:
            break
    if job and "[" in text:
        text = inside.sub(" ", text)
    return _tuple(Line, (number, text, job, raw))
