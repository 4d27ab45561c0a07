"""Tables and numbers in Markdown.

For: the sections of the page. Not for: what stands in them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], words: int = 1) -> str:
    """A table whose first `words` columns are text and whose others are numbers."""
    rule = ["---"] * words + ["--:"] * (len(headings) - words)
    lines = [_row(headings), _row(rule), *map(_row, rows)]
    return "\n".join(lines)


def gb(rate: float | None) -> str:
    """GB/s with one decimal; – for none."""
    return "–" if rate is None else f"{rate / 1e9:.1f}"


def percent(share: float | None) -> str:
    """A share in whole per cent; – for none."""
    return "–" if share is None else f"{100 * share:.0f} %"


def paragraphs(text: str) -> str:
    """A text wrapped in the source as one line a paragraph."""
    return "\n\n".join(" ".join(block.split()) for block in text.strip().split("\n\n"))


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"
