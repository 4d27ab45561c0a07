"""Writes docs/published-results.md and its figures.

    python -m published            # rewrite them; the figures take matplotlib
    python -m published --check    # exit 1 if the page differs from what would be written, or a figure is missing

For: `make audit-published` and the test that the page is current. Not for: what stands on the page (page.py).
"""

from __future__ import annotations

import sys
from pathlib import Path

from published.figures import DRAWINGS, draw
from published.page import page

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "published-results.md"


def main(arguments: list[str]) -> int:
    """Writes, or with --check compares; returns the exit code."""
    if arguments not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    text = page(DOCS / "published")
    if not arguments:
        for drawing in DRAWINGS:
            draw(drawing, DOCS / "published", DOCS / "drawings")
        PAGE.write_text(text, encoding="utf-8")
        return 0
    missing = [one.name for one in DRAWINGS if not (DOCS / "drawings" / f"{one.name}.svg").is_file()]
    if missing or not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text:
        print(f"{PAGE.name} is stale: run make audit-published", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
