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

_ANSI = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])")
_TIME = r"\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"
# Of pages: blanks that are no ASCII blank, and what HTML writes for marks.
_BLANKS = dict.fromkeys(map(ord, "\u00a0\u2002\u2003\u2007\u2009\u202f\u3000"), " ")
_ENTITIES = {"&lt;": "<", "&gt;": ">", "&nbsp;": " ", "&quot;": '"', "&amp;": "&"}
# An output that a program kept in one string ("stdout": "# …\\n …"), as Ansible and others do.
_OF_BENCHMARK = re.compile(r"algbw +busbw|# OSU |#bytes |NCCL INFO ")
_CAPTURED_LINES = 3
# What a launcher writes before each line. Only the first two also appear inside lines; MPICH's is looked for only where
# MPICH began the line, since NCCL writes "Trees [0] 1/-1/-1->0->-1".
_INSIDE_MPIRUN = re.compile(r"\[\d+,\d+\](?:<std(?:out|err|diag)>)?:")
MARK_INSIDE = re.compile(r"\[\d+,\d+\](?:<std(?:out|err|diag)>)?:|\[\d+\](?=\s+\d)")
_START = re.compile(
    rf"""\s*(?:
      (?P<mpirun>\[\d+,\d+\](?:<std(?:out|err|diag)>)?:)
    | (?P<mpich>\[\d+\](?=\s+(?:\d|\#)))
    | (?P<timestamp>\[?{_TIME}\]?:?(?:\s|$))
    | (?P<clock>\[?\d\d:\d\d:\d\d(?:[.,]\d{{1,9}})?\]?:?\s)
    | (?P<syslog>[A-Z][a-z]{{2}}\s+\d{{1,2}}\s\d\d:\d\d:\d\d\s[\w.-]+\s[\w./-]+(?:\[\d+\])?:\s)
    | (?P<stream>std(?:out|err)\s[FP]\s)
    | (?P<pod>\[(?:pod/)?[A-Za-z0-9][\w.-]*/[\w./-]+\]\s)
    | (?P<compose>[A-Za-z0-9][\w.-]*[A-Za-z0-9]\s*\|(?=\s+(?:\d|\#)))
    | (?P<torchrun>\[[A-Za-z][\w.-]{{0,80}}:?\d{{1,6}}\]:)
    | (?P<quote>>\s)
    )""",
    re.VERBOSE,
)
_JOB_MARKS = frozenset(("mpirun", "mpich", "pod", "compose", "srun", "torchrun"))
# Most lines have no mark: a plain row begins with a number that a blank follows. Of marks srun's is the most frequent.
_NO_MARK = re.compile(r"\s*(?:\d+\s+[\d-]|#)")
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
    while block := source.readline(MAX_LINE):
        number += 1
        if len(block) == MAX_LINE and not block.endswith(b"\n"):
            on_long(number)
            while (rest := source.readline(MAX_LINE)) and not rest.endswith(b"\n"):
                pass
        text = block.decode("utf-8", "replace").rstrip("\r\n")
        if number == 1:
            text = text.removeprefix("\ufeff")
        if "\r" in text:
            text = text.rpartition("\r")[2]
        if not text.isascii():
            text = text.translate(_BLANKS)
        if "&" in text and ";" in text:
            for entity, mark in _ENTITIES.items():
                text = text.replace(entity, mark)
        if "\\n" in text and text.count("\\n") >= _CAPTURED_LINES and _OF_BENCHMARK.search(text) is not None:
            for line in text.replace("\\t", "\t").split("\\n"):
                yield number, line
        else:
            yield number, text


def clean(number: int, raw: str) -> Line:
    """Returns the line without colours and launchers' marks; `job` holds those that tell processes apart."""
    if "\x1b" in raw:
        raw = _ANSI.sub("", raw)
    if _NO_MARK.match(raw) is not None:
        return _tuple(Line, (number, raw if "[" not in raw else MARK_INSIDE.sub(" ", raw), "", raw))
    text = raw
    job = ""
    inside = _INSIDE_MPIRUN
    for _ in range(_MAX_MARKS):
        found = _SRUN.match(text) or _START.match(text)
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
