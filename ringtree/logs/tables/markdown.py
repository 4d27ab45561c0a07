"""Markdown tables, and tables that are framed with + and |.

For: tables of timings in notes, READMEs, issues and the output of programs that print Markdown. Not for: what their
headings mean (headings.py), rows of nccl-tests that were pasted between pipes (their reader is asked first).

A line with pipes is a heading only if the next one is a rule, so one line is held back; it is given to `skip` as not
recognised if no rule follows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ringtree.logs.lines import Line
from ringtree.logs.reading import NOT_RECOGNISED, Context, Sink
from ringtree.logs.records import Fact, Format, Table
from ringtree.logs.tables.bench_sentences import BenchSentences
from ringtree.logs.tables.caption import Caption, Headings
from ringtree.logs.tables.choose import TableRows

FORMAT = Format("markdown", Fact.RETYPED)
_MAX_CELLS = 200
_MAX_CELL = 500
_PIPE = re.compile(r"(?<!\\)\|")
_SPECIAL = re.compile(r" {0,3}#|\s{0,8}(?:- software: |- hardware: |Device info: )")
_RULE_CHARACTERS = frozenset("|+-=: \t")


class MarkdownReader:
    """Follows headings of the document and holds one line back."""

    def __init__(self, context: Context, sink: Sink) -> None:
        self._context, self._sink = context, sink
        self._headings = Headings()
        self._bench = BenchSentences()
        self._in_frame = self._in_code = False
        self._last_rule = 0
        self._held: Line | None = None
        self._titles: list[str] | None = None  # of the open table
        self._title_line: Line | None = None
        self._above = ""  # the line before it
        self._caption = Caption()
        self._rows: TableRows | None = None

    def feed(self, line: Line) -> bool:
        """Takes lines of tables, and one line with pipes before them."""
        text = line.text
        framed = "|" in text
        if framed or "+-" in text or "+=" in text:
            if _is_rule(text):
                return self._rule(line, framed)
            if framed:
                self._release()
                self._held, self._in_code = line, bool(self._context.fence)
                return True
        if self._held is not None or self._titles is not None:
            self._end()
        if _SPECIAL.match(text) is None:
            self._headings.line = text
            return False
        return self._special(text.strip())

    def finish(self) -> None:
        """Ends an open table."""
        self._end()

    def _special(self, text: str) -> bool:
        if self._bench.take(text):
            return True
        if not self._context.fence:  # there "# …" is a comment
            self._headings.see(text)
        return False

    def _rule(self, line: Line, framed: bool) -> bool:
        """A rule makes the line before it a heading, except rules between the rows of a framed table and around it."""
        held, self._held = self._held, None
        follows, self._last_rule = self._last_rule == line.number - 1, line.number
        if held is None:
            if not framed and self._titles is not None and not (self._in_frame and follows):
                self._close()
            return framed or self._titles is not None
        if self._titles is not None and not framed:
            self._body(held)
            if not self._in_frame:
                self._close()
            return True
        self._close()
        self._in_frame = not framed
        self._titles = _cells(held.text)
        self._title_line, self._above = held, self._headings.line
        return True

    def _release(self) -> None:
        """The line that was held is a row, or nothing."""
        held, self._held = self._held, None
        if held is None:
            return
        if self._titles is not None:
            self._body(held)
        else:
            self._sink.skip(NOT_RECOGNISED, held.number, held.text)
            if not self._in_code:
                self._headings.see(held.text)

    def _body(self, line: Line) -> None:
        cells = _cells(line.text)
        titles = self._titles or []
        if self._rows is None:
            self._caption = self._headings.caption()
            self._rows = TableRows(titles, self._explained, self._make, self._sink)
        self._rows.add(line.number, line.text, cells[: len(titles)] + [""] * (len(titles) - len(cells)))

    def _explained(self, first: Sequence[str]) -> Caption:
        self._bench.explain(self._caption, self._above, self._titles or [], first)
        return self._caption

    def _make(self) -> Table:
        table = Table(FORMAT, self._title_line.number if self._title_line is not None else 0)
        table.title = self._caption.title
        table.job = self._title_line.job if self._title_line is not None else ""
        self._bench.put(table, self._caption)
        return table

    def _end(self) -> None:
        if self._held is not None:
            self._release()
        if self._titles is not None:
            self._close()

    def _close(self) -> None:
        if self._rows is not None:
            self._rows.finish()
        self._titles = self._title_line = self._rows = None


def _is_rule(text: str) -> bool:
    """Says whether a line consists of |---|:--:| or +---+, with at least one dash in each part."""
    if not _RULE_CHARACTERS.issuperset(text):
        return False
    parts = [part.strip() for part in re.split(r"[|+]", text.strip().strip("|+"))]
    return all(part.strip(":") and set(part.strip(":")) <= {"-", "="} for part in parts)


def _cells(text: str) -> list[str]:
    text = text.strip()
    parts = _PIPE.split(text, _MAX_CELLS)
    if parts and not parts[0].strip():
        parts = parts[1:]
    if parts and not parts[-1].strip():
        parts = parts[:-1]
    return [part.strip()[:_MAX_CELL].replace("\\|", "|") for part in parts]
